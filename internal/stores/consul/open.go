//go:build !mayfly_no_consul

package consul

import (
	"context"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{Connect: newService, Place: placeOf, Identity: placeOf}
}

func newService(_ context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	s, err := New(optionsOf(cfg))
	return s, backend.In("consul", err)
}

// optionsOf returns the options that the arguments give. A lock is taken unless the argument "lock" is
// false.
func optionsOf(cfg backend.Config) Options {
	lock := cfg.GetAttr("lock")
	return Options{
		Path: cfg.Text("path"), Address: cfg.Text("address"), Scheme: cfg.Text("scheme"), Datacenter: cfg.Text("datacenter"),
		Token: cfg.Text("access_token"), Auth: cfg.Text("http_auth"),
		CAFile: cfg.Text("ca_file"), CertFile: cfg.Text("cert_file"), KeyFile: cfg.Text("key_file"),
		Gzip: cfg.Flag("gzip"), NoLock: !lock.IsNull() && lock.False(),
	}
}

// placeOf names the key and its server, from the configuration and the environment.
func placeOf(cfg backend.Config) string {
	s, err := New(optionsOf(cfg))
	if err != nil {
		return "consul:" + cfg.Text("path")
	}
	return s.Path()
}
