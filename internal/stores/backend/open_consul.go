//go:build !mayfly_no_consul

package backend

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/consul"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	consulKind.service = service{open: openConsul, place: consulPlace, identity: consulPlace}
}

func openConsul(_ context.Context, cfg cty.Value, env Env) (store.Store, error) {
	s, err := consul.New(consulOptions(cfg))
	if err != nil {
		return nil, inBackend("consul", err)
	}
	return remote.New(s, env.remote()), nil
}

// consulOptions returns the options that the arguments give. A lock is taken unless the argument "lock" is
// false.
func consulOptions(cfg cty.Value) consul.Options {
	lock := cfg.GetAttr("lock")
	return consul.Options{
		Path: textOr(cfg, "path", ""), Address: textOr(cfg, "address", ""), Scheme: textOr(cfg, "scheme", ""), Datacenter: textOr(cfg, "datacenter", ""),
		Token: textOr(cfg, "access_token", ""), Auth: textOr(cfg, "http_auth", ""),
		CAFile: textOr(cfg, "ca_file", ""), CertFile: textOr(cfg, "cert_file", ""), KeyFile: textOr(cfg, "key_file", ""),
		Gzip: isTrue(cfg, "gzip"), NoLock: !lock.IsNull() && lock.False(),
	}
}

// consulPlace names the key, whose server is that of the configuration and the environment.
func consulPlace(cfg cty.Value) string {
	s, err := consul.New(consulOptions(cfg))
	if err != nil {
		return "consul:" + textOr(cfg, "path", "")
	}
	return s.Path()
}
