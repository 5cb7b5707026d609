package login

import (
	"context"
	"crypto/subtle"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// callbackPath is the path that services usually have in their lists of permitted redirects.
const callbackPath = "/login"

// callback is the local server to which the browser is redirected.
type callback struct {
	state   string
	title   string
	ignored func()
	outcome chan outcome
}

// outcome is the result that the browser delivers.
type outcome struct {
	code string
	err  error
}

func newCallback(state, title string, ignored func()) *callback {
	if ignored == nil {
		ignored = func() {}
	}
	return &callback{state: state, title: title, ignored: ignored, outcome: make(chan outcome, 1)}
}

// serve answers requests until stop is called, which lets running requests finish.
func (c *callback) serve(l net.Listener) (stop func()) {
	server := &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ends with the shutdown
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // closes connections that a browser keeps open
		}
		<-done
	}
}

// wait returns the code that the browser delivers.
func (c *callback) wait(ctx context.Context, limit time.Duration) (string, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-timer.C:
		return "", fmt.Errorf("there was no login within %s", limit)
	case o := <-c.outcome:
		return o.code, o.err
	}
}

// ServeHTTP implements http.Handler. A request without the state of this login is answered but otherwise
// ignored: any page open in the browser can send one.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != callbackPath || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) != 1 {
		c.ignored()
		c.page(w, http.StatusBadRequest, "This response does not belong to the login that is in progress. Nothing was done.")
		return
	}
	o := read(q)
	if o.err != nil {
		c.page(w, http.StatusBadRequest, "The login failed. The terminal shows why. You can close this page.")
	} else {
		c.page(w, http.StatusOK, "The login continues in the terminal. You can close this page.")
	}
	select {
	case c.outcome <- o:
	default: // only the first answer counts
	}
}

func read(q url.Values) outcome {
	switch code := q.Get("code"); {
	case q.Get("error") != "":
		return outcome{err: fmt.Errorf("the host refused: %s", refusal(q.Get("error")))}
	case code == "":
		return outcome{err: fmt.Errorf("the host sent the browser back without an authorization code")}
	default:
		return outcome{code: code}
	}
}

// page writes a page that contains nothing from the request.
func (c *callback) page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(status)
	title := html.EscapeString(c.title)
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>%s</title></head><body><h1>%s</h1><p>%s</p></body></html>\n", title, title, html.EscapeString(text))
}

// refusals describes the error codes of OAuth.
var refusals = map[string]string{
	"access_denied":             "access was denied",
	"invalid_grant":             "the name and password, or the authorization code, are wrong or were used before (invalid_grant)",
	"invalid_client":            "it does not know this program as a client (invalid_client)",
	"unauthorized_client":       "it does not allow this program to log in this way (unauthorized_client)",
	"invalid_scope":             "it does not know the scopes that it announces (invalid_scope)",
	"server_error":              "it had an internal error (server_error)",
	"temporarily_unavailable":   "it is temporarily unavailable (temporarily_unavailable)",
	"unsupported_grant_type":    "it does not support what it announces (unsupported_grant_type)",
	"unsupported_response_type": "it does not support what it announces (unsupported_response_type)",
}

// refusal describes an error code. A code that is not in the standard is shown if it looks like a word.
func refusal(code string) string {
	if text, ok := refusals[code]; ok {
		return text
	}
	const longest = 60
	if len(code) <= longest && strings.Trim(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == "" {
		return "the reason has the code " + code
	}
	return "the reason has a code that the standard does not define"
}
