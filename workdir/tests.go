package workdir

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install/modules"
)

// TestFiles reads the test files of the working directory and of another one. Sources has their texts.
func (d *Dir) TestFiles(ctx context.Context, dir string) ([]*config.TestFile, diag.List) {
	l := d.loader(ctx)
	var out []*config.TestFile
	var diags diag.List
	sources := map[string][]byte{}
	for _, name := range l.TestFileNames(".", dir) {
		f, ds := l.LoadTestFile(name, sources)
		out, diags = append(out, f), append(diags, ds...)
	}
	if d.tree != nil {
		maps.Copy(d.tree.Sources, sources)
	}
	return out, diags
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

// TestModule loads the module that a run of a test file has as its own, and those that it calls.
func (d *Dir) TestModule(ctx context.Context, f *config.TestFile, run *config.TestRun) (*config.Tree, diag.List) {
	installed, at := modules.Installed(d.dataDir), testPath(f)
	dir := path.Clean(run.Module.Source)
	if !run.Module.Local() {
		var diags diag.List
		if dir, diags = installed(&config.Module{Path: at}, run.Module); diags.HasErrors() {
			return nil, diags
		}
	}
	l := d.loader(ctx)
	l.ModuleDir = func(parent *config.Module, call *config.ModuleCall) (string, diag.List) {
		path := at.Child(run.Name)
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
// names, and what gives the value of one of them, cty.NilVal for others. names are those of the variables of
// test files and their modules, besides those of the root module.
func (d *Dir) Outside(names []string) ([]string, func(*config.Variable) (cty.Value, diag.List), diag.List) {
	all := &config.Module{Variables: maps.Clone(d.tree.Root.Variables)}
	for _, name := range names {
		if all.Variables[name] == nil {
			all.Variables[name] = &config.Variable{Name: name, Type: cty.DynamicPseudoType, Constraint: cty.DynamicPseudoType, Nullable: true, ParseLiteral: true}
		}
	}
	in, diags := d.gather(all)
	return slices.Sorted(maps.Keys(in.candidates)), func(v *config.Variable) (cty.Value, diag.List) {
		if c := in.candidates[v.Name]; c != nil {
			return c(v)
		}
		return cty.NilVal, nil
	}, diags
}

// OpenTests opens the loaded configuration for tests, with the providers that it needs and those that other
// trees do. The session must be closed also if there were errors.
func (d *Dir) OpenTests(ctx context.Context, trees []*config.Tree, opt SessionOptions) (*Session, diag.List) {
	s, diags := d.Open(ctx, nil, opt)
	if diags.HasErrors() {
		return s, diags
	}
	for _, tree := range trees {
		sel, ds := d.installed(tree, nil)
		if diags = append(diags, ds...); ds.HasErrors() {
			return s, diags
		}
		maps.Copy(s.packages, sel)
	}
	return s, diags
}
