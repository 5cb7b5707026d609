package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/interrupt"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/suite"
	"github.com/mayfly-iac/mayfly/workdir"
)

// validateCommand returns the command validate. Its document reports errors too, so the exit status is
// decided after it is written.
func validateCommand(a *app) *cli.Command {
	out, in, wd, signals := a.out, a.in, a.wd, a.signals
	m := &machineFlags{}
	tests, queries := testsFlag{}, false
	flags := append(append(in.variableFlags(), m.flags("the result as a JSON document")...),
		tests.dirFlag(), boolFlag("query", "Check the query files too.", &queries), boolFlag("no-tests", "Don't check test files.", &tests.none))
	return a.command("validate", "Check whether the configuration is valid", "",
		"Checks the configuration by itself: it reads no state, needs no variables, and contacts no remote system.",
		flags, func(ctx context.Context, args []string) int {
			out.document = m.json
			if !m.begin(out) {
				return exitError
			}
			if len(args) > 0 {
				return out.argsError("validate", "no arguments; to validate another directory, use -chdir")
			}
			if queries {
				wd.dir().ReadQueries(true)
			}
			diags := validate(ctx, wd, signals, &tests)
			if done, code := out.documented(m, func() ([]byte, error) { return document.Validation(diags, out.sources()) }); done {
				if code == exitOK && diags.HasErrors() {
					return exitError
				}
				return code
			}
			if !out.report(diags) {
				return exitError
			}
			if len(diags) == 0 {
				out.say("%s The configuration is valid.\n", out.view.Success("Success!"))
			} else {
				out.say("%s The configuration is valid, but there were some validation warnings as shown above.\n", out.view.Success("Success!"))
			}
			return exitOK
		})
}

// validate returns all diagnostics of the configuration and of its test files. It stops after a stage with
// errors, since the next would report their consequences: loading, the backend block, test files, then the
// configuration as a whole. Providers are started for their schemas and asked to validate; none is
// configured.
func validate(ctx context.Context, wd *workingDir, signals interrupt.Source, tests *testsFlag) diag.List {
	hard, soft, stop := interruptible(ctx, signals)
	defer stop()
	d := wd.dir()
	diags := d.Load(soft)
	if diags.HasErrors() {
		return diags
	}
	diags = append(diags, d.Backend.Check(soft)...)
	t := &workdir.Tests{}
	if !tests.none {
		var ds diag.List
		t, ds = d.LoadTests(soft, tests.dir, nil)
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags
		}
	}
	s, ds := wd.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) { return d.OpenTests(hard, t, o) })
	defer s.close()
	if diags = append(diags, ds...); ds.HasErrors() {
		return diags
	}
	if diags = append(diags, s.Project.Validate(soft)...); diags.HasErrors() || len(t.Files) == 0 {
		return diags
	}
	opt, ds := testOptions(t, s)
	return append(append(diags, ds...), suite.Validate(soft, opt)...)
}
