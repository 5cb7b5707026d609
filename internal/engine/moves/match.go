package moves

import "github.com/mayfly-iac/mayfly/addr"

// index finds the moves that may concern an instance without a look at all of them.
type index struct {
	resources map[addr.ConfigResource][]*move
	modules   []*move
}

// newIndex indexes moves of resources by the block they start from. Moves of modules stay in a list, since
// they concern every block below the module.
func newIndex(moves []move) *index {
	x := &index{resources: map[addr.ConfigResource][]*move{}}
	for i := range moves {
		mv := &moves[i]
		if mv.from.Resource == nil {
			x.modules = append(x.modules, mv)
			continue
		}
		block := addr.ConfigResource{Module: mv.module, Resource: *mv.from.Resource}
		for _, name := range mv.from.Module.Module().Calls() {
			block.Module = block.Module.Child(name)
		}
		x.resources[block] = append(x.resources[block], mv)
	}
	return x
}

// next returns where the first move that concerns an instance takes it; ok is false if there is none.
func (x *index) next(a addr.Instance) (to addr.Instance, by *move, ok bool) {
	for _, moves := range [][]*move{x.resources[a.Config()], x.modules} {
		for _, mv := range moves {
			if to, ok := mv.apply(a); ok {
				return to, mv, true
			}
		}
	}
	return a, nil, false
}

// apply returns the address that the move gives to a.
func (mv *move) apply(a addr.Instance) (addr.Instance, bool) {
	steps := a.Module.Path()
	depth := len(mv.module.Calls())
	if len(steps) < depth {
		return a, false
	}
	base := addr.RootInstance
	if depth > 0 {
		base = steps[depth-1]
	}
	if base.Module() != mv.module {
		return a, false
	}
	rest, ok := matchSteps(mv.from.Module, steps[depth:], mv.from.Resource != nil)
	if !ok {
		return a, false
	}
	target, ok := graft(base, mv.to.Module, mv.from.Module, steps[depth:])
	if !ok {
		return a, false
	}
	for _, s := range rest {
		_, name, key := s.Parent()
		target = target.Child(name, key)
	}
	if mv.from.Resource == nil {
		return addr.Instance{Module: target, Resource: a.Resource, Key: a.Key}, true
	}
	if *mv.from.Resource != a.Resource {
		return a, false
	}
	key := a.Key
	switch {
	case mv.from.Key != addr.NoKey && mv.from.Key != a.Key:
		return a, false
	case mv.from.Key != addr.NoKey:
		key = mv.to.Key
	case mv.to.Key != addr.NoKey:
		if a.Key != addr.NoKey {
			return a, false
		}
		key = mv.to.Key
	}
	return addr.Instance{Module: target, Resource: *mv.to.Resource, Key: key}, true
}

// matchSteps matches the module steps of a pattern against the steps of an address and returns the steps left
// over. A step without a key matches any key.
func matchSteps(pattern addr.ModuleInstance, steps []addr.ModuleInstance, exact bool) ([]addr.ModuleInstance, bool) {
	want := pattern.Path()
	if len(steps) < len(want) || exact && len(steps) != len(want) {
		return nil, false
	}
	for i, w := range want {
		_, name, key := w.Parent()
		_, gotName, gotKey := steps[i].Parent()
		if name != gotName || key != addr.NoKey && key != gotKey {
			return nil, false
		}
	}
	return steps[len(want):], true
}

// graft builds the target module instance below base: steps of to, which take over the keys that steps of
// from without a key matched.
func graft(base, to, from addr.ModuleInstance, matched []addr.ModuleInstance) (addr.ModuleInstance, bool) {
	fromSteps := from.Path()
	out := base
	for i, s := range to.Path() {
		_, name, key := s.Parent()
		if key == addr.NoKey && i < len(fromSteps) {
			if _, _, fromKey := fromSteps[i].Parent(); fromKey == addr.NoKey {
				_, _, key = matched[i].Parent()
			}
		}
		out = out.Child(name, key)
	}
	return out, true
}
