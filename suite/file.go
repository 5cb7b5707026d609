package suite

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
)

// fileRun is the execution of one file.
type fileRun struct {
	*suite
	file *config.TestFile
	fileVars

	apart        bool                            // no run is carried out, so their outputs are unknown
	earlier      map[string]cty.Value            // the outputs of runs, by name; not changed while runs are under way
	providerRefs map[*config.Provider][]lang.Ref // references in provider blocks of the file that runs use

	mu     sync.Mutex  // protects the fields below
	states []*runState // in the order of their first use
}

// runState is a state that runs with the same key share. Runs of one state are never carried out at the
// same time.
type runState struct {
	key     string
	keeper  Keeper
	manager store.Manager
	last    lastRun
	made    made
	// computed has the last run that made the value of each attribute that the state does not keep, by the
	// name of the attribute of the object.
	computed map[string]computedIn
}

// lastRun is the last run that used a state and could be planned: it knows how to destroy the objects in it.
type lastRun struct {
	tree      *config.Tree
	variables mayfly.Variables
	instead   func(addr.ProviderConfig, addr.Instance) provider.Provider
	at        int // its place in the file
}

// file carries out the runs of a file, group by group, and destroys the objects that they made. An error,
// other than a failed assertion, ends the file: later runs mostly build on its result.
func (s *suite) file(f *config.TestFile) *File {
	r := &fileRun{suite: s, file: f, earlier: map[string]cty.Value{}}
	out := newFile(f)
	diags := append(r.fileVariables(), r.checkProviders()...)
	stopped := false
	groups := r.groups(out.Runs)
	for _, group := range groups {
		if stopped = stopped || s.opt.Soft.Err() != nil; stopped {
			break
		}
		if diags.HasErrors() {
			group[0].Verdict, group[0].Diags, stopped = Error, diags, true
			break
		}
		outputs := make([]cty.Value, len(group))
		var wait sync.WaitGroup
		for i, run := range group {
			at := slices.Index(out.Runs, run)
			wait.Go(func() {
				begin := time.Now()
				s.opt.Running(true)
				defer s.opt.Running(false)
				err := bug.Call(func() { outputs[i] = r.run(run, at) })
				if err != nil {
					run.Verdict, run.Diags, outputs[i] = Error, append(run.Diags, diag.Bug("run "+run.Name, err)...), cty.DynamicVal
				}
				run.Duration = time.Since(begin)
			})
		}
		wait.Wait()
		for i, run := range group {
			r.earlier[run.Name] = outputs[i]
			stopped = stopped || run.Verdict == Error
		}
		for _, run := range group {
			r.follow(run.Name)
		}
	}
	if len(groups) > 0 && !diags.HasErrors() { // warnings about the file come with its first run
		first := groups[0][0]
		first.Diags = slices.Concat(diags, r.unused(), first.Diags)
	}
	r.cleanUp(out)
	out.judge()
	return out
}

// groups splits the runs into those that are carried out at the same time. Runs beside each other have
// different states, and none refers to another.
func (r *fileRun) groups(runs []*Run) [][]*Run {
	var out [][]*Run
	var group []*Run
	for _, run := range runs {
		if !r.selects(r.file.Name, run.Name) {
			continue
		}
		fits := len(group) > 0 && run.Parallel && !slices.ContainsFunc(group, func(other *Run) bool {
			return !other.Parallel || stateKey(other.TestRun) == stateKey(run.TestRun) || r.refersTo(run.TestRun, other.Name)
		})
		if !fits {
			out = append(out, nil)
			group = nil
		}
		group = append(group, run)
		out[len(out)-1] = group
	}
	return out
}

// stateKey returns the key of the state of a run: its module's unless it names one.
func stateKey(r *config.TestRun) string {
	switch {
	case r.StateKey != "":
		return "key " + r.StateKey
	case r.Module != nil:
		return "module " + r.Module.Source
	}
	return ""
}

// state returns the state of a run.
func (r *fileRun) state(run *config.TestRun) (*runState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := stateKey(run)
	for _, st := range r.states {
		if st.key == key {
			return st, nil
		}
	}
	st := &runState{key: key}
	var err error
	st.keeper = inMemory{}
	if r.real(run) {
		st.keeper = r.opt.Keeper
	}
	r.keeping.Lock()
	defer r.keeping.Unlock()
	st.manager, err = st.keeper.State(r.file.Name, run)
	r.states = append(r.states, st)
	return st, err
}

// module returns the tree that a run is about.
func (r *fileRun) module(run *config.TestRun) *config.Tree {
	if run.Module == nil {
		return r.opt.Project.Tree
	}
	return r.opt.Module(r.file, run)
}

// cleanUp destroys the objects that the runs have made. The state that was used last goes first, since its
// objects may depend on objects of earlier runs.
func (r *fileRun) cleanUp(out *File) {
	used := slices.DeleteFunc(slices.Clone(r.states), func(st *runState) bool { return st.last.tree == nil })
	slices.SortStableFunc(used, func(a, b *runState) int { return b.last.at - a.last.at })
	for _, st := range used {
		left, diags := r.destroy(st)
		if r.ctx.Err() != nil {
			out.interrupted(st, left)
		}
		out.Left = append(out.Left, left...)
		out.Cleanup = append(out.Cleanup, diags...)
		if len(left) == 0 {
			r.keeping.Lock()
			st.keeper.Done(st.manager)
			r.keeping.Unlock()
		}
	}
}

// interrupted notes the objects that an interrupt leaves in a state.
func (f *File) interrupted(st *runState, left []addr.Object) {
	if f.Interrupted == nil {
		f.Interrupted = &Interrupted{}
	}
	run := f.Runs[st.last.at]
	if len(left) > 0 {
		_, memory := st.keeper.(inMemory)
		f.Interrupted.States = append(f.Interrupted.States, LeftIn{Run: run.TestRun, Objects: left, Kept: !memory})
	}
	for _, i := range run.changing {
		if !slices.ContainsFunc(left, func(o addr.Object) bool { return o.Instance == i }) {
			f.Interrupted.Changing = append(f.Interrupted.Changing, i)
		}
	}
}

// destroy destroys the objects in a state and returns those that are left. The assertions of the last run
// are taken out of the tree, because they are not about a destruction.
func (r *fileRun) destroy(st *runState) (left []addr.Object, diags diag.List) {
	for name, c := range st.last.tree.Root.Checks {
		if c.Test {
			delete(st.last.tree.Root.Checks, name)
		}
	}
	project := r.opt.Project.Beside(mayfly.BesideOptions{Tree: st.last.tree, Store: st.manager, Instead: st.last.instead})
	op, diags := project.Begin(context.WithoutCancel(r.ctx), "test", mayfly.BeginOptions{Locking: store.Locking{NoLock: true}})
	if diags.HasErrors() {
		return nil, diags
	}
	defer func() { diags = append(diags, op.End()...) }()
	if len(op.State().Managed()) == 0 {
		return nil, nil
	}
	if r.ctx.Err() == nil {
		planned, ds := op.Plan(r.ctx, mayfly.PlanOptions{Mode: plan.Destroy, Variables: st.last.variables})
		if diags = append(diags, ds...); !ds.HasErrors() {
			_, ds = op.Apply(r.ctx, planned, mayfly.ApplyOptions{Variables: st.last.variables})
			diags = append(diags, ds...)
		}
	}
	left = op.State().Managed()
	if !diags.HasErrors() && len(left) == 0 {
		diags = nil // warnings about destroyed objects are of no use
	}
	return left, diags
}
