package gone

import (
	"iter"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// Stored are the resources of a state. Whether the configuration still declares them is decided step by step,
// as the instances of calls and resources become known.
type Stored struct {
	resources map[addr.ModuleInstance][]addr.AbsResource    // by the module instance that they are in
	inner     map[addr.ModuleInstance][]addr.ModuleInstance // module instances with resources, by the one around them
}

// NewStored lists the resources of a state.
func NewStored(resources []addr.AbsResource) Stored {
	s := Stored{map[addr.ModuleInstance][]addr.AbsResource{}, map[addr.ModuleInstance][]addr.ModuleInstance{}}
	var list func(m addr.ModuleInstance)
	list = func(m addr.ModuleInstance) {
		if _, known := s.resources[m]; known {
			return
		}
		s.resources[m] = nil
		if !m.IsRoot() {
			outer, _, _ := m.Parent()
			s.inner[outer] = append(s.inner[outer], m)
			list(outer)
		}
	}
	for _, r := range resources {
		list(r.Module)
		s.resources[r.Module] = append(s.resources[r.Module], r)
	}
	return s
}

// Below appends the resources in a module instance and in those within it.
func (s *Stored) Below(m addr.ModuleInstance, to []addr.AbsResource) []addr.AbsResource {
	to = append(to, s.resources[m]...)
	for _, inner := range s.inner[m] {
		to = s.Below(inner, to)
	}
	return to
}

// WithoutBlocks returns the resources of the state for which a module object has no block: those in it, and
// all those in modules that it does not call.
func (s *Stored) WithoutBlocks(m *eval.Module) []addr.AbsResource {
	gone := slices.DeleteFunc(slices.Clone(s.resources[m.Addr]), func(r addr.AbsResource) bool { return m.Resource(r.Resource) != nil })
	for _, inner := range s.inner[m.Addr] {
		if _, name, _ := inner.Parent(); !m.HasCall(name) {
			gone = s.Below(inner, gone)
		}
	}
	return gone
}

// Called yields the instances of a called module that the state has, with their keys.
func (s *Stored) Called(c *eval.Call) iter.Seq2[addr.ModuleInstance, addr.Key] {
	outer, name, _ := c.Addr().Parent()
	return func(yield func(addr.ModuleInstance, addr.Key) bool) {
		for _, inner := range s.inner[outer] {
			if _, of, key := inner.Parent(); of == name && !yield(inner, key) {
				return
			}
		}
	}
}

// WithoutModules returns the resources of the state in instances of a called module that the call does not
// have.
func (s *Stored) WithoutModules(t *future.Task, c *eval.Call) []addr.AbsResource {
	var gone []addr.AbsResource
	for inner, key := range s.Called(c) {
		if c.Lacks(t, key) {
			gone = s.Below(inner, gone)
		}
	}
	return gone
}
