//go:build !mayfly_no_http

package backend

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/http"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	httpKind.service = service{
		open:       openHTTP,
		place:      func(cfg cty.Value) string { return http.Place(textOr(cfg, "address", "")) },
		workspaces: func(cty.Value) bool { return false },
	}
}

// openHTTP opens the state behind a URL. Which arguments exclude each other is for the store to say.
func openHTTP(_ context.Context, cfg cty.Value, env Env) (store.Store, error) {
	opt := http.Options{
		Address: textOr(cfg, "address", ""), LockAddress: textOr(cfg, "lock_address", ""), UnlockAddress: textOr(cfg, "unlock_address", ""),
		UpdateMethod: textOr(cfg, "update_method", ""), LockMethod: textOr(cfg, "lock_method", ""), UnlockMethod: textOr(cfg, "unlock_method", ""),
		Username: textOr(cfg, "username", ""), Password: textOr(cfg, "password", ""), Headers: textMapOf(cfg, "headers"),
		SkipVerification: isTrue(cfg, "skip_cert_verification"), CACertificates: textOr(cfg, "client_ca_certificate_pem", ""),
		ClientCertificate: textOr(cfg, "client_certificate_pem", ""), ClientKey: textOr(cfg, "client_private_key_pem", ""),
	}
	for name, to := range map[string]*time.Duration{"retry_wait_min": &opt.RetryWaitMin, "retry_wait_max": &opt.RetryWaitMax} {
		n, err := countOf(cfg, "http", name)
		if err != nil {
			return nil, err
		}
		if n != nil {
			*to = time.Duration(*n) * time.Second
		}
	}
	var err error
	if opt.Retries, err = countOf(cfg, "http", "retry_max"); err != nil {
		return nil, err
	}
	service, err := http.New(opt)
	if err != nil {
		return nil, inBackend("http", err)
	}
	return remote.New(service, env.remote()), nil
}
