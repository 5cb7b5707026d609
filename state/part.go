package state

import (
	"iter"

	"github.com/mayfly-iac/mayfly/addr"
)

// Part names objects of a state: those that subjects name, none of which is an output or a check, and those
// that targets select.
type Part struct {
	Subjects []Subject
	Targets  []addr.Target
}

// All yields the objects of an instance, the current one first.
func (i *Instance) All() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		if i.Current != nil && !yield(i.Current) {
			return
		}
		for _, key := range i.DeposedKeys() {
			if !yield(i.Deposed[key]) {
				return
			}
		}
	}
}

// AddMissing adds the instances of another state that s does not have, with the unknown members of their
// resources.
func (s *State) AddMissing(other *State) {
	for a, r := range other.Resources {
		fresh := s.Resources[a] == nil
		for key, in := range r.Instances {
			if i := a.Instance(key); s.Instance(i) == nil {
				s.ensure(i).become(in)
			}
		}
		if fresh && len(r.extra) > 0 {
			s.own(a).extra = r.extra
		}
	}
}
