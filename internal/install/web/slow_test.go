package web

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// hostile answers each request with a body that has so many bytes a second, and no end.
type hostile struct{ rate int }

// RoundTrip implements http.RoundTripper.
func (h hostile) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: req, ContentLength: -1, Body: &endless{ctx: req.Context(), rate: h.rate},
	}, nil
}

type endless struct {
	ctx        context.Context
	rate, left int // a second, and of the present one
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		select {
		case <-e.ctx.Done():
			return 0, context.Cause(e.ctx)
		case <-time.After(time.Second):
			e.left = e.rate
		}
	}
	n := min(len(p), e.left)
	e.left -= n
	for i := range p[:n] {
		p[i] = ' '
	}
	return n, nil
}

func (e *endless) Close() error { return nil }

// TestHostileServers has servers that answer slowly, or with more than there can be: nothing waits for them
// without end, and nothing keeps all that they send.
func TestHostileServers(t *testing.T) {
	const often = 2 // attempts
	for name, test := range map[string]struct {
		rate    int
		get     func(ctx context.Context, c *Client, u *url.URL, dir string) error
		after   time.Duration // at the latest; for a line that is quick enough, at the earliest
		message string
	}{
		"slow document":   {1, document, often * 30 * time.Second, "it took too long"},
		"large document":  {maxDocument, document, often * 30 * time.Second, "longer than"},
		"slow archive":    {1, download, often * 2 * time.Minute, "stalled"},
		"slow package":    {1, stream, often * 2 * time.Minute, "stalled"},
		"quick enough":    {slowest/30 + 1, briefly, while, ""},
		"quick enough, 2": {slowest/30 + 1, brieflyStreamed, while, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := New(Options{Transport: hostile{test.rate}, Retries: often - 1, DownloadRetries: often - 1})
			u, _ := url.Parse("https://registry.example.com/x")
			begun := time.Now()
			err := test.get(t.Context(), c, u, t.TempDir())
			took := time.Since(begun)
			if err == nil || !strings.Contains(err.Error(), test.message) || test.message != "" && took > test.after || test.message == "" && took < test.after {
				t.Errorf("%s: got %v after %s, want an error with %q after %s, at the latest (at the earliest without a text)", name, err, took, test.message, test.after)
			}
		})
	}
}

// while is how long a line is watched that is quick enough.
const while = 30 * time.Minute

func document(ctx context.Context, c *Client, u *url.URL, _ string) error {
	_, err := c.Get(ctx, u, nil)
	return err
}

func download(ctx context.Context, c *Client, u *url.URL, dir string) error {
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = c.Download(ctx, u, nil, f, nil)
	return err
}

func stream(ctx context.Context, c *Client, u *url.URL, _ string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	resp, err := c.Downloads().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// briefly is download for a while, in which a slow line makes progress.
func briefly(ctx context.Context, c *Client, u *url.URL, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, while)
	defer cancel()
	return download(ctx, c, u, dir)
}

func brieflyStreamed(ctx context.Context, c *Client, u *url.URL, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, while)
	defer cancel()
	return stream(ctx, c, u, dir)
}
