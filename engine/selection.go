package engine

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// selection is what -target and -exclude ask for, in a form that answers for one instance whatever their
// number.
type selection struct {
	targets, excludes *addr.TargetSet

	excluding []addr.Target
	some      sync.Map // dependencies on many instances → whether -exclude names one of them
}

func newSelection(targets, excludes []addr.Target) *selection {
	return &selection{targets: addr.NewTargetSet(targets), excludes: addr.NewTargetSet(excludes), excluding: excludes}
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

// excludesAll reports whether -exclude names all instances of a resource or module call, the call itself or a
// module around it.
func (s *selection) excludesAll(t addr.Target) bool {
	whole := addr.Instance{Module: t.Module}
	if t.Resource != nil {
		whole.Resource = *t.Resource
	}
	return s.excludes.Selects(whole)
}

// excludesSome reports whether -exclude names one of many instances that a dependency is on.
func (s *selection) excludesSome(d plan.Dep) bool {
	if known, ok := s.some.Load(d); ok {
		return known.(bool)
	}
	some := slices.ContainsFunc(s.excluding, func(x addr.Target) bool {
		return d.Modules && selectsAny(x, d) || !d.Modules && x.Touches(d.Resource)
	})
	s.some.Store(d, some)
	return some
}
