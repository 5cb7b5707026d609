// Package cloud has the code that clients of cloud services share. Each subpackage reaches one vendor: it
// finds credentials with the vendor's own library, and speaks the few calls that Mayfly needs over net/http.
// Generated clients of whole services are not linked; see docs/adr/019-clouds-without-generated-clients.md.
//
// Start reading at Error. It may import trace/requests. It must not know the data kept in a cloud.
package cloud

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxAnswer bounds the answers that are read into memory: lists of objects, and errors.
const maxAnswer = 16 << 20

// Error is an unsuccessful answer of a service. Code and Message are the service's own words.
type Error struct {
	Status  int // of HTTP
	Code    string
	Message string
	Hint    string // advice for the user; may be ""
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("the service answers %d %s", e.Status, http.StatusText(e.Status))
	for _, part := range []string{e.Code, e.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	if hint := cmp.Or(e.Hint, e.advice()); hint != "" {
		text = strings.TrimSuffix(text, ".") + ". " + hint
	}
	return text
}

// Status returns the status of an unsuccessful answer; 0 if err is not one.
func Status(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// Code returns the code of an unsuccessful answer; "" if err is not one.
func Code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// advice returns advice about answers of a proxy or another server in between.
func (e *Error) advice() string {
	switch {
	case e.Status == http.StatusProxyAuthRequired:
		return "Give user and password of the proxy in the environment variable HTTPS_PROXY"
	case e.Status/100 == 3:
		return "Redirects are not followed. They may come from a proxy or a sign-in page in between"
	}
	return ""
}

// ErrExists means that the object to be created exists.
var ErrExists = errors.New("it exists already")

// ErrPage means that a successful answer is a page for people, and so not one of the service.
var ErrPage = errors.New("the answer is a page in HTML and not one of the service: it may come from a proxy or a sign-in page in between. " +
	"Check the environment variables HTTPS_PROXY and NO_PROXY, and the address of the service")

// PageHint returns a hint for an unsuccessful answer that is a page for people, and "" for others.
func PageHint(body []byte) string {
	const beginning = 200
	text := strings.ToLower(string(body[:min(len(body), beginning)]))
	if !strings.Contains(text, "<html") && !strings.Contains(text, "<!doctype html") {
		return ""
	}
	return "The answer is a page in HTML, which may come from a proxy in between"
}

// Passes reports whether the same request may succeed later: the service was busy, out of order, or asks for
// patience.
func (e *Error) Passes() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusConflict,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Services returns a client for signed requests, which repeats requests that fail for a moment. It returns
// unsuccessful answers as they are and follows no redirects, since a signature is made for one address. The
// transport may be nil for the usual one.
type Services func(transport http.RoundTripper) *http.Client

// Answer sends a request and returns the whole body of a successful response. Other responses become the
// error that refuse makes of them.
func Answer(client *http.Client, req *http.Request, refuse func(resp *http.Response, body []byte) error) ([]byte, error) {
	resp, err := Open(client, req, refuse)
	if err != nil {
		return nil, err
	}
	return Read(resp)
}

// Open is like Answer for a body that may be large: the caller reads and closes it. It fails with ErrPage if
// a successful response is a page in HTML.
func Open(client *http.Client, req *http.Request, refuse func(resp *http.Response, body []byte) error) (*http.Response, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
	if resp.StatusCode/100 == 2 && !page {
		return resp, nil
	}
	if resp.StatusCode/100 == 2 {
		resp.Body.Close()
		return nil, ErrPage
	}
	body, err := Read(resp)
	if err != nil {
		return nil, err
	}
	return nil, refuse(resp, body)
}

// Read reads the whole body of a response, and closes it.
func Read(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxAnswer:
		return nil, errors.New("the service's answer is too long")
	}
	return body, nil
}
