package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// StatusError is an unsuccessful response.
type StatusError struct {
	Code int
	URL  string // as returned by Show
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.URL, e.Code, http.StatusText(e.Code))
	if e.Denied() {
		text += ": it wants other credentials than it was given, or any at all"
	}
	return text
}

// Denied reports whether the server requires other credentials.
func (e *StatusError) Denied() bool {
	return e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden
}

func statusError(u *url.URL, resp *http.Response) error {
	if resp.Request != nil {
		u = resp.Request.URL
	}
	return &StatusError{Code: resp.StatusCode, URL: Show(u)}
}

// NotFound reports whether err means that the server doesn't have the requested document.
func NotFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusGone)
}

// Show returns an address without the parts that may be secret: user, query and fragment.
func Show(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

// failed describes a request without a response. It omits the whole address that some errors contain.
func failed(u *url.URL, err error) error {
	return fmt.Errorf("no answer from %s: %w", Show(u), Reason(err))
}

// Reason returns the cause of a failed request without the address, which may contain secrets.
func Reason(err error) error {
	for {
		var ue *url.Error
		if !errors.As(err, &ue) {
			break
		}
		err = ue.Err
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return fmt.Errorf("it took too long: %w", err)
	}
	return err
}

// Denied reports whether err means that the server requires other credentials.
func Denied(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Denied()
}
