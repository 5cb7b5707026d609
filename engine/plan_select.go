package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/selection"
	"github.com/mayfly-iac/mayfly/state"
)

// selectOrphans returns those of the objects to be destroyed that -target and -exclude ask for.
func (p *planner) selectOrphans(found []orphan) []orphan {
	if !p.selection.Restricted() {
		return found
	}
	t := &future.Task{}
	objects := make([]selection.Object, len(found))
	for i := range found {
		o := &found[i]
		objects[i] = selection.Object{
			Addr: o.obj.Instance, Declared: p.declaredDeps(t, o), Recorded: o.stored.Dependencies, Kept: p.departsWithExcluded(t, o),
		}
	}
	var out []orphan
	for i, destroy := range p.selection.Destroys(objects) {
		if destroy {
			out = append(out, found[i])
		}
	}
	return out
}

// declaredDeps returns what the configuration says the object depends on, if it still declares it.
func (p *planner) declaredDeps(t *future.Task, o *orphan) []plan.Dep {
	if !p.run.Declared(o.obj.Instance) {
		return nil
	}
	return p.run.Module(o.obj.Module).Resource(o.obj.Resource).Instance(o.obj.Key).Deps(t)
}

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

// departsWithExcluded reports whether the destroy-time provisioners of the object may use an ephemeral
// instance that -exclude names.
func (p *planner) departsWithExcluded(t *future.Task, o *orphan) bool {
	if !p.selection.Excluding() {
		return false
	}
	d := p.run.DestroyProvisioners(o.obj.Instance)
	return d != nil && p.leadsToExcluded(t, d.Uses(t))
}

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

// warnUnmatched warns of -target and -exclude options that name nothing.
func (p *planner) warnUnmatched() {
	if p.selection.Restricted() && !p.run.Diags.HasErrors() {
		p.run.Report(p.selection.Unmatched(p.req.Config.Tree, p.known, p.called))
	}
}

// known yields the instances that the configuration declares, as far as that was found out, and those of the
// state, at their earlier addresses too.
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
