//go:build !mayfly_no_http

package http

import (
	"context"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{
		Connect:    connect,
		Place:      func(cfg backend.Config) string { return Place(cfg.Text("address")) },
		Workspaces: func(backend.Config) bool { return false },
	}
}

// connect opens the state behind a URL. Which arguments exclude each other is for the store to say.
func connect(_ context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	opt := Options{
		Address: cfg.Text("address"), LockAddress: cfg.Text("lock_address"), UnlockAddress: cfg.Text("unlock_address"),
		UpdateMethod: cfg.Text("update_method"), LockMethod: cfg.Text("lock_method"), UnlockMethod: cfg.Text("unlock_method"),
		Username: cfg.Text("username"), Password: cfg.Text("password"), Headers: cfg.TextMap("headers"),
		SkipVerification: cfg.Flag("skip_cert_verification"), CACertificates: cfg.Text("client_ca_certificate_pem"),
		ClientCertificate: cfg.Text("client_certificate_pem"), ClientKey: cfg.Text("client_private_key_pem"),
	}
	for name, to := range map[string]*time.Duration{"retry_wait_min": &opt.RetryWaitMin, "retry_wait_max": &opt.RetryWaitMax} {
		seconds, err := cfg.CountOr("http", name, 0)
		if err != nil {
			return nil, err
		}
		*to = time.Duration(seconds) * time.Second
	}
	retries, err := cfg.CountOr("http", "retry_max", -1)
	if err != nil {
		return nil, err
	}
	if retries >= 0 {
		opt.Retries = &retries
	}
	service, err := New(opt)
	return service, backend.In("http", err)
}
