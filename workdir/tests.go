package workdir

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/modules"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/state/store"
)

// DefaultTests is the directory of test files if no other is named. It need not exist.
const DefaultTests = "tests"

// TestFiles reads the test files of the working directory and of another one, "" for none. Sources has their
// texts.
func (d *Dir) TestFiles(ctx context.Context, dir string) ([]*config.TestFile, diag.List) {
	l := d.loader(ctx)
	var out []*config.TestFile
	sources := map[string][]byte{}
	dir = cmp.Or(dir, ".")
	names, diags := l.TestFileNames(".", dir)
	diags = append(diags, checkPlace(dir)...)
	for _, name := range names {
		f, ds := l.LoadTestFile(name, sources)
		out, diags = append(out, f), append(diags, ds...)
	}
	if d.tree != nil {
		maps.Copy(d.tree.Sources, sources)
	}
	return out, diags
}

// checkPlace warns about a directory of tests that is not there, or that other engines do not find.
func checkPlace(dir string) diag.List {
	_, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir != DefaultTests:
		return diag.Warnf("Test directory does not exist", "There is no directory %s, which -test-directory names. Only the test files of the working directory are known.", dir)
	case filepath.IsAbs(dir):
		return diag.Warnf("Absolute test directory", "-test-directory names %s by its whole path. Its test files are read, but other engines look for it below the working directory and find none. Give the path from the working directory.", dir)
	}
	return nil
}

// testPath returns the place of a run's module among the installed modules.
func testPath(f *config.TestFile) addr.Module {
	p := addr.RootModule.Child("test")
	base, _, _ := strings.Cut(path.Base(f.Name), ".")
	for _, dir := range strings.Split(path.Dir(f.Name), "/") {
		if dir != "." {
			p = p.Child(dir)
		}
	}
	return p.Child(base)
}

// testModule loads the module that a run of a test file has as its own, and those that it calls.
func (d *Dir) testModule(ctx context.Context, f *config.TestFile, run *config.TestRun) (*mayfly.Tree, diag.List) {
	installed, at := modules.Installed(d.files.dataDir), testPath(f)
	dir := path.Clean(run.Module.Source)
	if !run.Module.Local() {
		var diags diag.List
		if dir, diags = installed(&config.Module{Path: at}, run.Module); diags.HasErrors() {
			return nil, diags
		}
	}
	l := d.loader(ctx)
	l.ModuleDir = func(parent *config.Module, call *config.ModuleCall) (string, diag.List) {
		path := at.Child(run.ID())
		for _, name := range parent.Path.Calls() {
			path = path.Child(name)
		}
		return installed(&config.Module{Path: path}, call)
	}
	tree, diags := l.Load(dir)
	maps.Copy(d.tree.Sources, tree.Sources)
	return tree, diags
}

// Outside returns the values that the environment, files and options give to variables, for tests: their
// names, and a function that gives the value of one of them, cty.NilVal for others. Files in the directory of
// the tests have precedence over files beside the module. The environment is asked for the variables of the
// module, of the tests and of their modules; everything else may give any variable.
func (t *Tests) Outside() ([]string, func(*config.Variable) (cty.Value, diag.List), diag.List) {
	all := &config.Module{Variables: maps.Clone(t.dir.tree.Root.Variables)}
	for _, name := range t.Names {
		if all.Variables[name] == nil {
			all.Variables[name] = &config.Variable{Name: name, Type: cty.DynamicPseudoType, Constraint: cty.DynamicPseudoType, Nullable: true, ParseLiteral: true}
		}
	}
	dirs := []string{"."}
	if t.Dir != "" && path.Clean(t.Dir) != "." {
		dirs = append(dirs, t.Dir)
	}
	in, diags := t.dir.Variables.gatherFrom(all, dirs, true)
	return slices.Sorted(maps.Keys(in.candidates)), func(v *config.Variable) (cty.Value, diag.List) {
		if c := in.candidates[v.Name]; c != nil {
			return c(v)
		}
		return cty.NilVal, nil
	}, diags
}

// Tests are the test files of a working directory, with their modules and variables. LoadTests makes them;
// the zero value has no files, and is for OpenTests only.
type Tests struct {
	Dir   string // besides the working directory
	dir   *Dir   // whose they are
	Files []*config.TestFile
	trees map[string]*config.Tree // the modules of runs
	Names []string                // of variables in test files and in modules of runs
}

// Module returns the tree of the module that a run has as its own.
func (t *Tests) Module(f *config.TestFile, run *config.TestRun) *mayfly.Tree {
	return t.trees[moduleKey(f, run)]
}

func moduleKey(f *config.TestFile, run *config.TestRun) string {
	return f.Name + "\n" + run.Module.Source
}

// LoadTests reads the test files of the working directory and of another one that are selected, and the
// modules of their runs. The configuration must be loaded.
func (d *Dir) LoadTests(ctx context.Context, dir string, selects func(file string) bool) (*Tests, diag.List) {
	files, diags := d.TestFiles(ctx, dir)
	t := &Tests{Dir: dir, dir: d, trees: map[string]*config.Tree{}}
	names := map[string]struct{}{}
	for _, f := range files {
		if selects != nil && !selects(f.Name) {
			continue
		}
		t.Files = append(t.Files, f)
		for name := range f.Variables {
			names[name] = struct{}{}
		}
		for _, run := range f.Runs {
			for name := range run.Variables {
				names[name] = struct{}{}
			}
			if run.Module == nil || t.Module(f, run) != nil {
				continue
			}
			tree, ds := d.testModule(ctx, f, run)
			if diags = append(diags, ds...); tree == nil {
				continue
			}
			t.trees[moduleKey(f, run)] = tree
			for name := range tree.Root.Variables {
				names[name] = struct{}{}
			}
		}
	}
	t.Names = slices.Sorted(maps.Keys(names))
	if !diags.HasErrors() {
		for _, f := range t.Files {
			diags = append(diags, f.CheckProviders(func(run *config.TestRun) *config.Module {
				if run.Module == nil {
					return d.tree.Root
				}
				return t.Module(f, run).Root
			})...)
		}
	}
	return t, diags
}

// Dirs returns the directories whose files matter to a test file: of the modules of its runs, unless
// installed from elsewhere, and of its mocks.
func (t *Tests) Dirs(f *config.TestFile) map[string]struct{} {
	out := map[string]struct{}{}
	for _, run := range f.Runs {
		tree := t.dir.tree
		if run.Module != nil {
			tree = t.Module(f, run)
		}
		for _, m := range tree.Modules {
			if !strings.HasPrefix(m.Dir, t.dir.files.dataDir+"/") {
				out[m.Dir] = struct{}{}
			}
		}
	}
	for _, m := range f.Mocks {
		if m.Source != "" {
			out[path.Clean(m.Source)] = struct{}{}
		}
	}
	return out
}

// together returns a tree of all that the module and its tests need.
func (t *Tests) together(tree *config.Tree) *config.Tree {
	var runs []*config.Tree
	for _, key := range slices.Sorted(maps.Keys(t.trees)) {
		runs = append(runs, t.trees[key])
	}
	return tree.Together(runs, t.Files)
}

// OpenTests opens the loaded configuration for tests, with all providers that they need. The session must be
// closed also if there were errors.
func (d *Dir) OpenTests(ctx context.Context, t *Tests, opt SessionOptions) (*Session, diag.List) {
	s, diags := d.open(ctx, d.tree, place{workspace: store.DefaultWorkspace}, opt)
	if diags.HasErrors() {
		return s, diags
	}
	sel, ds := d.Packages.installed(t.together(d.tree), nil)
	s.packages, s.launcher.Reattach = sel, d.Packages.running
	return s, append(diags, ds...)
}

// testCalls returns the calls by which the modules of runs are installed, by their keys in the manifest.
// Other engines use the same keys.
func testCalls(files []*config.TestFile) map[string]*config.ModuleCall {
	out := map[string]*config.ModuleCall{}
	for _, f := range files {
		for _, run := range f.Runs {
			if run.Module == nil {
				continue
			}
			call := *run.Module
			call.Name = strings.Join(testPath(f).Child(run.ID()).Calls(), ".")
			out[call.Name] = &call
		}
	}
	return out
}
