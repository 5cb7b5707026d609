package web

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/compat"
)

func TestAgent(t *testing.T) {
	for want, o := range map[string]Options{
		"Mayfly (OpenTofu compatible)":                {},
		"Mayfly (Terraform/1.16.0 compatible) ours/1": {Engine: compat.Engine{Name: compat.Terraform, Version: "1.16.0"}, UserAgent: "ours/1"},
	} {
		if got := New(o).agent(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestServices checks that signed requests are repeated, go nowhere else, and are refused in the words of the
// service.
func TestServices(t *testing.T) {
	requests := 0
	code, busyFor := http.StatusOK, 0
	serve := world(func(r *http.Request) (*http.Response, error) {
		requests++
		if r.Header.Get("User-Agent") != "Mayfly (OpenTofu compatible)" {
			t.Errorf("the request comes from %q, want %q", r.Header.Get("User-Agent"), "Mayfly (OpenTofu compatible)")
		}
		if requests <= busyFor {
			return answer(r, http.StatusServiceUnavailable, "SlowDown"), nil
		}
		return answer(r, code, "in words", "Location", "https://elsewhere.example/"), nil
	})
	for _, c := range []struct {
		code, busyFor, requests int
		want                    int
	}{
		{http.StatusOK, 2, 3, http.StatusOK},
		{http.StatusForbidden, 0, 1, http.StatusForbidden},
		{http.StatusTemporaryRedirect, 0, 1, http.StatusTemporaryRedirect},
		{http.StatusOK, 9, 3, http.StatusServiceUnavailable},
	} {
		for _, own := range []bool{false, true} {
			requests, code, busyFor = 0, c.code, c.busyFor
			opts, transport := Options{Wait: time.Millisecond, DownloadRetries: 2}, http.RoundTripper(serve)
			if !own {
				opts.Transport, transport = serve, nil
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://service.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := New(opts).Services(transport).Do(req)
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != c.want || requests != c.requests || len(body) == 0 || err != nil {
				t.Errorf("%+v: got status %d with %q after %d requests, %v, want status %d after %d requests", c, resp.StatusCode, body, requests, err, c.want, c.requests)
			}
		}
	}
}
