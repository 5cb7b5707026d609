package web

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

// errRefused says that this program doesn't accept what a server does, so that trying again would bring the same.
var errRefused = errors.New("refused")

// passing reports whether a failure may pass by itself: a broken connection, a busy server, but not a wrong certificate. It is a
// retryablehttp.CheckRetry.
func passing(ctx context.Context, resp *http.Response, err error) (bool, error) {
	var certificate *tls.CertificateVerificationError
	if errors.Is(err, errRefused) || errors.As(err, &certificate) {
		return false, nil
	}
	return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
}
