package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

// errRefused says that this program doesn't accept what a server does, so that trying again would bring the
// same.
var errRefused = errors.New("refused")

// passing reports whether a failure may pass by itself: a broken connection, a busy server, but not a wrong
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

// attemptsKey is the key of a context whose value, an *int, counts the attempts of a request.
type attemptsKey struct{}

// countAttempts returns a context for a request of the retrying client, and where to read how often it was
// tried.
func countAttempts(ctx context.Context) (context.Context, *int) {
	n := new(int)
	return context.WithValue(ctx, attemptsKey{}, n), n
}

// gaveUp adds to an error that may have passed how often something was tried.
func gaveUp(err error, attempts int) error {
	return fmt.Errorf("%w, giving up after %d attempt(s)", err, attempts)
}

// isPassing reports whether the error of a request may have passed.
func isPassing(ctx context.Context, err error) bool {
	var answer *http.Response
	if status := (*StatusError)(nil); errors.As(err, &status) {
		answer, err = &http.Response{StatusCode: status.Code}, nil
	}
	again, _ := passing(ctx, answer, err)
	return again
}
