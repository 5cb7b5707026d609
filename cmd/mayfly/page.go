package main

import (
	"bytes"
	"context"
	"io"
	"os"
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

// markdownFlag returns the option -markdown. what describes the page.
func (p *pageFlags) markdownFlag(what string) cli.Flag {
	return stringFlag("markdown", "Write "+what+" as Markdown to `FILE`, for a comment on a pull request. It has at most 65,000 bytes: details that don't fit are left out. Sensitive values are hidden.", &p.markdown)
}

// files returns the files, for checkFiles.
func (p *pageFlags) files() []fileOption {
	return []fileOption{{"-html", p.html, false}, {"-markdown", p.markdown, false}}
}

// artifact is a document about a run that an option writes to a file.
type artifact struct {
	what, option, path string // path is "" if the option was not given
	begins             string // all documents of the kind begin so
	write              func(io.Writer) error
}

// beginOfPage is how HTML pages begin.
const beginOfPage = "<!DOCTYPE html"

// mayReplace reports the file of the document if it exists and is something else, such as a saved plan:
// show -html PLAN names a file to write. Empty files may be replaced, and pipes and devices written to.
func (w artifact) mayReplace(o *output) bool {
	info, err := os.Stat(w.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return true // an error of writing will say more
	}
	f, err := safefile.Open(w.path)
	if err != nil {
		return true
	}
	defer f.Close()
	begin := make([]byte, len(w.begins))
	if _, err := io.ReadFull(f, begin); err == nil && string(begin) == w.begins {
		return true
	}
	return o.report(diag.Errorf("File exists and is something else",
		"The option %s writes to the file %s, which exists and was not written by this option. Give the option the name of another file, or remove that one. Nothing was done.", w.option, w.path))
}

// paged calls f, which does the command's work, and then writes the pages about it, and more.
func (o *output) paged(p pageFlags, title string, f func() int, more ...artifact) int {
	r := report.New(title, time.Now().Format("2006-01-02 15:04:05 -07:00")+", Mayfly "+version, o.leaks.Redact)
	r.Fold, r.Directory, r.Commit = o.shared.full == nil || !*o.shared.full, place.Name(), place.Commit()
	if p.html+p.markdown != "" {
		o.page = r
	}
	return o.writeAfter(f, append([]artifact{
		{"page", "-html", p.html, beginOfPage, r.Write},
		{"Markdown", "-markdown", p.markdown, "### ", func(w io.Writer) error { return markdown.Write(w, r.Content()) }},
	}, more...))
}

// writeAfter calls f, which does the command's work, and then writes the outputs, even if f fails or panics.
// All files are tried before f is called, since the run cannot be repeated for its documents.
func (o *output) writeAfter(f func() int, outputs []artifact) (code int) {
	outputs = slices.DeleteFunc(outputs, func(w artifact) bool { return w.path == "" })
	targets := make([]string, len(outputs))
	for i, w := range outputs {
		if !w.mayReplace(o) {
			return exitError
		}
		var err error
		if targets[i], err = safefile.Replaceable(w.path); err != nil {
			return o.fail("Cannot write the file", "The file %s of %s cannot be written: %s. Nothing was done.", w.path, w.option, diag.Reason(err))
		}
	}
	defer func() { // deferred, so that a panic does not prevent it
		for i, w := range outputs {
			if err := safefile.ReplaceBy(targets[i], o.guarded(w.write)); err != nil {
				code = o.fail("Failed to write the file", "The file %s of %s could not be written: %s. Everything else was done as reported above.", w.path, w.option, diag.Reason(err))
				continue
			}
			o.saved(w.what, w.path)
		}
	}()
	return f()
}

// guarded returns a function that writes the document that write makes, without ephemeral values.
func (o *output) guarded(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		var doc bytes.Buffer
		if err := write(&doc); err != nil {
			return err
		}
		_, err := o.leaks.Writer(w).Write(doc.Bytes())
		return err
	}
}

// putPlan adds a plan to the page, with the reasons for its changes. Nothing is done if no page is wanted. An
// error is reported as a warning, since the plan itself is as good.
func (s *session) putPlan(ctx context.Context, p *plan.Plan) {
	if s.out.page == nil {
		return
	}
	s.out.page.Workspace, s.out.page.Place = s.Workspace, s.Place()
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
	if err := s.out.page.Plan(p, s.Schemas(ctx), why); err != nil {
		s.out.report(diag.Warnf("The page is incomplete", "A change of the plan cannot be shown: %s.", err))
	}
}
