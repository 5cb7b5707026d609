//go:build !mayfly_no_http

package http

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the checksum of the protocol
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

const (
	responseTimeout = time.Minute
	requestTimeout  = 15 * time.Minute // with the transfer of a large state
	maxBody         = 2 << 30          // of a response, in bytes
	maxInfo         = 64 << 10         // of an error, in bytes
)

// response is the answer of a server.
type response struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request. An error that may pass is a *remote.Passing. A response with any other status is
// returned.
func (s *service) send(ctx context.Context, method string, to *url.URL, body []byte) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := s.exchange(ctx, method, to, body)
	switch {
	case err != nil:
		return r, s.passing(fmt.Errorf("%s: %w", describe(method, to), plainError(err)), 0)
	case r.status == http.StatusTooManyRequests || r.status >= 500 && r.status != http.StatusNotImplemented:
		return r, s.passing(r.unexpected(method, to), r.retryAfter())
	}
	s.failures.Store(0)
	return r, nil
}

// exchange sends one request and reads the response, whatever its status. It does not retry: the caller
// knows whether a repetition is safe.
func (s *service) exchange(ctx context.Context, method string, to *url.URL, body []byte) (response, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), content)
	if err != nil {
		return response{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-MD5", checksum(body))
	}
	for name, value := range s.opt.Headers {
		req.Header.Set(name, value)
	}
	if s.opt.Username != "" || s.opt.Password != "" {
		req.SetBasicAuth(s.opt.Username, s.opt.Password)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = resp.Body.Close() }() // nothing is written to it
	limit := int64(maxBody)
	if resp.StatusCode >= 300 {
		limit = maxInfo
	}
	read, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(read)) > limit {
		err = errors.New("the answer is too large")
	}
	return response{resp.StatusCode, resp.Header, read}, err
}

func checksum(b []byte) string {
	sum := md5.Sum(b) //nolint:gosec // the checksum of the protocol
	return base64.StdEncoding.EncodeToString(sum[:])
}

// plainError returns an error without the URL, which may have credentials.
func plainError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func describe(method string, to *url.URL) string { return method + " " + Place(to.String()) }

// passing returns an error that is worth another attempt, as long as the configuration permits one.
func (s *service) passing(err error, after time.Duration) error {
	if n := s.failures.Add(1); s.opt.Retries != nil && n > int64(*s.opt.Retries) {
		s.failures.Store(0)
		return err
	}
	if s.opt.RetryWaitMax > 0 {
		after = min(after, s.opt.RetryWaitMax)
	}
	return &remote.Passing{Err: err, After: max(after, s.opt.RetryWaitMin)}
}

func (r response) retryAfter() time.Duration {
	seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}

// unexpected describes a status that no request can have, without the body, which may have secrets.
func (r response) unexpected(method string, to *url.URL) error {
	hint := ""
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = `. Check the credentials: "username" and "password", or "headers"`
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		hint = ". It redirects to another host, which is not followed, since the request may have credentials"
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		hint = `. Check "update_method", "lock_method" and "unlock_method"`
	}
	return fmt.Errorf("%s: the server answered %d %s%s", describe(method, to), r.status, http.StatusText(r.status), hint)
}
