// Package verdicts renders the outcomes of test files: as text, as messages of the JSON stream, and as JUnit
// XML. The words, the order and the numbers are the ones that tools for other engines know; verdicts.go
// writes text and messages together, so that both say the same.
//
// It may import suite, view and their dependencies. It must not run anything.
package verdicts

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/suite"
)

// Printer writes the outcomes of files: Abstract first, then File for each file as it ends, then Summary. It
// belongs to one goroutine.
type Printer struct {
	Out     io.Writer // for people; nil for none
	Err     io.Writer // likewise, for objects left behind
	Program string    // its name in sentences for people
	Command string    // its name in commands to run
	Color   bool
	Streams []*view.JSONStream
	Sources func() document.Sources
	// Report shows the diagnostics of a run, or of the end of a file, to people; nil to leave them out.
	Report func(*suite.Run, *suite.File)
	// Verbose returns the plan or the state of a run for people and as a document; nil for neither.
	Verbose func(*suite.Run) (text string, document []byte, err error)

	abandoned []*suite.File // that a second interrupt gave up
}

// word returns how people see a verdict: a run that could not be carried out has failed.
func word(v suite.Verdict) string {
	if v == suite.Error {
		v = suite.Fail
	}
	return v.String()
}

// painted returns the word for a verdict in its colour.
func (p *Printer) painted(v suite.Verdict) string {
	text := word(v)
	color := map[string]string{"pass": "\x1b[32m", "fail": "\x1b[31m", "skip": "\x1b[90m"}[text]
	if !p.Color || color == "" {
		return text
	}
	return color + text + "\x1b[0m"
}

// Abstract lists the runs of the files before they begin.
func (p *Printer) Abstract(files []*config.TestFile) {
	abstract, runs := map[string][]string{}, 0
	for _, f := range files {
		for _, r := range f.Runs {
			abstract[f.Name] = append(abstract[f.Name], r.Name)
			runs++
		}
	}
	text := fmt.Sprintf("Found %d %s and %d run %s", len(files), plural(len(files), "file"), runs, plural(runs, "block"))
	for _, s := range p.Streams {
		s.Test("test_abstract", text, view.TestMessage{Abstract: abstract})
	}
}

// plural returns a noun in the form that goes with n.
func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// File writes the outcome of a file with its runs and the objects it left behind. An error is one of Verbose.
func (p *Printer) File(f *suite.File) error {
	if f.Interrupted != nil {
		p.abandoned = append(p.abandoned, f)
	}
	p.line("%s... %s\n", f.Name, p.painted(f.Verdict))
	for _, s := range p.Streams {
		s.Test("test_file", f.Name+"... "+word(f.Verdict), view.TestMessage{File: f.Name, OfFile: &view.TestStatus{Path: f.Name, Status: f.Verdict.String()}})
	}
	for _, r := range f.Runs {
		if err := p.run(f, r); err != nil {
			return err
		}
	}
	p.cleanup(f)
	return nil
}

// run writes the outcome of a run: the verdict, the texts for -verbose, then its diagnostics.
func (p *Printer) run(f *suite.File, r *suite.Run) error {
	p.line("  run %q... %s\n", r.Name, p.painted(r.Verdict))
	for _, s := range p.Streams {
		s.Test("test_run", fmt.Sprintf("  %q... %s", r.Name, word(r.Verdict)), view.TestMessage{
			File: f.Name, Run: r.Name, OfRun: &view.TestStatus{Path: f.Name, Run: r.Name, Status: r.Verdict.String()},
		})
	}
	if p.Verbose != nil && (r.Plan != nil || r.State != nil) {
		if err := p.verbose(f, r); err != nil {
			return err
		}
	}
	for _, s := range p.Streams {
		s.TestDiagnostics(f.Name, r.Name, r.Diags, p.Sources())
	}
	if p.Report != nil {
		p.Report(r, nil)
	}
	return nil
}

// verbose writes the plan or the state of a run, as text and as the document in a message.
func (p *Printer) verbose(f *suite.File, r *suite.Run) error {
	text, document, err := p.Verbose(r)
	if err != nil {
		return err
	}
	p.line("%s", text)
	for _, s := range p.Streams {
		m := view.TestMessage{File: f.Name, Run: r.Name, State: document}
		typ, what := "test_state", "state"
		if r.Plan != nil {
			typ, what, m.Plan, m.State = "test_plan", "plan", document, nil
		}
		s.Test(typ, "-verbose flag enabled, printing "+what, m)
	}
	return nil
}

// cleanup lists the objects that could not be destroyed.
func (p *Printer) cleanup(f *suite.File) {
	failed, lines := objects(suite.LeftIn{Objects: f.Left})
	if f.Interrupted != nil {
		failed = nil // they are listed already
	}
	for _, s := range p.Streams {
		if len(failed) > 0 {
			s.Test("test_cleanup", s.Program()+" left some resources in state after executing "+f.Name+", they need to be cleaned up manually.", view.TestMessage{File: f.Name, Cleanup: &view.TestCleanup{Failed: failed}})
		}
		s.TestDiagnostics(f.Name, "", f.Cleanup, p.Sources())
	}
	if p.Report != nil {
		p.Report(nil, f)
	}
	if len(failed) > 0 {
		p.warn("\n%s left the following resources in state after executing %s, they need to be cleaned up manually:\n%s", p.Program, f.Name, lines)
	}
}

// objects returns the objects left behind, as messages and as people name them.
func objects(left suite.LeftIn) (out []view.TestObject, lines string) {
	var sb strings.Builder
	for _, o := range left.Objects {
		out = append(out, view.TestObject{Instance: o.Instance.String(), Deposed: string(o.Deposed)})
		fmt.Fprintf(&sb, "  - %s\n", o)
	}
	return out, sb.String()
}

// interrupted lists the objects that a second interrupt leaves of a file.
func (p *Printer) interrupted(f *suite.File) {
	doc := &view.TestInterrupt{States: map[string][]view.TestObject{}}
	p.warn("\n%s was interrupted while executing %s, and may not have performed the expected cleanup operations.\n", p.Program, f.Name)
	kept := false
	for _, st := range f.Interrupted.States {
		list, lines := objects(st)
		if st.Run.Module == nil {
			doc.State = append(doc.State, list...)
			p.warn("\nThese objects of the module under test are left:\n%s", lines)
		} else {
			doc.States[st.Run.Name] = list
			p.warn("\nThese objects of %s, the module of run %q, are left:\n%s", st.Run.Module.Source, st.Run.Name, lines)
		}
		kept = kept || st.Kept
	}
	if len(f.Interrupted.Changing) > 0 {
		p.warn("\nThese were being changed and are in no state; check whether they exist:\n")
	}
	for _, i := range f.Interrupted.Changing {
		doc.Planned = append(doc.Planned, i.String())
		p.warn("  - %s\n", i)
	}
	if kept {
		p.warn("\nThe states are kept in the data directory. To destroy what is left, run: %s test -cleanup\n", cmp.Or(p.Command, "mayfly"))
	}
	for _, s := range p.Streams {
		s.Test("test_interrupt", s.Program()+" was interrupted during test execution, and may not have performed the expected cleanup operations.",
			view.TestMessage{File: f.Name, Interrupt: doc})
	}
}

// Summary writes the counts of all runs. A run that could not be carried out counts as failed for people, and
// as an error in messages. If nothing was run, nothing has failed. The objects left by a second interrupt
// come last, where they are seen.
func (p *Printer) Summary(s suite.Summary) {
	status := s.Verdict
	if status == suite.Pending {
		status = suite.Pass
	}
	text, counts := counted(s)
	colored := text
	if p.Color {
		color := "\x1b[32m"
		if s.Bad() {
			color = "\x1b[31m"
		}
		colored = color + text + "\x1b[0m"
	}
	p.line("\n%s%s\n", colored, counts)
	for _, stream := range p.Streams {
		stream.Test("test_summary", text+counts, view.TestMessage{Summary: &view.TestSummary{
			Status: status.String(), Passed: s.Passed, Failed: s.Failed, Errored: s.Errored, Skipped: s.Skipped,
		}})
	}
	for _, f := range p.abandoned {
		p.interrupted(f)
	}
}

// counted returns how a suite ended, and the counts of its runs.
func counted(s suite.Summary) (text, counts string) {
	text = "Success!"
	if s.Bad() {
		text = "Failure!"
	}
	counts = fmt.Sprintf(" %d passed, %d failed", s.Passed, s.Failed+s.Errored)
	if s.Skipped > 0 {
		counts += fmt.Sprintf(", %d skipped", s.Skipped)
	}
	return text, counts + "."
}

// line writes text for people, if there is to be any. An error is left to the next writer to standard output,
// which gets it too.
func (p *Printer) line(format string, args ...any) {
	if p.Out != nil {
		fmt.Fprintf(p.Out, format, args...)
	}
}

// warn is like line, for objects left behind.
func (p *Printer) warn(format string, args ...any) {
	if p.Err != nil {
		fmt.Fprintf(p.Err, format, args...)
	}
}
