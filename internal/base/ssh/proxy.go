package ssh

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"

	"golang.org/x/net/proxy"
)

// dial connects to address through the proxy.
func (p *Proxy) dial(ctx context.Context, address string) (net.Conn, error) {
	if p.scheme() == "socks5" {
		return p.socks(ctx, address)
	}
	nd := net.Dialer{KeepAlive: keepAlive}
	conn, err := nd.DialContext(ctx, "tcp", p.address())
	if err != nil {
		return nil, &Error{public: "the proxy could not be reached", err: err}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	through, err := p.connect(ctx, conn, address)
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, &Error{public: "the proxy did not make a connection", detail: "to " + address, err: err, final: isFinal(err)}
	}
	return through, nil
}

// connect asks an HTTP proxy for a tunnel. It returns the connection through it, in which nothing of the
// tunnel's content was lost.
func (p *Proxy) connect(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	if p.scheme() == "https" {
		name, _, _ := net.SplitHostPort(p.address())
		secure := tls.Client(conn, &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = secure
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if p.User != "" || p.Password.Given() {
		login := base64.StdEncoding.EncodeToString([]byte(p.User + ":" + p.Password.reveal()))
		request.Header.Set("Proxy-Authorization", "Basic "+login)
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		_ = response.Body.Close()
		return nil, &Error{
			public: "it answered " + http.StatusText(response.StatusCode),
			final:  response.StatusCode == http.StatusProxyAuthRequired,
		}
	}
	return &readAhead{conn, r}, nil
}

// readAhead is a connection from which some bytes may already have been read: SSH servers speak first.
type readAhead struct {
	net.Conn
	r *bufio.Reader
}

// Read implements net.Conn.
func (c *readAhead) Read(b []byte) (int, error) { return c.r.Read(b) }

// socks connects through a SOCKS5 proxy, which also resolves the name of the target.
func (p *Proxy) socks(ctx context.Context, address string) (net.Conn, error) {
	var auth *proxy.Auth
	if p.User != "" || p.Password.Given() {
		auth = &proxy.Auth{User: p.User, Password: p.Password.reveal()}
	}
	d, err := proxy.SOCKS5("tcp", p.address(), auth, &net.Dialer{KeepAlive: keepAlive})
	if err == nil {
		var conn net.Conn
		if conn, err = d.(proxy.ContextDialer).DialContext(ctx, "tcp", address); err == nil {
			return conn, nil
		}
	}
	return nil, &Error{public: "the proxy did not make a connection", detail: "to " + address, err: err}
}
