package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// graphFlags are the options of the graph command.
type graphFlags struct {
	kind, plan  string
	cycles      bool
	moduleDepth int
	verbose     bool
}

// graphCommand returns the command graph. Cycles between blocks are warnings here: only the instances decide
// whether they are errors.
func graphCommand(a *app) *cli.Command {
	out, in, wd := a.out, a.in, a.wd
	f := &graphFlags{moduleDepth: -1}
	flags := append(in.variableFlags(),
		stringFlag("type", "Draw the graph of `OPERATION`: plan, plan-refresh-only, plan-destroy or apply. The default is plan, or apply with -plan.", &f.kind),
		stringFlag("plan", "Draw the steps of the saved plan in `FILE` instead of the configuration.", &f.plan),
		boolFlag("draw-cycles", "Draw dependency cycles in red.", &f.cycles),
		intFlag("module-depth", "Has no effect. Accepted, with a number `N`, for compatibility.", &f.moduleDepth),
		boolFlag("verbose", "Has no effect. Accepted for compatibility.", &f.verbose))
	return a.command("graph", "Generate a Graphviz graph of the steps in an operation", "",
		"Writes which blocks wait for which, in the DOT language that Graphviz reads. The type plan-destroy is made from the state, all others from the configuration or a saved plan.",
		flags, func(ctx context.Context, args []string) int {
			out.document = true
			if len(args) > 0 {
				return out.argsError("graph", "no arguments; for another directory, use -chdir")
			}
			g, diags := graph(ctx, wd, f)
			if !out.report(diags) {
				return exitError
			}
			for _, members := range g.Cycles() {
				out.report(diag.Warnf("Blocks refer to each other in a cycle", "%s. This is not an error if their instances do not. To see the cycle in the graph, use -draw-cycles. To find out whether it is an error, run: mayfly validate", view.CycleText(members)))
			}
			return out.wrote(view.Dot(out.env.Stdout, g, f.cycles))
		})
}

// graph returns the graph of the requested type. A saved plan and the state are read without the providers;
// only the graph of the configuration needs their schemas, to tell arguments from blocks.
func graph(ctx context.Context, wd *workingDir, f *graphFlags) (*plan.Graph, diag.List) {
	switch f.kind {
	case "", "plan", "plan-refresh-only", "plan-destroy", "apply":
	default:
		return nil, diag.Errorf("Unsupported graph type", "The -type option must be \"plan\", \"plan-refresh-only\", \"plan-destroy\" or \"apply\", not %q.", f.kind)
	}
	d := wd.dir()
	if f.plan != "" {
		if f.kind != "" && f.kind != "apply" {
			return nil, diag.Errorf("Unsupported graph type", "A saved plan has the graph of an apply only; leave out -type=%s.", f.kind)
		}
		file, diags := d.Plans.Open(ctx, f.plan)
		if diags.HasErrors() {
			return nil, diags
		}
		g, err := file.Plan.Graph()
		if err != nil {
			return nil, append(diags, diag.Errorf("The plan has no order", "%s", diag.Sentence(err))...)
		}
		return g, diags
	}
	if f.kind == "plan-destroy" {
		file, diags := d.Backend.ReadState(ctx, workdir.StateFiles{})
		if file == nil || diags.HasErrors() {
			return plan.DestroyGraph(state.New()), diags
		}
		return plan.DestroyGraph(file.State), diags
	}
	diags := d.Load(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	s, ds := wd.open(ctx, nil)
	defer s.close()
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, diags
	}
	g, ds := s.Project.Graph(ctx)
	return g, append(diags, ds...)
}
