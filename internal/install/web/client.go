package web

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-cleanhttp"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/base/trace/requests"
)

// Options are the settings of a Client. The zero value means the defaults.
type Options struct {
	// Transport carries out single requests; nil means one with the system's certificates and the
	// environment's proxy.
	Transport http.RoundTripper
	// Retries is how often a request for a document is repeated after a temporary failure.
	Retries int
	// Timeout limits one attempt to get a document; 0 for ten seconds.
	Timeout time.Duration
	// DownloadRetries is how often a download is restarted.
	DownloadRetries int
	// Stall is how long a download may make no progress, which takes some bytes, and not one at a time; 0 for
	// a minute. A download has no other time limit.
	Stall time.Duration
	// Engine is the engine that this program says to be compatible with; OpenTofu in any version if it is
	// zero.
	Engine compat.Engine
	// UserAgent is added to this program's name in requests; may be "".
	UserAgent string
	// Wait is the first pause between attempts, 0 for a second. Pauses double, up to half a minute.
	Wait time.Duration
}

const (
	defaultTimeout = 10 * time.Second
	defaultStall   = time.Minute
	defaultWait    = time.Second
	longestWait    = 30 * time.Second

	// maxDocument is far above the longest list of versions in any registry.
	maxDocument = 16 << 20
	// maxArchive is far above any provider's package.
	maxArchive = 2 << 30
)

// Credentials adds the proof of identity to a request.
type Credentials interface{ PrepareRequest(req *http.Request) }

// Client makes requests. It is safe for concurrent use.
type Client struct {
	documents *http.Client // with retries and a time limit
	single    *http.Client // one attempt, without a limit
	opts      Options
}

// New returns a client.
func New(o Options) *Client {
	o.Timeout, o.Stall, o.Wait = cmp.Or(o.Timeout, defaultTimeout), cmp.Or(o.Stall, defaultStall), cmp.Or(o.Wait, defaultWait)
	if o.Transport == nil {
		o.Transport = cleanhttp.DefaultPooledTransport()
	}
	c := &Client{opts: o}
	transport := guard{named{requests.Noted(o.Transport), c.agent()}}
	c.single = &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	retry := retryablehttp.NewClient()
	retry.HTTPClient = &http.Client{Transport: transport, CheckRedirect: checkRedirect, Timeout: o.Timeout}
	retry.Logger, retry.RetryMax, retry.RetryWaitMin, retry.RetryWaitMax = nil, o.Retries, o.Wait, longestWait
	// The response to the last attempt says more than "giving up", and the library's own message would show
	// the whole address.
	retry.ErrorHandler = retryablehttp.PassthroughErrorHandler
	retry.CheckRetry = passing
	c.documents = &http.Client{Transport: either{&retryablehttp.RoundTripper{Client: retry}}}
	return c
}

// agent is the name of this program in requests.
func (c *Client) agent() string {
	engine := compat.OpenTofu
	if e := c.opts.Engine; e != (compat.Engine{}) {
		engine = e.Name + "/" + e.Version
	}
	return strings.TrimSpace("Mayfly (" + engine + " compatible) " + c.opts.UserAgent)
}

// named adds the program's name to requests.
type named struct {
	next  http.RoundTripper
	agent string
}

// RoundTrip implements http.RoundTripper.
func (n named) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", n.agent)
	return n.next.RoundTrip(req)
}

// either makes the retrying transport follow the contract of transports: a response or an error. A refused
// redirect yields both.
type either struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (e either) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.next.RoundTrip(req)
	if err != nil && resp != nil {
		_ = resp.Body.Close() // the body is not used
		resp = nil
	}
	return resp, err
}

// Documents returns the underlying client for small responses, for libraries that need one.
func (c *Client) Documents() *http.Client { return c.documents }

// Single returns the underlying client without retries and time limits, for libraries that download. See
// Attempts and Copy.
func (c *Client) Single() *http.Client { return c.single }

// Document is a response that was read completely.
type Document struct {
	Body   []byte
	Header http.Header
	URL    *url.URL // the final address after redirects; relative addresses in the document refer to it
}

// Get reads a document. creds may be nil. The error is a *StatusError if the response is neither 200 nor an
// empty 204.
func (c *Client) Get(ctx context.Context, u *url.URL, creds Credentials) (Document, error) {
	counted, attempts := countAttempts(ctx)
	req, err := newRequest(counted, u, creds)
	if err != nil {
		return Document{}, err
	}
	resp, err := c.documents.Do(req)
	if err != nil {
		return Document{}, c.exhausted(ctx, failed(u, err), *attempts)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNoContent {
		return Document{}, c.exhausted(ctx, statusError(u, resp), *attempts)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return Document{}, failed(u, err)
	}
	if len(body) > maxDocument {
		return Document{}, fmt.Errorf("the answer of %s is longer than %d bytes", Show(u), maxDocument)
	}
	return Document{Body: body, Header: resp.Header, URL: resp.Request.URL}, nil
}

// exhausted adds the number of attempts to the error if all attempts were used.
func (c *Client) exhausted(ctx context.Context, err error, attempts int) error {
	if attempts <= c.opts.Retries || !isPassing(ctx, err) {
		return err
	}
	return gaveUp(err, attempts)
}

func newRequest(ctx context.Context, u *url.URL, creds Credentials) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, failed(u, err)
	}
	if creds != nil {
		creds.PrepareRequest(req)
	}
	return req, nil
}
