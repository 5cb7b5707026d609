package main

import (
	"context"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/safefile"
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
	a.page.Fold = a.shared.full == nil || !*a.shared.full
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
