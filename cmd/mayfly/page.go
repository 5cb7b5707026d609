package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/place"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/show/view/explanation"
	"github.com/mayfly-iac/mayfly/internal/show/view/markdown"
	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/plan"
)

// pageFlags are the files to which a run is written for people: a page, and a comment on a pull request.
type pageFlags struct{ html, markdown string }

// markdownFlag returns the option -markdown. what is what it writes.
func (p *pageFlags) markdownFlag(what string) cli.Flag {
	return stringFlag("markdown", "Write "+what+" as Markdown to `FILE`, for a comment on a pull request. It has at most 65,000 bytes: details that don't fit are left out. Sensitive values are hidden.", &p.markdown)
}

// files returns the files, for checkFiles.
func (p *pageFlags) files() []fileOption {
	return []fileOption{{"-html", p.html, false}, {"-markdown", p.markdown, false}}
}

// output is a document about a run that an option writes to a file.
type output struct {
	what, option, path string // path is "" if the option was not given
	write              func(io.Writer) error
}

// paged calls f, which does the command's work, and then writes the pages about it, and more.
func (a *app) paged(p pageFlags, title string, f func() int, more ...output) int {
	r := report.New(title, time.Now().Format("2006-01-02 15:04:05 -07:00")+", Mayfly "+version, a.leaks.Redact)
	r.Fold, r.Directory, r.Commit = a.shared.full == nil || !*a.shared.full, place.Name(), place.Commit()
	if p.html+p.markdown != "" {
		a.page = r
	}
	return a.writeAfter(f, append([]output{
		{"page", "-html", p.html, r.Write},
		{"Markdown", "-markdown", p.markdown, func(w io.Writer) error { return markdown.Write(w, r.Content()) }},
	}, more...))
}

// writeAfter calls f, which does the command's work, and then writes the outputs, even if f fails or panics.
// All files are tried before f is called, since the run cannot be repeated for its documents.
func (a *app) writeAfter(f func() int, outputs []output) (code int) {
	outputs = slices.DeleteFunc(outputs, func(o output) bool { return o.path == "" })
	targets := make([]string, len(outputs))
	for i, o := range outputs {
		var err error
		if targets[i], err = safefile.Replaceable(o.path); err != nil {
			return a.fail("Cannot write the file", "The file %s of %s cannot be written: %s. Nothing was done.", o.path, o.option, diag.Reason(err))
		}
	}
	defer func() { // deferred, so that a panic does not prevent it
		for i, o := range outputs {
			if err := safefile.ReplaceBy(targets[i], a.guarded(o.write)); err != nil {
				code = a.fail("Failed to write the file", "The file %s of %s could not be written: %s. Everything else was done as reported above.", o.path, o.option, diag.Reason(err))
				continue
			}
			a.saved(o.what, o.path)
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
	s.app.page.Workspace, s.app.page.Place = s.Workspace, s.Place()
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
