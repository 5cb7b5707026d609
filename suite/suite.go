package suite

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
)

// Options say which files to run, and how.
type Options struct {
	// Project has the module under test, which may have ephemeral outputs. All runs share its providers.
	Project *mayfly.Project
	Files   []*config.TestFile
	// Module returns the module of a run that has one of its own.
	Module func(*config.TestFile, *config.TestRun) *config.Tree
	// Given returns the value that a variable has from outside of the test files, cty.NilVal for none, and
	// GivenNames are the names of all such variables.
	Given      func(*config.Variable) (cty.Value, diag.List)
	GivenNames []string
	// Selects reports whether a run is carried out; nil for all.
	Selects func(file, run string) bool
	// Report is called with the outcome of each file, in the order of the files.
	Report func(*File)
	// Running is called when a run begins and when it ends, by several goroutines; nil for not at all.
	Running func(begins bool)
	// FilesAtOnce is how many files are run at the same time; one if zero.
	FilesAtOnce int
	// Soft ends on the first interrupt: work under way is finished, nothing new starts, and everything is
	// destroyed.
	Soft context.Context
	// Coverage notes the points of the modules that runs exercise; nil for none.
	Coverage *coverage.Set
	// Keeper keeps the states of runs until they are destroyed; nil for memory alone.
	Keeper Keeper
}

// Execute runs the files. When ctx ends, operations are abandoned and nothing more is destroyed. Files are
// reported in order, each as soon as it and those before it are done.
func Execute(ctx context.Context, opt Options) Summary {
	s := &suite{opt: opt, ctx: ctx}
	if s.opt.Soft == nil {
		s.opt.Soft = ctx
	}
	if s.opt.Running == nil {
		s.opt.Running = func(bool) {}
	}
	if s.opt.Keeper == nil {
		s.opt.Keeper = inMemory{}
	}
	done := make([]chan *File, len(opt.Files))
	slots := make(chan struct{}, max(1, opt.FilesAtOnce))
	var group sync.WaitGroup
	for i, f := range opt.Files {
		done[i] = make(chan *File, 1)
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			out := &File{TestFile: f, Verdict: Error}
			err := bug.Call(func() { out = s.file(f) })
			if err != nil {
				out.Cleanup = diag.Bug(f.Name, err)
			}
			done[i] <- out
		})
		if cap(slots) == 1 {
			group.Wait()
		}
		s.report(done[:i+1])
	}
	group.Wait()
	s.report(done)
	return s.summary
}

// NotStarted reports the files as Execute does if nothing can be carried out: the first selected run of each
// has failed for the reasons given, and all others are skipped.
func NotStarted(opt Options, reasons diag.List) Summary {
	s := &suite{opt: opt}
	for i, f := range opt.Files {
		out := newFile(f)
		for _, r := range out.Runs {
			if s.selects(f.Name, r.Name) {
				r.Verdict, r.Diags, r.Repeated = Error, reasons, i > 0
				break
			}
		}
		out.judge()
		s.summary.add(out)
		opt.Report(out)
	}
	return s.summary
}

// suite is one Execute.
type suite struct {
	opt      Options
	ctx      context.Context
	keeping  sync.Mutex // protects the Keeper
	accepted accepted
	checked  sync.Map // of *config.Tree: errors in modules as they are, each found once
	reported int
	summary  Summary
}

// report reports the files that are done, up to the first that is not.
func (s *suite) report(done []chan *File) {
	for s.reported < len(done) {
		select {
		case f := <-done[s.reported]:
			s.reported++
			s.summary.add(f)
			s.opt.Report(f)
		default:
			return
		}
	}
}

// check returns the errors in a module as it is, without additions by tests.
func (s *suite) check(tree *config.Tree) diag.List {
	once, _ := s.checked.LoadOrStore(tree, sync.OnceValue(func() diag.List {
		return s.opt.Project.Beside(mayfly.BesideOptions{Tree: tree}).Check(s.ctx)
	}))
	return once.(func() diag.List)()
}

// selects reports whether a run is carried out.
func (s *suite) selects(file, run string) bool {
	return s.opt.Selects == nil || s.opt.Selects(file, run)
}

// CountRuns returns how many runs of the files are selected.
func CountRuns(files []*config.TestFile, selects func(file, run string) bool) int {
	n := 0
	for _, file := range files {
		for _, r := range file.Runs {
			if selects(file.Name, r.Name) {
				n++
			}
		}
	}
	return n
}
