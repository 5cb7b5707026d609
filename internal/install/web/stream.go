package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mayfly-iac/mayfly/internal/base/trace/requests"
)

// Downloads returns a client for large responses. It repeats requests that fail before their response begins,
// limits only the time without progress, and returns an unsuccessful response as an error that contains a
// *StatusError.
func (c *Client) Downloads() *http.Client {
	retry := c.streaming(c.single.Transport, checkRedirect)
	retry.ErrorHandler = exhausted
	return &http.Client{Transport: successful{either{&retryablehttp.RoundTripper{Client: retry}}}}
}

// Services returns a client for requests that are signed for one address, such as requests to cloud services.
// It repeats and limits them like Downloads, but follows no redirects and returns unsuccessful responses as
// they are, since their bodies say why. With a transport of the caller's, which may be nil, requests may be
// sent without encryption: a signature reveals no key.
func (c *Client) Services(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = c.single.Transport
	} else {
		transport = named{requests.Noted(transport), c.agent()}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	retry := c.streaming(transport, stay)
	retry.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return &http.Client{Transport: either{&retryablehttp.RoundTripper{Client: retry}}, CheckRedirect: stay}
}

// streaming returns a retrying client that limits only the time without progress.
func (c *Client) streaming(transport http.RoundTripper, redirect func(*http.Request, []*http.Request) error) *retryablehttp.Client {
	retry := retryablehttp.NewClient()
	retry.HTTPClient = &http.Client{Transport: moving{next: transport, limit: c.opts.Stall}, CheckRedirect: redirect}
	retry.Logger, retry.RetryMax, retry.RetryWaitMin, retry.RetryWaitMax = nil, c.opts.DownloadRetries, c.opts.Wait, longestWait
	retry.CheckRetry = passing
	return retry
}

// exhausted converts the result of the last attempt of a request to an error. A refused redirect is both a
// response and an error.
func exhausted(resp *http.Response, err error, attempts int) (*http.Response, error) {
	if resp != nil {
		_ = resp.Body.Close() // the body is not used
	}
	if err == nil {
		err = statusError(resp.Request.URL, resp)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || !isPassing(context.Background(), err) {
		return nil, err
	}
	return nil, gaveUp(err, attempts)
}

// Again returns nil, after a pause, if a download that has failed with err for the nth time, counted from
// 0, should be restarted, and otherwise err. Server responses don't count, since Downloads has already
// retried them.
func (c *Client) Again(ctx context.Context, err error, n int) error {
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.ErrShortWrite) && !errors.Is(err, errStalled) {
		return err
	}
	return c.pause(ctx, err, n, nil)
}

// successful converts every unsuccessful response to an error.
type successful struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s successful) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(req)
	if err != nil || resp.StatusCode < http.StatusBadRequest {
		return resp, err
	}
	_ = resp.Body.Close() // the body is not used
	return nil, statusError(req.URL, resp)
}

// moving ends requests whose response makes no progress.
type moving struct {
	next  http.RoundTripper
	limit time.Duration
}

// RoundTrip implements http.RoundTripper.
func (m moving) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	b := &body{ctx: ctx, cancel: cancel, limit: m.limit}
	b.timer = time.AfterFunc(m.limit, func() { cancel(fmt.Errorf("%w for %s", errStalled, m.limit)) })
	resp, err := m.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		err = b.cause(err)
		b.end()
		return nil, err
	}
	b.ReadCloser = resp.Body
	resp.Body = b
	return resp, nil
}

// pace tells progress from a server that sends a few bytes now and then, only to keep its client waiting.
type pace struct{ since int }

// slowest is how many bytes count as progress: the slowest line has carried them long before a request
// stalls.
const slowest = 1 << 10

// moves notes that n bytes have arrived, and reports whether that makes progress.
func (p *pace) moves(n int) bool {
	if p.since += n; p.since < slowest {
		return false
	}
	p.since = 0
	return true
}

// body is a response body that cancels its request if reading makes no progress within the limit.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
	pace   pace
	once   sync.Once
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.pace.moves(n) {
		b.timer.Reset(b.limit)
	}
	if err != nil {
		err = b.cause(err) // a server that sees the connection close may still end its response as if it were complete
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

func (b *body) cause(err error) error {
	if cause := context.Cause(b.ctx); errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

func (b *body) end() {
	b.once.Do(func() {
		b.timer.Stop()
		b.cancel(nil)
	})
}
