package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// usesExcluded reports whether the instance or its destroy-time provisioners may use, directly or through
// others, an ephemeral instance that -exclude names.
func (p *planner) usesExcluded(t *future.Task, in *eval.Instance) bool {
	if !p.selection.Excluding() {
		return false
	}
	uses := in.Uses(t)
	if d := p.run.DestroyProvisioners(in.Addr()); d != nil {
		uses = append(uses, d.Uses(t)...)
	}
	return p.leadsToExcluded(t, uses)
}

// leadsToExcluded walks the uses reachable from queue until it finds an ephemeral instance that -exclude
// names. seen bounds the walk: many uses lead to the same upstream instance.
func (p *planner) leadsToExcluded(t *future.Task, queue []eval.Use) bool {
	seen := map[eval.Use]struct{}{}
	for len(queue) > 0 {
		u := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, ok := seen[u]; ok {
			continue
		}
		seen[u] = struct{}{}
		if u.Kind == eval.UseInstance && p.selection.LeavesOut(u.Instance) {
			return true
		}
		queue = append(queue, p.run.UsesOf(t, u)...)
	}
	return false
}

// warnUnmatched reports addresses to plan alone, to leave out and to replace that match nothing.
func (p *planner) warnUnmatched() {
	if p.run.Diags.HasErrors() {
		return
	}
	if p.selection.Restricted() {
		p.run.Report(p.selection.Unmatched(p.req.Config.Tree, p.known, p.called, p.req.Places))
	}
	if !p.run.Diags.HasErrors() { // else the plan may lack the very target of -target
		p.run.Report(selection.UnmatchedReplace(p.req.Config.Tree, p.plan, p.req.Places.Replace))
		p.run.Report(selection.UnmatchedAssumed(p.plan, p.req.AssumeUnchanged))
	}
}

// known yields the declared instances, as far as planning has found them, and the instances in the state,
// also under their earlier addresses.
func (p *planner) known(yield func(addr.Instance) bool) {
	for a := range p.desired {
		if !yield(a) {
			return
		}
	}
	for _, st := range []*state.State{p.req.State, p.prior} {
		for a := range st.AllInstances() {
			if !yield(a) {
				return
			}
		}
	}
}

// include marks the instance as part of this plan.
func (p *planner) include(a addr.Instance) {
	if !p.selection.Restricted() {
		return // all are
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.included[a] = struct{}{}
}

// planned reports whether the instance is part of this restricted plan. An object in the state alone does
// not make it so.
func (p *planner) planned(a addr.Instance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.included[a]
	return ok
}

// excluded reports whether -exclude leaves the instance out, either by its address or through a dependency
// that is left out.
func (p *planner) excluded(a addr.Instance, deps []plan.Dep) bool {
	if !p.selection.Excluding() {
		return false
	}
	if p.selection.LeavesOutAny(a, deps) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(deps, p.left.Touched)
}

// leave marks an instance as left alone by -exclude.
func (p *planner) leave(a addr.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left.Add(a)
}

// adviseExclude completes errors about blocks whose instances are unknown: the last one gets a command that
// applies everything else first. The command names all of these blocks, because a plan fails as long as one
// remains; their dependents are left out with them. If there are such errors, the result is sorted.
func (p *planner) adviseExclude(diags diag.List) diag.List {
	sorted := diags.Sorted()
	var blocks []string
	last := 0
	for i, d := range sorted {
		if unknown, ok := d.Extra.(diag.Unknown); ok && unknown.Exclude != "" {
			blocks, last = append(blocks, unknown.Exclude), i
		}
	}
	if len(blocks) == 0 {
		return diags
	}
	these := "this"
	if len(blocks) > 1 {
		these = "these"
	}
	command := "mayfly apply"
	for _, b := range blocks {
		command += " -exclude=" + diag.Argument(b)
	}
	for _, given := range p.req.Excludes {
		command += " -exclude=" + diag.Argument(given.String())
	}
	sorted[last].Detail += "\n\nTo create everything else first, then " + these + ", run:\n  " + command + "\n  mayfly apply"
	return sorted
}
