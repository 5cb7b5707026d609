package gone

import (
	"iter"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// Stored lists the resources of a state. Whether the configuration still declares their objects is decided
// step by step, as the instances of calls and resources become known.
type Stored struct {
	Inner     map[addr.ModuleInstance][]addr.ModuleInstance // module instances with resources, by the one around them
	resources map[addr.ModuleInstance][]addr.AbsResource    // by the module instance that they are in
}

// ListStored lists the resources of a state.
func ListStored(resources iter.Seq[addr.AbsResource]) Stored {
	s := Stored{map[addr.ModuleInstance][]addr.ModuleInstance{}, map[addr.ModuleInstance][]addr.AbsResource{}}
	var list func(m addr.ModuleInstance)
	list = func(m addr.ModuleInstance) {
		if _, known := s.resources[m]; known {
			return
		}
		s.resources[m] = nil
		if !m.IsRoot() {
			outer, _, _ := m.Parent()
			s.Inner[outer] = append(s.Inner[outer], m)
			list(outer)
		}
	}
	for r := range resources {
		list(r.Module)
		s.resources[r.Module] = append(s.resources[r.Module], r)
	}
	return s
}

// Below appends the resources in a module instance and in those within it.
func (s *Stored) Below(m addr.ModuleInstance, to []addr.AbsResource) []addr.AbsResource {
	to = append(to, s.resources[m]...)
	for _, inner := range s.Inner[m] {
		to = s.Below(inner, to)
	}
	return to
}

// Blocks returns the resources of the state, in a module object or below it, for which it has no block.
func (s *Stored) Blocks(m *eval.Module) []addr.AbsResource {
	gone := slices.DeleteFunc(slices.Clone(s.resources[m.Addr]), func(r addr.AbsResource) bool { return m.Resource(r.Resource) != nil })
	for _, inner := range s.Inner[m.Addr] {
		if _, name, _ := inner.Parent(); !m.HasCall(name) {
			gone = s.Below(inner, gone)
		}
	}
	return gone
}

// Modules returns the resources of the state in instances of a called module that the call does not have.
func (s *Stored) Modules(t *future.Task, c *eval.Call) (gone []addr.AbsResource) {
	outer, name, _ := c.Addr().Parent()
	for _, inner := range s.Inner[outer] {
		if _, of, key := inner.Parent(); of == name && c.Lacks(t, key) {
			gone = s.Below(inner, gone)
		}
	}
	return gone
}
