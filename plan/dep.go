package plan

import "github.com/mayfly-iac/mayfly/addr"

// Dep is a dependency on one instance, on all instances of a resource, or on all instances of a block in
// every instance of its modules below one.
//
//	aws_instance.web[0].id        → one instance
//	aws_instance.web[*].id        → All
//	module.a[*].id, from outside  → Modules: any instance of the blocks behind the output
type Dep struct {
	Resource addr.AbsResource // with Modules, the steps of its module path below Within have no keys
	Key      addr.Key
	All      bool
	Modules  bool                // implies All
	Within   addr.ModuleInstance // with Modules: the module instance that all of them lie in
}

// String returns the address that the dependency refers to: of an instance, of a resource, of a block in all
// instances of its modules or, for a call whose instances are not known, of the module.
func (d Dep) String() string {
	switch {
	case d.Modules:
		return d.Resource.Config().String()
	case d.Resource.Resource == (addr.Resource{}):
		return d.Resource.Module.String()
	case d.All:
		return d.Resource.String()
	default:
		return d.Resource.Instance(d.Key).String()
	}
}

// Span is all instances of a block in the module instances within one module instance. It is comparable.
type Span struct {
	Within addr.ModuleInstance
	Block  addr.ConfigResource
}

// Span returns the span that a dependency with Modules refers to.
func (d Dep) Span() Span { return Span{Within: d.Within, Block: d.Resource.Config()} }

// Spans returns the spans that contain an instance, one for each module instance around it.
func Spans(a addr.Instance) []Span {
	out := []Span{{Block: a.Config()}}
	for m := a.Module; !m.IsRoot(); m, _, _ = m.Parent() {
		out = append(out, Span{Within: m, Block: a.Config()})
	}
	return out
}

// Instances is a set of instances that answers whether a dependency refers to one of them. The zero value
// is empty and ready to use.
type Instances struct {
	resources map[addr.AbsResource]map[addr.Key]struct{}
	blocks    map[Span]struct{}
}

// Empty reports whether the set has no instance.
func (s *Instances) Empty() bool { return len(s.resources) == 0 }

// Add adds an instance to the set.
func (s *Instances) Add(a addr.Instance) {
	if s.resources == nil {
		s.resources, s.blocks = map[addr.AbsResource]map[addr.Key]struct{}{}, map[Span]struct{}{}
	}
	keys := s.resources[a.Abs()]
	if keys == nil {
		keys = map[addr.Key]struct{}{}
		s.resources[a.Abs()] = keys
		for _, span := range Spans(a) {
			s.blocks[span] = struct{}{}
		}
	}
	keys[a.Key] = struct{}{}
}

// Touched reports whether d depends on an instance of the set.
func (s *Instances) Touched(d Dep) bool {
	var ok bool
	switch {
	case d.Modules:
		_, ok = s.blocks[d.Span()]
	case d.All:
		_, ok = s.resources[d.Resource]
	default:
		_, ok = s.resources[d.Resource][d.Key]
	}
	return ok
}
