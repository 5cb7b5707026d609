package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/doctor"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
)

// doctorCommand returns the command doctor.
func doctorCommand(a *app) *cli.Command {
	out, in, wd, signals := a.out, a.in, a.wd, a.signals
	m, timeout := &machineFlags{}, 5*time.Second
	flags := append(in.variableFlags(), m.flags("a JSON document")...)
	return a.command("doctor", "Find out why a directory or machine does not work", "",
		"Says what is in effect here and whether it can be reached: the CLI configuration, places that providers and modules come from, the plugin cache, proxies, credentials, installed providers, and the backend with the state. Each problem has a way out. "+
			"Nothing is changed or locked, and no token or password is shown. The exit status is 1 if there is a problem.",
		append(flags, durationFlag("timeout", "Wait up to `DURATION`, such as 10s, for each answer.", &timeout)),
		func(ctx context.Context, args []string) int {
			switch {
			case !m.begin(out):
				return exitError
			case len(args) > 0:
				return out.argsError("doctor", "no arguments; for another directory, use -chdir")
			case timeout <= 0:
				return out.fail("Invalid option", "The value of -timeout must be a duration above zero, such as 10s.")
			}
			ctx, stop := signals.Once(ctx)
			defer stop()
			compatible := out.env.compatible.OrDefault()
			r, err := doctor.Examine(ctx, doctor.Options{
				Dir: wd.dir(), Vars: out.env.vars, Timeout: timeout,
				Program: []string{"version", ownName + " v" + version, "compatible with", compatible.Name + " v" + compatible.Version, "platform", install.CurrentPlatform().String()},
			})
			if err != nil {
				return out.fail("The examination was not finished", "%s", diag.Sentence(err))
			}
			for _, g := range r.Groups {
				for i := range g.Findings {
					g.Findings[i].WayOut = out.env.commands(g.Findings[i].WayOut)
				}
			}
			code := exitOK
			if r.Problems > 0 {
				code = exitError
			}
			if done, written := out.documented(m, r.JSON); done {
				return max(code, written)
			}
			return max(code, out.wrote(r.Text(out.env.Stdout, out.view)))
		})
}
