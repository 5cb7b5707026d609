// Package requests notes the HTTP requests of a run, for its logs.
//
// It may import trace. It must not know the content of requests, nor the servers.
package requests

import (
	"net/http"
	"net/url"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// Noted returns a transport that notes each request with its status and how long the response took to
// begin. Of an address it notes neither the user nor the query, which may be credentials, and nothing of
// headers and bodies. nil stands for the default transport.
func Noted(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return transport{next}
}

type transport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !trace.Noting(req.Context()) {
		return t.next.RoundTrip(req)
	}
	begin := time.Now()
	resp, err := t.next.RoundTrip(req)
	took := time.Since(begin).Round(time.Millisecond)
	where := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path, RawPath: req.URL.RawPath}
	if err != nil {
		trace.Note(req.Context(), trace.Warn, "%s %s failed after %s: %s", req.Method, where.String(), took, err)
		return resp, err
	}
	level := trace.Debug
	if resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests {
		level = trace.Warn
	}
	trace.Note(req.Context(), level, "%s %s: %s in %s", req.Method, where.String(), resp.Status, took)
	return resp, nil
}

// CloseIdleConnections closes the connections of the transport behind it.
func (t transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
