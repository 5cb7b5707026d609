package main

import (
	"context"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/view"
	"github.com/mayfly-iac/mayfly/view/explanation"
	"github.com/mayfly-iac/mayfly/view/report"
)

// paged calls f, which does the command's work, and then writes a page about it to a file, even if f fails or
// panics. An empty name means no page. The file is tried before f is called, since the run cannot be repeated
// for its page.
func (a *app) paged(name, title string, f func() int) (code int) {
	if name == "" {
		return f()
	}
	target, err := safefile.Replaceable(name)
	if err != nil {
		return a.fail("Cannot write the page", "The file %s of -html cannot be written: %s. Nothing was done.", name, diag.Reason(err))
	}
	where := time.Now().Format("2006-01-02 15:04:05 -07:00") + ", Mayfly " + version
	a.page = report.New(title, where, a.leaks.Redact)
	defer func() { // deferred, so that a panic does not prevent it
		if err := safefile.ReplaceBy(target, a.guarded(a.page.Write)); err != nil {
			code = a.fail("Failed to write the page", "The file %s of -html could not be written: %s. Everything else was done as reported above.", name, diag.Reason(err))
		}
	}()
	return f()
}

// putPlan adds a plan to the page, with the reasons for its changes. Nothing is done if no page is wanted. An
// error is reported as a warning, since the plan itself is as good.
func (s *session) putPlan(ctx context.Context, p *plan.Plan) {
	if s.app.page == nil {
		return
	}
	var why func(*plan.Change) []string
	if e, _ := s.Project.Explain(ctx, p); e != nil {
		why = func(c *plan.Change) []string {
			var out []string
			for _, point := range e.Why(c) {
				out = append(out, explanation.Line(point))
			}
			return out
		}
	}
	if err := s.app.page.Plan(p, s.Schemas(ctx), why); err != nil {
		s.app.report(diag.Warnf("The page is incomplete", "A change of the plan cannot be shown: %s.", err))
	}
}

// putState adds the objects and outputs of a state to the page.
func (s *session) putState(ctx context.Context, st *state.State) error {
	if s.app.page == nil || st == nil {
		return nil
	}
	schemas := s.Schemas(ctx)
	for i := range st.AllInstances() {
		var text strings.Builder
		if err := view.StateInstance(&text, st, i, schemas, view.Options{}); err != nil {
			return err
		}
		s.app.page.Object(i.String(), i.Module.String(), text.String())
	}
	return s.app.putOutputs(st)
}

// putOutputs adds the outputs of a state to the page.
func (a *app) putOutputs(st *state.State) error {
	var text strings.Builder
	if a.page == nil || len(st.Outputs) == 0 {
		return nil
	}
	err := view.Outputs(&text, st.Outputs, view.Options{})
	a.page.Outputs(text.String())
	return err
}

// putDiagnostics adds diagnostics to the page, as people see them.
func (a *app) putDiagnostics(list diag.List) {
	if a.page == nil {
		return
	}
	for _, bad := range []bool{true, false} {
		var some diag.List
		for _, d := range list {
			if (d.Severity == diag.Error) == bad {
				some = append(some, d)
			}
		}
		var text strings.Builder
		if view.Diagnostics(&text, some, a.snippets(), view.Options{}) == nil && len(some) > 0 {
			a.page.Note(strings.Trim(text.String(), "\n"), bad)
		}
	}
}
