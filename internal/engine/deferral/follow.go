package deferral

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Dependents finds the instances that depend on others. The zero value has none.
type Dependents struct {
	on map[any][]addr.Instance // by the instance, resource or span that a dependency refers to
}

// Add adds an instance with its dependencies.
func (d *Dependents) Add(a addr.Instance, deps []plan.Dep) {
	if d.on == nil {
		d.on = map[any][]addr.Instance{}
	}
	for _, dep := range deps {
		var on any
		switch {
		case dep.Modules:
			on = dep.Span()
		case dep.All:
			on = dep.Resource
		default:
			on = dep.Resource.Instance(dep.Key)
		}
		d.on[on] = append(d.on[on], a)
	}
}

// Take returns the given instances and those that depend on them, directly or through others. It takes linear
// time, as each dependency is followed once: another Take doesn't follow it again.
func (d *Dependents) Take(first []addr.Instance) map[addr.Instance]struct{} {
	taken := map[addr.Instance]struct{}{}
	for queue := slices.Clone(first); len(queue) > 0; {
		a := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, again := taken[a]; again {
			continue
		}
		taken[a] = struct{}{}
		on := []any{a, a.Abs()}
		for _, span := range plan.Spans(a) {
			on = append(on, span)
		}
		for _, key := range on {
			queue = append(queue, d.on[key]...)
			delete(d.on, key)
		}
	}
	return taken
}
