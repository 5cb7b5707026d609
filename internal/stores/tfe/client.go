//go:build !mayfly_no_remote

package tfe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// client sends requests to one host. It repeats none: that is for package remote.
type client struct {
	find func(ctx context.Context) (Connection, error)
	host string

	mu   sync.Mutex
	conn Connection // without an API before the first request
	http *http.Client
}

const (
	requestTimeout  = 2 * time.Minute
	transferTimeout = 15 * time.Minute // of a large state
	maxState        = 2 << 30          // bytes
	mediaType       = "application/vnd.api+json"
)

// connect returns the connection, and a client that follows no redirects, since tokens are for one host.
func (c *client) connect(ctx context.Context) (Connection, *http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.http != nil {
		return c.conn, c.http, nil
	}
	conn, err := c.find(ctx)
	if err == nil && conn.Token == "" {
		err = fmt.Errorf("there is no token for %s. Run: mayfly login %s, or set the variable TF_TOKEN_%s or the argument \"token\"", c.host, c.host, variable(c.host))
	}
	if err != nil {
		return Connection{}, nil, err
	}
	c.conn = conn
	c.http = &http.Client{Transport: conn.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c.conn, c.http, nil
}

// variable returns the end of the name of the variable with the token for a host.
func variable(host string) string {
	return strings.NewReplacer(".", "_", "-", "__").Replace(host)
}

// send sends a request, and decodes the answer into result, unless that is nil.
func (c *client) send(ctx context.Context, method, path string, query url.Values, body, result any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	conn, sender, err := c.connect(ctx)
	if err != nil {
		return err
	}
	to := conn.API.JoinPath(path)
	to.RawQuery = query.Encode()
	var content []byte
	if body != nil {
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(content))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+conn.Token)
	req.Header.Set("Accept", mediaType)
	if body != nil {
		req.Header.Set("Content-Type", mediaType)
	}
	answer, err := cloud.Answer(sender, req, refuse)
	page := errors.Is(err, cloud.ErrPage)
	if err != nil && !page {
		return c.classify(err)
	}
	if page || result != nil && json.Unmarshal(answer, result) != nil {
		return fmt.Errorf("the answer of %s is not one of the API for states: it may come from a proxy or a sign-in page in between. Check the argument \"hostname\"", c.host)
	}
	return nil
}

// download returns the content at an address that the service has given.
func (c *client) download(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	req, sender, err := c.transfer(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := cloud.Open(sender, req, refuse)
	if err != nil {
		return nil, c.classify(err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing is written to it
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxState+1))
	if err != nil {
		return nil, &remote.Passing{Err: err}
	}
	if len(data) > maxState {
		return nil, errors.New("the state is too large")
	}
	return data, nil
}

// upload stores content at an address that the service has given.
func (c *client) upload(ctx context.Context, address string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	req, sender, err := c.transfer(ctx, http.MethodPut, address, data)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	_, err = cloud.Answer(sender, req, refuse)
	return c.classify(err)
}

// transfer returns a request for an address that the service has given. Such addresses are secrets by
// themselves. The token is sent to the service's own host only.
func (c *client) transfer(ctx context.Context, method, address string, data []byte) (*http.Request, *http.Client, error) {
	conn, sender, err := c.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	to, err := conn.API.Parse(address)
	if err != nil || to.Scheme != conn.API.Scheme && to.Scheme != "https" {
		return nil, nil, errors.New("the service gives no valid address for the state")
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(data))
	if err == nil && to.Scheme == conn.API.Scheme && to.Host == conn.API.Host && method == http.MethodGet {
		req.Header.Set("Authorization", "Bearer "+conn.Token)
	}
	return req, sender, err
}

// refuse describes an unsuccessful answer. Of one that is not the API's, it has the status only.
func refuse(resp *http.Response, body []byte) error {
	e := &cloud.Error{Status: resp.StatusCode}
	var document struct {
		Errors []struct{ Title, Detail string }
	}
	if json.Unmarshal(body, &document) == nil && len(document.Errors) > 0 {
		e.Code, e.Message = document.Errors[0].Title, document.Errors[0].Detail
	}
	if e.Status == http.StatusConflict || !e.Passes() {
		return e
	}
	seconds, _ := strconv.ParseFloat(resp.Header.Get("X-RateLimit-Reset"), 64) // 0 if it is not said
	return &remote.Passing{Err: e, After: time.Duration(min(max(seconds, 0), 60) * float64(time.Second))}
}

func missing(err error) bool { return cloud.Status(err) == http.StatusNotFound }

// classify marks an error that may pass, and adds advice to others. It returns nil for nil. It removes
// addresses, which may be secrets.
func (c *client) classify(err error) error {
	e, lost, passing := (*cloud.Error)(nil), (*url.Error)(nil), (*remote.Passing)(nil)
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.As(err, &passing):
		return err
	case errors.As(err, &lost):
		return &remote.Passing{Err: fmt.Errorf("%s: %w", c.host, lost.Err)}
	case !errors.As(err, &e):
		return &remote.Passing{Err: err} // the answer was cut off
	case e.Status == http.StatusUnauthorized:
		e.Hint = fmt.Sprintf("The token is not valid or has expired. Run: mayfly login %s, or replace the one in the variable TF_TOKEN_%s or the argument \"token\"", c.host, variable(c.host))
	case e.Status == http.StatusForbidden:
		e.Hint = "The token needs the right to read and write states and to lock the workspace"
	case e.Status/100 == 3:
		e.Hint = "It redirects, which is not followed. Check the argument \"hostname\""
	}
	return e
}
