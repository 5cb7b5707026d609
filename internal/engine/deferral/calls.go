package deferral

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// RecordedInCalls replaces dependencies on module calls whose instances are unknown, which no plan or state
// can have, by the recorded dependencies on objects in them. An object that stays as it is keeps these.
func RecordedInCalls(deps []plan.Dep, recorded []addr.ConfigResource) (out []plan.Dep) {
	isCall := func(d plan.Dep) bool { return d.Resource.Resource.Type == "" }
	if !slices.ContainsFunc(deps, isCall) {
		return deps
	}
	for _, d := range deps {
		if !isCall(d) {
			out = append(out, d)
			continue
		}
		for _, r := range recorded {
			in := r.Module.Instance()
			if d.Resource.Module.Module().Instance().Contains(in) {
				out = append(out, plan.Dep{Resource: addr.AbsResource{Module: in, Resource: r.Resource}, All: true, Modules: true})
			}
		}
	}
	return out
}
