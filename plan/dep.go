package plan

import "github.com/mayfly-iac/mayfly/addr"

// Dep is a dependency on one instance, on all instances of a resource, or on all instances of a block in every instance of its modules.
type Dep struct {
	Resource addr.AbsResource // with Modules, the steps of its module path have no keys
	Key      addr.Key
	All      bool
	Modules  bool // implies All
}

// Instances is a set of instances that answers whether a dependency is on one of them. The zero value is empty and ready.
type Instances struct {
	instances map[addr.Instance]struct{}
	resources map[addr.AbsResource]struct{}
	blocks    map[addr.ConfigResource]struct{}
}

// Add puts an instance into the set.
func (s *Instances) Add(a addr.Instance) {
	if s.instances == nil {
		s.instances, s.resources, s.blocks = map[addr.Instance]struct{}{}, map[addr.AbsResource]struct{}{}, map[addr.ConfigResource]struct{}{}
	}
	s.instances[a], s.resources[a.Abs()], s.blocks[a.Config()] = struct{}{}, struct{}{}, struct{}{}
}

// Touched reports whether d is a dependency on an instance of the set.
func (s *Instances) Touched(d Dep) bool {
	var ok bool
	switch {
	case d.Modules:
		_, ok = s.blocks[d.Resource.Config()]
	case d.All:
		_, ok = s.resources[d.Resource]
	default:
		_, ok = s.instances[d.Resource.Instance(d.Key)]
	}
	return ok
}
