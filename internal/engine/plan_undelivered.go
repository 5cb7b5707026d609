package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/plan"
)

// checkUndelivered looks for computed values of an object that an earlier run made and did not deliver (E98).
// An object that was created by that run, and that nothing else needs, is to be replaced, which
// instancePlan.undelivered says. Anything else is an error if a resource that is owed a value still uses it:
// reportUndelivered finds out. checkUndelivered returns false if it fails.
func checkUndelivered(ip *instancePlan) bool {
	if ip.stored == nil || ip.stored.Tainted || ip.planner.req.Mode != plan.Normal || ip.planner.req.Memory.Keeps(ip.in.Addr()) {
		return true
	}
	if _, forced := ip.planner.forced[ip.in.Addr()]; forced {
		return true
	}
	u := computed.FindUndelivered(ip.Obj, ip.stored.Withheld, func(r addr.ConfigResource) bool {
		m := ip.planner.req.Config.Modules[r.Module]
		return m != nil && m.Resources[r.Resource] != nil
	})
	if u == nil {
		return true
	}
	prevented, diags := ip.in.PreventDestroy(ip.t)
	ip.walk.run.Report(diags)
	if diags.HasErrors() {
		return false
	}
	a, owed := ip.in.Addr(), u.Owed()
	if u.Created && !prevented && len(u.Had) == 0 && slices.ContainsFunc(owed, ip.planner.selection.TouchesBlock) && !othersDependOn(ip.planner, a.Config(), owed) {
		ip.undelivered = true
		ip.Report(diag.Warnf("Value was never delivered",
			"An earlier run created %s and ended before %s had the value that its provider computed. The value is lost, so the object is replaced.", a, computed.Names(owed)))
		return true
	}
	ip.planner.computed.Owe(u)
	return true
}

// reportUndelivered reports the values of earlier runs that resources in the plan are owed and still use. It
// is no error if the plan replaces the object, which makes new ones.
func reportUndelivered(p *planner) {
	for _, u := range p.computed.Undelivered() {
		if c := p.changes[u.Object]; c != nil && (c.Action == plan.Create || c.Action.IsReplace()) {
			continue
		}
		if in, ok := p.run.Find(&future.Task{}, u.Object.Instance); ok && in != nil {
			op := p.instanceOp(in)
			op.Report(u.Error(p.selection.TouchesBlock))
		}
	}
}

// othersDependOn reports whether the state has objects that depend on a resource, and that belong to none of
// the given resources.
func othersDependOn(p *planner, r addr.ConfigResource, known []addr.ConfigResource) bool {
	for of := range p.dependents()[r] {
		if of != r && !slices.Contains(known, of) {
			return true
		}
	}
	return false
}
