package engine

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// restriction says which objects a plan restricted by -target or -exclude is about.
type restriction struct {
	*walk
	planner *planner
	kept    []keptInstance // if there is an -exclude; protected by planner.mu
}

// keptInstance is an instance that -exclude does not leave out, as far as is known when it is planned.
type keptInstance struct {
	*eval.Instance
	deps []plan.Dep
}

// excludes reports whether -exclude leaves out the instance, or something that it or its actions need, as far
// as that is known: extend finds the rest.
func (re *restriction) excludes(t *future.Task, in *eval.Instance, deps []plan.Dep) bool {
	if !re.planner.selection.Excluding() {
		return false
	}
	if _, found := re.planner.deferral.attempts.left[in.Addr()]; found || re.excluded(in.Addr(), deps) || re.excluded(in.Addr(), eval.NeededToAct(t, in)) || re.usesExcluded(t, in) || re.importsExcluded(t, in) {
		return true
	}
	re.planner.mu.Lock()
	defer re.planner.mu.Unlock()
	re.kept = append(re.kept, keptInstance{in, deps})
	return false
}

// extend has another attempt leave out the instances whose actions need something that is left out, and all
// that depends on them or acts on them in turn. An instance is planned before its actions, which may refer to
// it. It returns true if there are any.
func (re *restriction) extend() (again bool) {
	var found []addr.Instance
	for _, in := range re.kept {
		if re.excluded(in.Addr(), eval.NeededToAct(&future.Task{}, in.Instance)) {
			found = append(found, in.Addr())
		}
	}
	if len(found) == 0 {
		return false
	}
	var others deferral.Dependents
	for _, in := range re.kept {
		others.Add(in.Addr(), slices.Concat(in.deps, eval.NeededToAct(&future.Task{}, in.Instance)))
	}
	maps.Copy(re.planner.deferral.attempts.left, others.Take(found))
	return true
}

// importsExcluded reports whether something that -exclude leaves out decides which object is imported. An
// import block is used up once the state has the object.
func (re *restriction) importsExcluded(t *future.Task, in *eval.Instance) bool {
	im, ok := re.planner.imports.targetOf(t, in)
	if !ok || im == nil {
		return false
	}
	re.planner.mu.Lock()
	stored := re.planner.prior.Object(addr.Object{Instance: in.Addr()}) != nil
	re.planner.mu.Unlock()
	return !stored && re.excluded(in.Addr(), im.Deps)
}

// usesExcluded reports whether the instance or its destroy-time provisioners may use, directly or through
// others, an ephemeral instance that -exclude names.
func (re *restriction) usesExcluded(t *future.Task, in *eval.Instance) bool {
	if !re.planner.selection.Excluding() {
		return false
	}
	uses := in.Uses(t)
	if d := re.run.DestroyProvisioners(in.Addr()); d != nil {
		uses = append(uses, d.Uses(t)...)
	}
	return re.leadsToExcluded(t, uses)
}

// leadsToExcluded walks the uses reachable from queue until it finds an ephemeral instance that -exclude
// names. seen bounds the walk: many uses lead to the same upstream instance.
func (re *restriction) leadsToExcluded(t *future.Task, queue []eval.Use) bool {
	seen := map[eval.Use]struct{}{}
	for len(queue) > 0 {
		u := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, ok := seen[u]; ok {
			continue
		}
		seen[u] = struct{}{}
		if u.Kind == eval.UseInstance && re.planner.selection.LeavesOut(u.Instance) {
			return true
		}
		queue = append(queue, re.run.UsesOf(t, u)...)
	}
	return false
}

// warnUnmatched reports addresses to plan alone, to leave out, to replace and to refresh that match nothing.
func (re *restriction) warnUnmatched() {
	if re.run.Diags.HasErrors() {
		return
	}
	if re.planner.selection.Restricted() {
		re.planner.req.Part.LookBeside(re.known)
		wrong := re.planner.selection.Unmatched(re.planner.req.Config.Tree, re.known, re.planner.called, re.planner.req.Places)
		re.planner.req.Part.LookAll(len(wrong) > 0) // it may suggest any object of the state
		re.run.Report(wrong)
	}
	if !re.run.Diags.HasErrors() { // else the plan may lack the very target of -target
		re.run.Report(selection.UnmatchedReplace(re.planner.req.Config.Tree, re.planner.plan, re.planner.req.Places.Replace, re.planner.req.Memory != nil))
		re.run.Report(selection.UnmatchedAssumed(re.planner.plan, re.planner.req.AssumeUnchanged))
		re.run.Report(selection.Unrefreshed(re.planner.req.Config.Tree, re.planner.req.Changed.Missing(re.planner.req.State)))
	}
}

// known yields the declared instances, as far as planning has found them, blocks whose instances it could not
// find, and the instances in the state, also under their earlier addresses.
func (re *restriction) known(yield func(addr.Instance) bool) {
	for _, d := range re.planner.plan.Deferrals {
		if d.Change.Addr.Unkeyed() && !yield(d.Change.Addr) {
			return
		}
	}
	for _, r := range re.planner.desired {
		instances, _ := r.Instances(&future.Task{})
		for _, in := range instances {
			if !yield(in.Addr()) {
				return
			}
		}
	}
	for _, st := range []*state.State{re.planner.req.State, re.planner.prior} {
		for a := range st.AllInstances() {
			if !yield(a) {
				return
			}
		}
	}
}

// include marks the instance as part of this plan.
func (re *restriction) include(a addr.Instance) {
	if !re.planner.selection.Restricted() {
		return // all are
	}
	re.planner.mu.Lock()
	defer re.planner.mu.Unlock()
	re.planner.included[a] = struct{}{}
}

// planned reports whether the instance is part of this restricted plan. An object in the state alone does
// not make it so.
func (re *restriction) planned(a addr.Instance) bool {
	re.planner.mu.Lock()
	defer re.planner.mu.Unlock()
	_, ok := re.planner.included[a]
	return ok
}

// excluded reports whether -exclude leaves the instance out, either by its address or through a dependency
// that is left out.
func (re *restriction) excluded(a addr.Instance, deps []plan.Dep) bool {
	if !re.planner.selection.Excluding() {
		return false
	}
	if re.planner.selection.LeavesOutAny(a, deps) {
		return true
	}
	re.planner.mu.Lock()
	defer re.planner.mu.Unlock()
	return slices.ContainsFunc(deps, func(d plan.Dep) bool {
		return re.planner.left.Touched(d) || !d.All && re.planner.left.Touched(plan.Dep{Resource: d.Resource, Key: addr.AnyKey})
	})
}

// leavesOutAll reports whether -exclude leaves out all instances of a resource or module call. Which there
// are depends on needs.
func (re *restriction) leavesOutAll(of addr.Target, needs []plan.Dep) bool {
	return re.planner.selection.LeavesOutAll(of) || re.excluded(addr.Instance{Module: of.Module}, needs)
}

// leave marks an instance as left alone by -exclude.
func (re *restriction) leave(a addr.Instance) {
	re.planner.mu.Lock()
	defer re.planner.mu.Unlock()
	re.planner.left.Add(a)
}
