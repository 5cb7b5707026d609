//go:build !mayfly_no_remote

package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/stores/tfe"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	for _, k := range []*Kind{remoteKind, cloudKind} {
		k.service = service{
			open: func(_ context.Context, cfg cty.Value, env Env) (store.Store, error) {
				opt, err := remoteOptions(k.Name, cfg, env)
				if err != nil {
					return nil, inBackend(k.Name, err)
				}
				return remote.New(tfe.New(opt), env.remote()), nil
			},
			place:      remotePlace,
			identity:   remotePlace,
			workspaces: func(cfg cty.Value) bool { return remoteWorkspaces(cfg, "name") == "" },
		}
	}
	cloudKind.only = func(cfg cty.Value) string { return remoteWorkspaces(cfg, "name") }
}

// remoteWorkspaces returns an argument of the block "workspaces"; "" if it has none.
func remoteWorkspaces(cfg cty.Value, name string) string {
	if w := cfg.GetAttr("workspaces"); !w.IsNull() && w.Type().HasAttribute(name) {
		return textOr(w, name, "")
	}
	return ""
}

func remoteTags(cfg cty.Value) []string {
	if w := cfg.GetAttr("workspaces"); !w.IsNull() && w.Type().HasAttribute("tags") {
		return textsOf(w, "tags")
	}
	return nil
}

func remotePlace(cfg cty.Value) string {
	workspaces := remoteWorkspaces(cfg, "name")
	if workspaces == "" {
		workspaces = remoteWorkspaces(cfg, "prefix") + "*"
	}
	for _, tag := range remoteTags(cfg) {
		workspaces += " " + tag
	}
	return fmt.Sprintf("%s/%s/%s", textOr(cfg, "hostname", ""), textOr(cfg, "organization", ""), workspaces)
}

// remoteOptions reads the options of a service with workspaces. The block must select workspaces in
// exactly one way, because each way names them differently.
func remoteOptions(kind string, cfg cty.Value, env Env) (tfe.Options, error) {
	host, token := textOr(cfg, "hostname", ""), textOr(cfg, "token", "")
	opt := tfe.Options{
		Host: host, Organization: textOr(cfg, "organization", ""),
		Name: remoteWorkspaces(cfg, "name"), Prefix: remoteWorkspaces(cfg, "prefix"), Tags: remoteTags(cfg),
		Project:    cmp.Or(remoteWorkspaces(cfg, "project"), env.Lookup("TF_CLOUD_PROJECT")),
		IgnoreMode: env.Lookup("TF_FORCE_LOCAL_BACKEND") != "",
	}
	if kind == Cloud && cfg.GetAttr("workspaces").IsNull() {
		opt.Name = env.Lookup("TF_WORKSPACE")
	}
	ways := 0
	for _, set := range []bool{opt.Name != "", opt.Prefix != "", len(opt.Tags) > 0} {
		if set {
			ways++
		}
	}
	switch {
	case host == "":
		return opt, errors.New("the argument \"hostname\" is missing: there is no host by default. That of HCP Terraform is app.terraform.io")
	case opt.Organization == "":
		return opt, errors.New("the argument \"organization\" is missing")
	case ways != 1:
		return opt, errors.New("the block \"workspaces\" must select workspaces in one way: \"name\" for one, or \"prefix\" (of \"remote\") or \"tags\" (of \"cloud\") for several")
	case env.Host == nil:
		return opt, errors.New("hosts cannot be asked here")
	}
	opt.Find = func(ctx context.Context) (tfe.Connection, error) {
		s, err := env.Host(ctx, host, "tfe.v2")
		if token != "" {
			s.Token = token
		}
		return tfe.Connection{API: s.Address, Token: s.Token, Transport: s.Transport}, err
	}
	return opt, nil
}
