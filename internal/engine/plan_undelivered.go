package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// undelivered is an object with computed values that an earlier run made and did not deliver. The plan finds
// out whether the configuration still uses them.
type undelivered struct {
	object addr.Object
	owed   map[string][]addr.ConfigResource // the resources that are owed a value, by its attribute
	had    []addr.ConfigResource            // resources that got a value
	report func(diag.List)

	missing []addr.ConfigResource // owed resources that still use a value
}

// checkUndelivered looks for computed values of an object that an earlier run made and did not deliver (E98).
// An object that was created by that run, and that nothing else needs, is to be replaced, which
// instancePlan.undelivered says. Anything else is an error if a resource that is owed a value still uses it:
// reportUndelivered finds out. checkUndelivered returns false if it fails.
func checkUndelivered(ip *instancePlan) bool {
	if ip.stored == nil || ip.stored.Tainted || ip.planner.req.Mode != plan.Normal {
		return true
	}
	if _, forced := ip.planner.forced[ip.in.Addr()]; forced {
		return true
	}
	u, created := undeliveredOf(ip)
	if len(u.owed) == 0 {
		return true
	}
	a, owed := ip.in.Addr(), u.allOwed()
	prevented, diags := ip.in.PreventDestroy(ip.t)
	ip.walk.run.Report(diags)
	if diags.HasErrors() {
		return false
	}
	if created && !prevented && len(u.had) == 0 && slices.ContainsFunc(owed, ip.planner.selection.TouchesBlock) && !othersDependOn(ip.planner, a.Config(), owed) {
		ip.undelivered = true
		ip.Report(diag.Warnf("Value was never delivered",
			"An earlier run created %s and ended before %s had the value that its provider computed. The value is lost, so the object is replaced.", a, names(owed)))
		return true
	}
	ip.planner.computed.owe(u)
	return true
}

// undeliveredOf returns the values of an object that were not delivered, and whether they were all made along
// with the object.
func undeliveredOf(ip *instancePlan) (u *undelivered, created bool) {
	u, created = &undelivered{object: ip.Obj, owed: map[string][]addr.ConfigResource{}, report: ip.Report}, true
	for _, w := range ip.stored.Withheld {
		for _, r := range w.Owed {
			if m := ip.planner.req.Config.Modules[r.Module]; m != nil && m.Resources[r.Resource] != nil {
				by := attributeName(ip.Obj.Instance, w.Path)
				u.owed[by], created = append(u.owed[by], r), created && w.Created
			}
		}
		for _, r := range w.To {
			if !slices.Contains(w.Owed, r) && !slices.Contains(u.had, r) {
				u.had = append(u.had, r)
			}
		}
	}
	return u, created
}

// allOwed returns the resources that are owed a value.
func (u *undelivered) allOwed() (out []addr.ConfigResource) {
	for _, by := range slices.Sorted(maps.Keys(u.owed)) {
		for _, r := range u.owed[by] {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// owe notes an object with values that were not delivered, before anything that uses them is evaluated.
func (u *computedUses) owe(of *undelivered) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.undelivered = append(u.undelivered, of)
	for by := range of.owed {
		if u.owed == nil {
			u.owed = map[string]*undelivered{}
		}
		u.owed[by] = of
	}
}

// miss reports whether a user of a computed value is owed it by an earlier run, and notes that it still uses
// the value.
func (u *computedUses) miss(of value.Computed, user addr.Instance) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	block, owed := user.Config(), u.owed[of.By]
	if owed == nil || !slices.Contains(owed.owed[of.By], block) {
		return false
	}
	if !slices.Contains(owed.missing, block) {
		owed.missing = append(owed.missing, block)
	}
	return true
}

// reportUndelivered reports the values of earlier runs that resources in the plan are owed and still use. It
// is no error if the plan replaces the object, which makes new ones.
func reportUndelivered(p *planner) {
	slices.SortFunc(p.computed.undelivered, func(a, b *undelivered) int { return a.object.Instance.Compare(b.object.Instance) })
	for _, u := range p.computed.undelivered {
		if c := p.changes[u.object]; c != nil && (c.Action == plan.Create || c.Action.IsReplace()) {
			continue
		}
		if !slices.ContainsFunc(u.missing, p.selection.TouchesBlock) {
			continue
		}
		a := u.object.Instance
		detail := fmt.Sprintf("An earlier run made a new value for %s, or may have, and ended before %s had it.", a, names(u.missing))
		if len(u.had) > 0 {
			detail += fmt.Sprintf(" It was delivered to %s.", names(u.had))
		}
		u.report(diag.Errorf("Value was not delivered",
			"%s The value exists no longer, as ephemeral_attributes keeps it out of the state. To make a new one, add the option -replace=%s. If all is well as it is, run: untaint %s", detail, diag.Argument(a.String()), diag.Argument(a.String())))
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

// dependentsIn returns, for each resource that objects in a state depend on, the resources of those objects.
func dependentsIn(st *state.State) map[addr.ConfigResource]map[addr.ConfigResource]struct{} {
	out := map[addr.ConfigResource]map[addr.ConfigResource]struct{}{}
	if st == nil {
		return out
	}
	for i, in := range st.AllInstances() {
		if in.Current == nil {
			continue
		}
		for _, r := range in.Current.Dependencies {
			if out[r] == nil {
				out[r] = map[addr.ConfigResource]struct{}{}
			}
			out[r][i.Config()] = struct{}{}
		}
	}
	return out
}
