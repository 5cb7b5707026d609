package suite

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Keeper keeps the states of runs until everything in them is destroyed. Its methods are not called
// concurrently.
type Keeper interface {
	// State returns a new state for a run of a file, and those that share it.
	State(file string, run *config.TestRun) (store.Manager, error)
	// Using is called before a run changes objects in a state.
	Using(ctx context.Context, m store.Manager, file, run string) error
	// Done is called when everything in a state has been destroyed.
	Done(m store.Manager)
}

// inMemory is a Keeper that leaves nothing behind.
type inMemory struct{}

// State implements Keeper.
func (inMemory) State(string, *config.TestRun) (store.Manager, error) {
	return inmem.New().Manager(store.DefaultWorkspace)
}

// Using implements Keeper.
func (inMemory) Using(context.Context, store.Manager, string, string) error { return nil }

// Done implements Keeper.
func (inMemory) Done(store.Manager) {}

// real reports whether runs with the state of the given one can make objects that exist outside of the
// process: some managed resource has a provider that is not mocked. States without such objects need no
// file, whose loss would matter.
func (r *fileRun) real(run *config.TestRun) bool {
	return slices.ContainsFunc(r.file.Runs, func(other *config.TestRun) bool {
		return stateKey(other) == stateKey(run) && r.hasReal(r.module(other), other)
	})
}

// hasReal is real for one run.
func (r *fileRun) hasReal(tree *config.Tree, run *config.TestRun) bool {
	mocked := map[config.ProviderRef]bool{}
	for _, p := range r.passed(tree, run) {
		mocked[named(p.InChild)] = r.file.Mocks[p.InParent.String()] != nil
	}
	for _, m := range tree.Modules {
		for _, res := range m.Order {
			ref := res.ProviderRef()
			outside := m.ProviderFor(ref.Name) != addr.BuiltinProvider && !mocked[inRoot(m, ref)]
			if res.Addr.Mode == addr.Managed && (outside || len(res.Provisioners) > 0) {
				return true
			}
		}
	}
	return false
}

// inRoot returns the configuration of the root module that a reference in a module means, and no name if that
// is not certain: a module may have a configuration of its own, and know the provider by another name.
func inRoot(m *config.Module, ref config.ProviderRef) config.ProviderRef {
	for ; m.Parent != nil; m = m.Parent {
		switch passed := m.Passed(ref); {
		case passed != nil:
			ref = *passed
		case m.Providers[ref.String()] != nil || m.ProviderFor(ref.Name) != m.Parent.ProviderFor(ref.Name):
			return config.ProviderRef{}
		}
	}
	return named(ref)
}

// named returns a reference without its position.
func named(ref config.ProviderRef) config.ProviderRef {
	return config.ProviderRef{Name: ref.Name, Alias: ref.Alias}
}

// Left is a state that an earlier process left behind.
type Left struct {
	File, Run string // the file and the ID of the run that used it last
	Manager   store.Manager
}

// CleanUp destroys the objects in states that were left, and returns the objects that could not be destroyed.
// Outputs of runs are not known any more. It is for states that a killed process left.
func CleanUp(ctx context.Context, opt Options, left []Left) ([]addr.Object, diag.List) {
	var objects []addr.Object
	var diags diag.List
	for _, l := range left {
		r, run := find(ctx, opt, l)
		if run == nil {
			diags = append(diags, diag.Errorf("Test run not found", "An earlier test left objects behind, and the run %q of %s, which made them, is not there any more. The state with them is kept in the data directory.", l.Run, l.File)...)
			continue
		}
		ds := r.fileVariables()
		tree, vars, stand, more := r.configured(run)
		if ds = append(ds, more...); ds.HasErrors() {
			diags = append(diags, ds...)
			continue
		}
		kept, ds := r.destroy(&runState{manager: l.Manager, last: lastRun{tree: tree, variables: vars, instead: stand.destroying}})
		if diags, objects = append(diags, ds...), append(objects, kept...); len(kept) == 0 && !ds.HasErrors() {
			opt.Keeper.Done(l.Manager)
		}
	}
	return objects, diags
}

// find returns the run that a state was left by, nil if there is none.
func find(ctx context.Context, opt Options, l Left) (*fileRun, *config.TestRun) {
	for _, f := range opt.Files {
		r := &fileRun{suite: &suite{opt: opt, ctx: ctx}, file: f, apart: true, earlier: map[string]cty.Value{}}
		for _, run := range f.Runs {
			if f.Name == l.File && run.ID() == l.Run {
				return r, run
			}
			r.earlier[run.Name] = cty.DynamicVal
		}
	}
	return nil, nil
}
