package addr

// TargetSet says of an instance which of many targets select it, at a cost that does not grow with their
// number. It is not changed once made and may be used by several goroutines.
type TargetSet struct {
	root targetNode
	n    int
}

// targetNode stands for the targets whose module path leads here, keys that are not given included.
type targetNode struct {
	steps     map[moduleStep]*targetNode
	calls     map[string]struct{} // of steps
	whole     int                 // 1 + the index of the target that is this module, 0 if none is
	instances map[resourceKey]int // index of the target
	resources map[Resource]struct{}
}

type moduleStep struct {
	call string
	key  Key
}

type resourceKey struct {
	Resource
	key Key
}

// NewTargetSet returns the set of the targets. Of equal ones it has the first.
func NewTargetSet(targets []Target) *TargetSet {
	s := &TargetSet{n: len(targets)}
	for i, t := range targets {
		n := &s.root
		for _, m := range t.Module.Path() {
			_, call, key := m.Parent()
			n = n.child(moduleStep{call, key})
		}
		n.add(i, t)
	}
	return s
}

func (n *targetNode) child(step moduleStep) *targetNode {
	if n.steps == nil {
		n.steps, n.calls = map[moduleStep]*targetNode{}, map[string]struct{}{}
	}
	next := n.steps[step]
	if next == nil {
		next = &targetNode{}
		n.steps[step], n.calls[step.call] = next, struct{}{}
	}
	return next
}

// add adds target i below a module. Of several equal targets the first counts, so that a message names
// that one.
func (n *targetNode) add(i int, t Target) {
	if t.Resource == nil {
		if n.whole == 0 {
			n.whole = i + 1
		}
		return
	}
	if n.instances == nil {
		n.instances, n.resources = map[resourceKey]int{}, map[Resource]struct{}{}
	}
	k := resourceKey{*t.Resource, t.Key}
	if _, ok := n.instances[k]; !ok {
		n.instances[k] = i
	}
	n.resources[*t.Resource] = struct{}{}
}

// Empty reports whether the set has no targets.
func (s *TargetSet) Empty() bool { return s.n == 0 }

// Selects reports whether one of the targets selects the instance.
func (s *TargetSet) Selects(i Instance) bool {
	found := false
	s.Selecting(i, func(int) { found = true })
	return found
}

// Selecting calls found with the index of each target that selects the instance, in no particular order.
func (s *TargetSet) Selecting(i Instance, found func(index int)) {
	if s.n == 0 {
		return
	}
	s.root.walk(i.Module.Path(), func(n *targetNode, at bool) {
		if n.whole > 0 {
			found(n.whole - 1)
		}
		if !at || n.instances == nil {
			return
		}
		if t, ok := n.instances[resourceKey{i.Resource, NoKey}]; ok {
			found(t)
		}
		if t, ok := n.instances[resourceKey{i.Resource, i.Key}]; ok && i.Key != NoKey {
			found(t)
		}
	})
}

// Touches reports whether one of the targets selects the resource or any of its instances.
func (s *TargetSet) Touches(r AbsResource) bool {
	found := false
	s.root.walk(r.Module.Path(), func(n *targetNode, at bool) {
		_, ok := n.resources[r.Resource]
		found = found || n.whole > 0 || at && ok
	})
	return found
}

// TouchesModule reports whether one of the targets selects something in instances of the module call m (whose
// last step has no key), or below.
func (s *TargetSet) TouchesModule(m ModuleInstance) bool {
	parent, call, _ := m.Parent()
	found := false
	s.root.walk(parent.Path(), func(n *targetNode, at bool) {
		_, ok := n.calls[call]
		found = found || n.whole > 0 || at && ok
	})
	return found
}

// walk calls f with the nodes of path and of those above it, and whether it is one of path itself. A step
// without a key matches any.
func (n *targetNode) walk(path []ModuleInstance, f func(n *targetNode, at bool)) {
	f(n, len(path) == 0)
	if len(path) == 0 || n.steps == nil {
		return
	}
	_, call, key := path[0].Parent()
	if next := n.steps[moduleStep{call, NoKey}]; next != nil {
		next.walk(path[1:], f)
	}
	if next := n.steps[moduleStep{call, key}]; next != nil && key != NoKey {
		next.walk(path[1:], f)
	}
}
