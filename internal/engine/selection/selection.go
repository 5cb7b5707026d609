package selection

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Selection has the options -target and -exclude in a form that answers for one instance, whatever their
// number. It may be used concurrently.
type Selection struct {
	targets, excludes   *addr.TargetSet
	targeted, excluding []addr.Target // the options, in their order

	some sync.Map // plan.Dep on many instances → bool: whether -exclude names one of them
}

// New returns the selection of the given options.
func New(targets, excludes []addr.Target) *Selection {
	return &Selection{targets: addr.NewTargetSet(targets), excludes: addr.NewTargetSet(excludes), targeted: targets, excluding: excludes}
}

// Restricted reports whether there is an option, so that parts of the configuration may be left out.
func (s *Selection) Restricted() bool { return !s.targets.Empty() || !s.excludes.Empty() }

// Excluding reports whether there is an -exclude option.
func (s *Selection) Excluding() bool { return !s.excludes.Empty() }

// Selects reports whether the instance may be planned for its own sake.
func (s *Selection) Selects(a addr.Instance) bool {
	return !s.excludes.Selects(a) && (s.targets.Empty() || s.targets.Selects(a))
}

// Touches reports whether -target leaves any interest in instances of a resource. If the keys of a module
// around it are not known, these may be any.
func (s *Selection) Touches(r addr.AbsResource) bool {
	if r.Instance(addr.NoKey).Unkeyed() {
		return s.TouchesBlock(r.Config())
	}
	return s.targets.Empty() || s.targets.Touches(r)
}

// TouchesModule is Touches for the content of a module instance.
func (s *Selection) TouchesModule(m addr.ModuleInstance) bool {
	inner := m.Module().Calls()
	return s.targets.Empty() || s.targets.TouchesModule(m) || (addr.Instance{Module: m}).Unkeyed() && slices.ContainsFunc(s.targeted, func(x addr.Target) bool {
		outer := x.Module.Module().Calls()
		n := min(len(outer), len(inner))
		return slices.Equal(outer[:n], inner[:n]) && (x.Resource == nil || len(outer) >= len(inner))
	})
}

// mayBe reports whether a target may select an instance of a block whose keys are not known. Block is its
// address with these.
func mayBe(t addr.Target, block addr.Instance) bool {
	outer, inner := t.Module.Module().Calls(), block.Module.Module().Calls()
	if t.Resource != nil {
		return *t.Resource == block.Resource && slices.Equal(outer, inner)
	}
	return len(outer) <= len(inner) && slices.Equal(outer, inner[:len(outer)])
}

// TouchesBlock reports whether the selection may have instances of a resource block.
func (s *Selection) TouchesBlock(r addr.ConfigResource) bool {
	within := func(x addr.Target) bool {
		outer, inner := x.Module.Module().Calls(), r.Module.Calls()
		if len(outer) > len(inner) || !slices.Equal(outer, inner[:len(outer)]) {
			return false
		}
		return x.Resource == nil || *x.Resource == r.Resource && len(outer) == len(inner)
	}
	return (s.targets.Empty() || slices.ContainsFunc(s.targeted, within)) && !s.LeavesOutAll(addr.Target{Module: r.Module.Instance(), Resource: &r.Resource})
}

// LeavesOut reports whether -exclude names the instance.
func (s *Selection) LeavesOut(a addr.Instance) bool { return s.excludes.Selects(a) }

// LeavesOutAny reports whether -exclude names the instance or one that it depends on.
func (s *Selection) LeavesOutAny(a addr.Instance, deps []plan.Dep) bool {
	if s.excludes.Empty() {
		return false
	}
	return s.excludes.Selects(a) || slices.ContainsFunc(deps, func(d plan.Dep) bool {
		return s.excludes.Selects(d.Resource.Instance(d.Key)) || d.All && s.leavesOutSome(d)
	})
}

// LeavesOutAll reports whether -exclude names everything that a target selects: an instance, all instances of
// a resource or module call, the call itself or a module around it.
func (s *Selection) LeavesOutAll(t addr.Target) bool {
	whole := addr.Instance{Module: t.Module}
	if t.Resource != nil {
		whole.Resource, whole.Key = *t.Resource, t.Key
	}
	return s.excludes.Selects(whole)
}

// leavesOutSome reports whether -exclude names one of many instances that a dependency is on.
func (s *Selection) leavesOutSome(d plan.Dep) bool {
	if known, ok := s.some.Load(d); ok {
		return known.(bool)
	}
	some := slices.ContainsFunc(s.excluding, func(x addr.Target) bool {
		return d.Modules && selectsAny(x, d) || !d.Modules && x.Touches(d.Resource)
	})
	s.some.Store(d, some)
	return some
}

// selectsAny reports whether a target selects one of the instances that a dependency through repeated modules
// is on.
func selectsAny(x addr.Target, d plan.Dep) bool {
	selected, within, all := x.Module.Path(), d.Within.Path(), d.Resource.Module.Path()
	if len(selected) > len(all) || x.Resource != nil && (*x.Resource != d.Resource.Resource || len(selected) < len(all)) {
		return false
	}
	for i, m := range selected {
		_, name, key := m.Parent()
		_, wanted, _ := all[i].Parent()
		if name != wanted {
			return false
		}
		if i < len(within) && key != addr.NoKey { // without one it stands for all instances of the call
			if _, _, k := within[i].Parent(); k != key {
				return false
			}
		}
	}
	return true
}
