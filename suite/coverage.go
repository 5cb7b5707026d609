package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
)

// NewCoverage returns an empty set of points of the modules that a suite tests: the module under test,
// modules of runs that are not kept with the test files, and local modules that these call.
func NewCoverage(opt Options) *coverage.Set {
	dirs := map[string]struct{}{}
	addLocal(dirs, opt.Project.Tree.Root)
	for _, f := range opt.Files {
		for _, run := range f.Runs {
			if run.Module == nil || !run.Module.Local() || besideTests(f, run) {
				continue
			}
			if tree := opt.Module(f, run); tree != nil {
				addLocal(dirs, tree.Root)
			}
		}
	}
	return coverage.New(dirs)
}

// addLocal adds the directories of a module and of modules that it calls by local paths.
func addLocal(dirs map[string]struct{}, m *config.Module) {
	dirs[m.Dir] = struct{}{}
	for name, child := range m.Children {
		if m.Calls[name].Local() {
			addLocal(dirs, child)
		}
	}
}

// besideTests reports whether the module of a run is below the directory of its test file. Unless this is the
// working directory itself, such a module helps the tests.
func besideTests(f *config.TestFile, run *config.TestRun) bool {
	dir := path.Dir(f.Name)
	return dir != "." && strings.HasPrefix(path.Clean(run.Module.Source)+"/", dir+"/")
}

// cover notes the objects that a run has applied, and the outputs of earlier runs that it read.
func (r *fileRun) cover(out *Run) {
	if r.opt.Coverage == nil {
		return
	}
	if out.State != nil {
		for at := range out.State.Resources {
			if m := out.Tree.Modules[at.Module.Module()]; m != nil && m.Resources[at.Resource] != nil {
				r.opt.Coverage.Note(coverage.Resource, m.Resources[at.Resource].Range, coverage.Applied)
			}
		}
	}
	for _, ref := range earlierRefs(out.TestRun) {
		at := slices.IndexFunc(r.file.Runs, func(run *config.TestRun) bool { return run.Name == ref.Name })
		if at < 0 {
			continue
		}
		for name, o := range r.module(r.file.Runs[at]).Root.Outputs {
			if len(ref.Rest) == 0 || addr.StepName(ref.Rest[0]) == name {
				r.opt.Coverage.Note(coverage.Output, o.Range, coverage.Read)
			}
		}
	}
}
