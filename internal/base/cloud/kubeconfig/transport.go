package kubeconfig

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// address returns the URL of the server. Without a scheme it is https if there is anything for TLS, as for
// kubectl.
func (c *cluster) address(u *user) (*url.URL, error) {
	text := c.Server
	if !strings.Contains(text, "://") {
		scheme := "http://"
		if c.Insecure || c.CA != "" || c.CAFile != "" || u.Certificate != "" || u.CertificateFile != "" {
			scheme = "https://"
		}
		text = scheme + text
	}
	server, err := url.Parse(text)
	if wrong := (*url.Error)(nil); errors.As(err, &wrong) {
		return nil, wrong.Err // without the URL, which may have a password
	}
	if server.Host == "" || server.Scheme != "https" && server.Scheme != "http" {
		return nil, errors.New("it must have the form https://host:port")
	}
	server.RawQuery, server.Fragment = "", ""
	return server, nil
}

// Times and numbers of connections.
const (
	dialTimeout      = 30 * time.Second
	handshakeTimeout = 10 * time.Second
	pingAfter        = 30 * time.Second // without an answer, to find out whether the connection is alive
	pingTimeout      = 15 * time.Second
	idleConnections  = 25
)

// newTransport returns a transport that sends requests with the credentials of a user. They are not sent
// without TLS.
func newTransport(server *url.URL, c *cluster, u *user) (http.RoundTripper, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}).DialContext,
		TLSHandshakeTimeout: handshakeTimeout, MaxIdleConnsPerHost: idleConnections, DisableCompression: c.DisableCompression,
		ForceAttemptHTTP2: true, HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	if c.Proxy != "" {
		proxy, err := url.Parse(c.Proxy)
		if err != nil || proxy.Host == "" {
			return nil, errors.New("the cluster's proxy-url is not a URL")
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	if server.Scheme != "https" {
		return &authorized{base: t, user: &user{As: u.As, AsUID: u.AsUID, AsGroups: u.AsGroups, AsExtra: u.AsExtra}}, nil
	}
	if u.Provider != nil {
		return nil, fmt.Errorf("the user has the auth-provider %q, which Kubernetes has replaced by \"exec\"", u.Provider.Name)
	}
	var err error
	if t.TLSClientConfig, err = c.tls(); err != nil {
		return nil, err
	}
	a := &authorized{base: t, user: u}
	switch {
	case u.Certificate != "" || u.CertificateFile != "":
		if _, err := u.pair(); err != nil {
			return nil, err
		}
		// Files are read again for each connection, since they may be replaced before the certificate ends.
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return u.pair() }
	case u.Exec != nil && !u.authorizes():
		a.printed = &printed{program: u.Exec, cluster: c, changed: t.CloseIdleConnections}
		t.TLSClientConfig.GetClientCertificate = a.printed.certificate
	}
	return a, nil
}

// tls returns how the server is verified.
func (c *cluster) tls() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure}
	ca, err := content(c.CA, c.CAFile)
	switch {
	case err != nil:
		return nil, err
	case c.Insecure && len(ca) > 0:
		return nil, errors.New("there are certificates for verifying the server, and it is not to be verified")
	case len(ca) > 0:
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("the certificates for verifying the server are not in PEM")
		}
	}
	return t, nil
}

// content returns data or, if there is none, the content of a file.
func content(data encoding, file string) ([]byte, error) {
	if data != "" || file == "" {
		return data.decode()
	}
	return os.ReadFile(file)
}

// pair returns the certificate of a user with its key.
func (u *user) pair() (*tls.Certificate, error) {
	certificate, err := content(u.Certificate, u.CertificateFile)
	if err != nil {
		return nil, err
	}
	key, err := content(u.Key, u.KeyFile)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	pair, err := tls.X509KeyPair(certificate, key)
	return &pair, err
}

// authorizes reports whether a user has a token or a password.
func (u *user) authorizes() bool { return u.Token != "" || u.TokenFile != "" || u.Username != "" }

// authorized adds credentials to requests.
type authorized struct {
	base    http.RoundTripper
	user    *user
	printed *printed // by a program; nil for none

	mu    sync.Mutex
	token string    // that was in the file
	read  time.Time // when it was read
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context()) // a RoundTripper leaves its argument as it is
	a.user.impersonate(req.Header)
	token := a.user.Token
	var used *credentials
	switch {
	case a.printed != nil:
		var err error
		if used, err = a.printed.get(req.Context()); err != nil {
			return nil, &CredentialsError{err}
		}
		token = used.token
	case token == "" && a.user.TokenFile != "":
		var err error
		if token, err = a.fromFile(); err != nil {
			return nil, &CredentialsError{err}
		}
	case token == "" && a.user.Username != "":
		req.SetBasicAuth(a.user.Username, a.user.Password)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := a.base.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && used != nil {
		a.printed.drop(used)
	}
	return resp, err
}

// impersonate asks the server to act as another user.
func (u *user) impersonate(h http.Header) {
	if u.As == "" {
		return
	}
	h.Set("Impersonate-User", u.As)
	if u.AsUID != "" {
		h.Set("Impersonate-Uid", u.AsUID)
	}
	for _, group := range u.AsGroups {
		h.Add("Impersonate-Group", group)
	}
	for name, values := range u.AsExtra {
		for _, value := range values {
			h.Add("Impersonate-Extra-"+url.PathEscape(name), value)
		}
	}
}

// rereadAfter is how long a token from a file is used. The cluster replaces the token of a pod well before it
// ends.
const rereadAfter = time.Minute

// fromFile returns the token in the user's file. Clusters replace such files, so it is read again after a
// while; see rereadAfter.
func (a *authorized) fromFile() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != "" && time.Since(a.read) < rereadAfter {
		return a.token, nil
	}
	text, err := os.ReadFile(a.user.TokenFile)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("the file %s has no token", a.user.TokenFile)
	}
	a.token, a.read = token, time.Now()
	return token, nil
}
