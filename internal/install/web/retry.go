package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

// errRefused means that this program refuses a server's behaviour, so retrying is useless.
var errRefused = errors.New("refused")

// passing reports whether a failure may be temporary: a broken connection or a busy server, but not a wrong
// certificate. It is a retryablehttp.CheckRetry.
func passing(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if n, ok := ctx.Value(attemptsKey{}).(*int); ok {
		*n++
	}
	var certificate *tls.CertificateVerificationError
	if errors.Is(err, errRefused) || errors.As(err, &certificate) {
		return false, nil
	}
	return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
}

// attemptsKey is the context key of an *int that counts the attempts of a request.
type attemptsKey struct{}

// countAttempts returns a context for a request of the retrying client, and the counter of its attempts.
func countAttempts(ctx context.Context) (context.Context, *int) {
	n := new(int)
	return context.WithValue(ctx, attemptsKey{}, n), n
}

// gaveUp adds the number of attempts to a temporary error.
func gaveUp(err error, attempts int) error {
	return fmt.Errorf("%w, giving up after %d attempt(s)", err, attempts)
}

// isPassing reports whether the error of a request may have been temporary.
func isPassing(ctx context.Context, err error) bool {
	var answer *http.Response
	if status := (*StatusError)(nil); errors.As(err, &status) {
		answer, err = &http.Response{StatusCode: status.Code}, nil
	}
	again, _ := passing(ctx, answer, err)
	return again
}
