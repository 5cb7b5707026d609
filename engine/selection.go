package engine

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// selection is what -target and -exclude ask for, in a form that answers for one instance whatever their number.
type selection struct {
	targets, excludes *addr.TargetSet

	resources map[addr.AbsResource]struct{} // of which -exclude names some instance, or all
	excluding []addr.Target
	joined    sync.Map // dependencies through repeated modules → whether -exclude names one of their instances
}

func newSelection(targets, excludes []addr.Target) *selection {
	s := &selection{
		targets: addr.NewTargetSet(targets), excludes: addr.NewTargetSet(excludes), resources: map[addr.AbsResource]struct{}{}, excluding: excludes,
	}
	for _, x := range excludes {
		if x.Resource != nil {
			s.resources[addr.AbsResource{Module: x.Module, Resource: *x.Resource}] = struct{}{}
		}
	}
	return s
}

// selects reports whether the instance may be planned for its own sake.
func (s *selection) selects(a addr.Instance) bool {
	return !s.excludes.Selects(a) && (s.targets.Empty() || s.targets.Selects(a))
}

// excluded reports whether -exclude takes the instance out, itself or something that it depends on.
func (s *selection) excluded(a addr.Instance, deps []plan.Dep) bool {
	if s.excludes.Empty() {
		return false
	}
	if s.excludes.Selects(a) {
		return true
	}
	for _, d := range deps {
		if s.excludes.Selects(d.Resource.Instance(d.Key)) || d.All && s.excludesSome(d) {
			return true
		}
	}
	return false
}

// excludesSome reports whether -exclude names one of many instances that a dependency is on.
func (s *selection) excludesSome(d plan.Dep) bool {
	if !d.Modules {
		_, some := s.resources[d.Resource]
		return some
	}
	if known, ok := s.joined.Load(d); ok {
		return known.(bool)
	}
	some := slices.ContainsFunc(s.excluding, func(x addr.Target) bool { return selectsAny(x, d) })
	s.joined.Store(d, some)
	return some
}
