package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

const maxRedirects = 10

// checkRedirect sends credentials only to the server they were meant for. The standard library also sends
// them to other ports and subdomains, which may belong to another owner.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("%w: there are more than %d redirects", errRefused, maxRedirects)
	}
	first := via[0].URL
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("%w: the server %s redirects to an address that is not encrypted, at %s", errRefused, via[len(via)-1].URL.Host, req.URL.Host)
	}
	foreign := !SameOrigin(first, req.URL)
	for _, r := range via[1:] {
		foreign = foreign || !SameOrigin(first, r.URL)
	}
	// The previous address may have a key in its query.
	req.Header.Del("Referer")
	if !foreign {
		return nil
	}
	for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
		req.Header.Del(name)
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		// The body may be a password.
		return fmt.Errorf("%w: the server %s redirects a login to another server, %s", errRefused, first.Host, req.URL.Host)
	}
	return nil
}

// SameOrigin reports whether two addresses belong to the same server: scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"https": "443", "http": "80"}[u.Scheme]
}

// guard refuses requests that would reveal credentials on the network.
type guard struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !loopback(req.URL.Hostname()) && (req.Header.Get("Authorization") != "" || req.URL.User != nil) {
		if req.Body != nil {
			_ = req.Body.Close() // required of transports; the request isn't sent anyway
		}
		return nil, fmt.Errorf("%w: there are credentials for this server, and its address is not encrypted; use https", errRefused)
	}
	return g.next.RoundTrip(req)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
