package main

import (
	"context"

	"github.com/mayfly-iac/mayfly/view"
)

// target finds out which of the ways to say what to show was used. ok is false if there are several.
func (f *showFlags) target(args []string) (file string, ok bool) {
	n := len(args)
	for _, given := range []bool{f.state, f.plan != "", f.config} {
		if given {
			n++
		}
	}
	if len(args) == 1 {
		return args[0], n <= 1
	}
	return f.plan, n <= 1
}

// showConfig writes the JSON document of the configuration.
func (a *app) showConfig(ctx context.Context, asJSON bool) int {
	if !asJSON {
		return a.fail("JSON output required for configuration", "What -config shows is a document for programs: it needs -json.")
	}
	d := a.directory()
	if !a.report(d.loadRequired("show")) {
		return exitError
	}
	s, diags := a.open(ctx, d, place{}, nil, nil, 0)
	defer s.close()
	if !a.report(diags) || !a.report(s.useProviders(nil)) {
		return exitError
	}
	return a.writeDocument(view.ConfigJSON(d.tree, s.schemas(ctx)))
}
