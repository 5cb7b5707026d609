// Package tlsproxy answers, for tests, in place of servers whose names cannot be configured. A program uses
// it as its proxy for HTTPS, and trusts its authority.
//
// It may import the testing package. It must not know any other package of this module.
package tlsproxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Proxy is a running proxy.
type Proxy struct {
	URL    string // for HTTPS_PROXY
	CAFile string // for SSL_CERT_FILE: the only authority that the program then trusts
}

// Start starts a proxy that ends with the test. The handler answers in place of every server; a request has
// the server's name in Host.
func Start(t testing.TB, h http.Handler) *Proxy {
	t.Helper()
	ca, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	conns := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	inner := &http.Server{Handler: h, TLSConfig: &tls.Config{GetCertificate: ca.certify}}
	go func() { _ = inner.ServeTLS(conns, "", "") }()
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hijacker, ok := w.(http.Hijacker)
		if r.Method != http.MethodConnect || !ok {
			http.Error(w, "this proxy is for HTTPS only", http.StatusMethodNotAllowed)
			return
		}
		conn, _, err := hijacker.Hijack()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		conns.pass(conn)
	}))
	t.Cleanup(func() { _ = inner.Close(); outer.Close() })
	p := &Proxy{URL: outer.URL, CAFile: filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(p.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// Use makes the programs that the test starts use the proxy. The test must not be parallel.
func (p *Proxy) Use(t testing.TB) {
	t.Setenv("HTTPS_PROXY", p.URL)
	t.Setenv("SSL_CERT_FILE", p.CAFile)
	t.Setenv("NO_PROXY", "")
}

// listener accepts the connections that it is passed.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) pass(conn net.Conn) {
	select {
	case l.conns <- conn:
	case <-l.closed:
		conn.Close()
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (*listener) Addr() net.Addr { return &net.TCPAddr{} }

// authority makes certificates for servers of any name.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

const validity = 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, NotBefore: time.Now().Add(-validity), NotAfter: time.Now().Add(validity),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{key, cert}, err
}

func (a *authority) certify(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, DNSNames: []string{hello.ServerName}, NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, nil
}
