package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/explain"
	"github.com/mayfly-iac/mayfly/internal/show/view/explanation"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/workdir"
)

// explainCommand is the command explain.
type explainCommand struct{ dependencies }

// explainFlags are the options of the explain command.
type explainFlags struct {
	stateFlags
	lockFlags
	inputFlag
	machineFlags
	plan          string
	allowDeferral bool
}

// command returns the command explain.
func (c *explainCommand) command(a *app) *cli.Command {
	f := &explainFlags{}
	flags := append(c.in.variableFlags(), f.lockFlags.flags()...)
	flags = append(flags, f.inputFlag.flags(c.out.env.vars)...)
	flags = append(flags, f.machineFlags.flags("a JSON document")...)
	flags = append(flags,
		stringFlag("plan", "Explain the saved plan in `FILE` instead of making a plan.", &f.plan),
		boolFlag("allow-deferral", "Leave to a later plan what can't be planned yet, as plan does.", &f.allowDeferral),
		stringFlag("state", "Read the state from `FILE`. For the local backend.", &f.stateFlags.State))
	return a.command("explain", "Explain why something changes, and where its values come from", "ADDRESS...",
		"Says what a plan does to a resource, an instance or one attribute of it, and why: what forces a replacement, what a data source waits for, "+
			"where a value comes from, why it is sensitive or ephemeral, and who depends on it. Variables, local values, outputs and modules can be asked about too. "+
			"Without -plan, a plan is made first. Nothing is changed.",
		flags, func(ctx context.Context, args []string) int { return c.explain(ctx, f, args) })
}

// explain answers the questions about all addresses, and fails if one of them is wrong.
func (c *explainCommand) explain(ctx context.Context, f *explainFlags, args []string) int {
	c.out.document = true // warnings of the plan are beside the answer
	f.beside = []fileOption{{"-plan", f.plan, true}, {"-state", f.stateFlags.State, true}}
	f.input = f.input && !f.json
	if !f.begin(c.out) {
		return exitError
	}
	if len(args) == 0 {
		return c.out.argsError("explain", "the addresses to explain, such as aws_instance.web[0] or aws_instance.web[0].ami")
	}
	s, p, ok := c.planToExplain(ctx, f)
	if s != nil {
		defer s.close()
	}
	if !ok {
		return exitError
	}
	e, diags := s.Project.Explain(ctx, p)
	if e == nil {
		c.out.report(diags)
		return exitError
	}
	var answers []*explain.Answer
	for _, address := range args {
		answer, ds := e.About(address)
		diags = append(diags, ds...)
		if answer != nil {
			answers = append(answers, answer)
		}
	}
	ok, code := c.out.report(diags), exitOK
	if !ok {
		code = exitError
	}
	if len(answers) == 0 {
		return code
	}
	if done, written := c.out.documented(&f.machineFlags, func() ([]byte, error) { return explanation.JSON(answers) }); done {
		return max(code, written)
	}
	for i, answer := range answers {
		if i > 0 {
			_, _ = io.WriteString(c.out.env.Stdout, "\n") // an error comes again with the text
		}
		if err := explanation.Text(c.out.env.Stdout, answer, c.out.view); err != nil {
			return c.out.wrote(err)
		}
	}
	return code
}

// planToExplain opens the saved plan, or makes one. ok is false if there were errors, which have been
// reported. The session is to be closed, if there is one.
func (c *explainCommand) planToExplain(ctx context.Context, f *explainFlags) (s *session, p *plan.Plan, ok bool) {
	if f.plan != "" {
		saved, diags := c.wd.dir().Plans.Open(ctx, f.plan)
		if !c.out.report(diags) {
			return nil, nil, false
		}
		s, diags = c.wd.saved(ctx, saved)
		return s, saved.Plan, c.out.report(diags)
	}
	hard, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	d := c.wd.dirOf("", f.input)
	if !c.wd.required("explain") || !c.out.report(d.Load(soft)) {
		return nil, nil, false
	}
	s, diags := c.wd.session(nil, defaultParallelism, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return d.Begin(soft, operationName("explain"), workdir.BeginOptions{
			SessionOptions: o, BeginOptions: mayfly.BeginOptions{Locking: f.locking(c.out), Reads: true}, Files: f.StateFiles,
		})
	})
	if !c.out.report(diags) {
		return s, nil, false
	}
	p, diags = s.Operation.Plan(hard, mayfly.PlanOptions{Variables: s.Variables, AllowDeferral: f.allowDeferral, Soft: soft})
	return s, p, c.out.report(append(diags, s.Operation.Flush()...)) && p != nil
}
