// Package suite runs test files: plans and applies of modules in states of their own, with assertions about
// the results, and destroys everything at the end.
//
// A run is an operation of the library on a copy of the module's tree that has a few blocks more and others
// replaced: the assertions, provider blocks of the test file, variables with the outputs of earlier runs,
// modules that are overridden. Package provider/mock answers for mocked providers. So the engine treats a run
// like any operation, and ephemeral values in it too.
//
// It prints nothing: results are reported file by file.
package suite

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Verdict is the outcome of a run, a file or a suite. A greater one is worse.
type Verdict uint8

// The verdicts.
const (
	Pending Verdict = iota
	Skip
	Pass
	Fail  // an assertion is not met, or an expected failure did not come
	Error // the run could not be carried out
)

// String returns the word that tools know.
func (v Verdict) String() string { return [...]string{"pending", "skip", "pass", "fail", "error"}[v] }

// Run is the outcome of one run. Its fields are set once the run has ended.
type Run struct {
	*config.TestRun
	Verdict  Verdict
	Diags    diag.List
	Duration time.Duration
	Repeated bool // a run reported before has the same Diags

	Tree  *config.Tree // the module; nil if it could not be loaded
	Plan  *plan.Plan   // of a run that only plans
	State *state.State // of one that applies

	changing []addr.Instance // to be changed when the apply was given up
}

// File is the outcome of one file. Runs has every run of the file, with the verdict Skip if it was not
// selected or not reached.
type File struct {
	*config.TestFile
	Verdict Verdict
	Runs    []*Run
	Cleanup diag.List     // errors of destroying
	Left    []addr.Object // objects that could not be destroyed
	// Interrupted lists the objects left if a second interrupt gave up work under way; nil otherwise.
	Interrupted *Interrupted
}

// newFile returns the outcome of a file of which nothing has been carried out yet.
func newFile(f *config.TestFile) *File {
	out := &File{TestFile: f, Verdict: Pass}
	for _, run := range f.Runs {
		out.Runs = append(out.Runs, &Run{TestRun: run, Verdict: Skip})
	}
	return out
}

// judge decides about the file: it is as bad as the worst of its runs.
func (f *File) judge() {
	for _, run := range f.Runs {
		f.Verdict = max(f.Verdict, run.Verdict)
	}
	if f.Cleanup.HasErrors() {
		f.Verdict = Error
	}
}

// Interrupted lists the objects that a file leaves when it is given up.
type Interrupted struct {
	States []LeftIn
	// Changing are the addresses of objects that were being changed and are not in a state: whether they
	// exist is not known.
	Changing []addr.Instance
}

// LeftIn lists the objects left in the state that a run has used.
type LeftIn struct {
	Run     *config.TestRun // the last one to use the state
	Objects []addr.Object
	Kept    bool // the state is kept and can be cleaned up later
}

// Summary counts the runs of a suite by their verdicts.
type Summary struct {
	Verdict                          Verdict
	Passed, Failed, Errored, Skipped int
}

// Bad reports whether something failed.
func (s Summary) Bad() bool { return s.Verdict >= Fail }

// add counts the runs of a file.
func (s *Summary) add(f *File) {
	s.Verdict = max(s.Verdict, f.Verdict)
	for _, r := range f.Runs {
		switch r.Verdict {
		case Pass:
			s.Passed++
		case Fail:
			s.Failed++
		case Error:
			s.Errored++
		default:
			s.Skipped++
		}
	}
}
