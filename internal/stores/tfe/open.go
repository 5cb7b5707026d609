//go:build !mayfly_no_remote

package tfe

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (o opener) Service() backend.Service {
	s := backend.Service{
		Connect: func(_ context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
			opt, err := optionsOf(o.kind, cfg, env)
			return New(opt), backend.In(o.kind, err)
		},
		Place:      placeOf,
		Identity:   placeOf,
		Workspaces: func(cfg backend.Config) bool { return workspacesOf(cfg, "name") == "" },
	}
	if o.kind == backend.Cloud {
		s.Only = func(cfg backend.Config) string { return workspacesOf(cfg, "name") }
	}
	return s
}

// workspacesOf returns an argument of the block "workspaces"; "" if it has none.
func workspacesOf(cfg backend.Config, name string) string {
	if w := cfg.GetAttr("workspaces"); !w.IsNull() && w.Type().HasAttribute(name) {
		return backend.Config{Value: w}.Text(name)
	}
	return ""
}

func tagsOf(cfg backend.Config) []string {
	if w := cfg.GetAttr("workspaces"); !w.IsNull() && w.Type().HasAttribute("tags") {
		return backend.Config{Value: w}.Texts("tags")
	}
	return nil
}

func placeOf(cfg backend.Config) string {
	workspaces := cmp.Or(workspacesOf(cfg, "name"), workspacesOf(cfg, "prefix")+"*")
	for _, tag := range tagsOf(cfg) {
		workspaces += " " + tag
	}
	return fmt.Sprintf("%s/%s/%s", cfg.Text("hostname"), cfg.Text("organization"), workspaces)
}

// optionsOf reads the options of a service with workspaces. The block must select workspaces in
// exactly one way, because each way names them differently.
func optionsOf(kind string, cfg backend.Config, env backend.Env) (Options, error) {
	host, token := cfg.Text("hostname"), cfg.Text("token")
	opt := Options{
		Host: host, Organization: cfg.Text("organization"),
		Name: workspacesOf(cfg, "name"), Prefix: workspacesOf(cfg, "prefix"), Tags: tagsOf(cfg),
		Project:    cmp.Or(workspacesOf(cfg, "project"), env.Lookup("TF_CLOUD_PROJECT")),
		IgnoreMode: env.Lookup("TF_FORCE_LOCAL_BACKEND") != "",
	}
	if kind == backend.Cloud && cfg.GetAttr("workspaces").IsNull() {
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
	opt.Find = func(ctx context.Context) (Connection, error) {
		s, err := env.Host(ctx, host, "tfe.v2")
		if token != "" {
			s.Token = token
		}
		return Connection{API: s.Address, Token: s.Token, Transport: s.Transport}, err
	}
	return opt, nil
}
