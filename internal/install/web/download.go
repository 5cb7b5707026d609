package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Progress is called with the number of bytes received and the total; total is negative if the server
// doesn't say.
type Progress func(done, total int64)

// errStalled means that a server has stopped sending.
var errStalled = errors.New("the download has stalled")

// Download writes the content at an address to a file, from its beginning, and returns its SHA-256 in
// hexadecimal. creds and progress may be nil. A failed download is restarted as often as the options allow.
func (c *Client) Download(ctx context.Context, u *url.URL, creds Credentials, to *os.File, progress Progress) (sum string, err error) {
	err = c.Attempts(ctx, func(ctx context.Context, touch func()) (*http.Response, error) {
		req, err := newRequest(ctx, u, creds)
		if err != nil {
			return nil, err
		}
		resp, err := c.single.Do(req)
		if err != nil {
			return nil, failed(u, err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return resp, statusError(u, resp)
		}
		sum, err = Copy(to, resp.Body, resp.ContentLength, touch, progress)
		if err != nil {
			err = fmt.Errorf("downloading %s: %w", Show(u), Reason(err))
		}
		return nil, err
	})
	return sum, err
}

// Attempts calls try until it succeeds, fails permanently, or has failed too often. try calls touch
// whenever it makes progress; if it makes none for too long, its context is canceled. The response, if
// there is one, determines whether retrying makes sense.
func (c *Client) Attempts(ctx context.Context, try func(ctx context.Context, touch func()) (*http.Response, error)) error {
	for n := 0; ; n++ {
		resp, err := c.attempt(ctx, try)
		if err == nil {
			return nil
		}
		if !isPassing(ctx, err) {
			return err
		}
		if err := c.pause(ctx, err, n, resp); err != nil {
			return err
		}
	}
}

// pause returns nil after a pause, unless a request that has failed with err for the nth time, counted from
// 0, is not tried again. resp may be nil.
func (c *Client) pause(ctx context.Context, err error, n int, resp *http.Response) error {
	if n >= c.opts.DownloadRetries {
		return gaveUp(err, n+1)
	}
	select {
	case <-ctx.Done():
		return err
	case <-time.After(retryablehttp.DefaultBackoff(c.opts.Wait, longestWait, n, resp)):
		return nil
	}
}

func (c *Client) attempt(ctx context.Context, try func(ctx context.Context, touch func()) (*http.Response, error)) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.opts.Stall, func() { cancel(fmt.Errorf("%w for %s", errStalled, c.opts.Stall)) })
	defer timer.Stop()
	resp, err := try(ctx, func() { timer.Reset(c.opts.Stall) })
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errStalled) {
		return nil, cause
	}
	return resp, err
}

// Copy writes a download to a file, from its beginning, and returns its SHA-256. total is the size
// announced by the server, negative if unknown.
func Copy(to *os.File, from io.Reader, total int64, touch func(), progress Progress) (string, error) {
	if total > maxArchive {
		return "", fmt.Errorf("%w: it has %d bytes, and at most %d are accepted", errRefused, total, int64(maxArchive))
	}
	if err := to.Truncate(0); err != nil {
		return "", err
	}
	hash := sha256.New()
	counted := &counter{from: io.LimitReader(from, maxArchive+1), total: total, touch: touch, progress: progress}
	n, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(to, 0), hash), counted)
	switch {
	case err != nil:
		return "", err
	case n > maxArchive:
		return "", fmt.Errorf("%w: it has more than %d bytes", errRefused, int64(maxArchive))
	case total >= 0 && n != total:
		return "", fmt.Errorf("only %d of %d bytes arrived: %w", n, total, io.ErrUnexpectedEOF)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// counter reports the progress of a download while it is read, to the caller and to the time limit.
type counter struct {
	from        io.Reader
	done, total int64
	touch       func()
	progress    Progress
	pace        pace
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.done += int64(n)
	if c.pace.moves(n) {
		c.touch()
	}
	if n > 0 && c.progress != nil {
		c.progress(c.done, c.total)
	}
	return n, err
}
