package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// selection is what -target and -exclude ask for, in a form that answers for one instance whatever their number.
type selection struct {
	targets, excludes *addr.TargetSet

	// what -exclude names, for dependencies on all of a resource or all of a block
	resources map[addr.AbsResource]struct{}
	blocks    map[addr.ConfigResource]struct{}
	modules   map[addr.Module]struct{}
}

func newSelection(targets, excludes []addr.Target) *selection {
	s := &selection{
		targets: addr.NewTargetSet(targets), excludes: addr.NewTargetSet(excludes),
		resources: map[addr.AbsResource]struct{}{}, blocks: map[addr.ConfigResource]struct{}{}, modules: map[addr.Module]struct{}{},
	}
	for _, x := range excludes {
		if x.Resource == nil {
			s.modules[x.Module.Module()] = struct{}{}
			continue
		}
		r := addr.AbsResource{Module: x.Module, Resource: *x.Resource}
		s.resources[r], s.blocks[r.Config()] = struct{}{}, struct{}{}
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
	_, some := s.resources[d.Resource]
	if d.Modules && !some {
		if _, some = s.blocks[d.Resource.Config()]; !some {
			_, some = s.modules[d.Resource.Module.Module()]
		}
	}
	return some
}
