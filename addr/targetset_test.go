package addr

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func moduleFrom(t *rapid.T, keys []Key) ModuleInstance {
	m := RootInstance
	for range rapid.IntRange(0, 3).Draw(t, "depth") {
		m = m.Child(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "call"), rapid.SampledFrom(keys).Draw(t, "key"))
	}
	return m
}

// TestTargetSetIsItsTargets compares a set with its targets, asked one by one.
func TestTargetSetIsItsTargets(t *testing.T) {
	keys := []Key{NoKey, NoKey, IntKey(0), IntKey(1), StringKey("0")}
	resources := []Resource{{Managed, "t", "n"}, {Data, "t", "n"}, {Managed, "t", "o"}}
	rapid.Check(t, func(t *rapid.T) {
		var targets []Target
		for range rapid.IntRange(0, 6).Draw(t, "targets") {
			target := Target{Module: moduleFrom(t, keys)}
			if rapid.Bool().Draw(t, "resource") {
				r := rapid.SampledFrom(resources).Draw(t, "name")
				target.Resource, target.Key = &r, rapid.SampledFrom(keys).Draw(t, "key")
			}
			if !slices.ContainsFunc(targets, func(o Target) bool { return o.String() == target.String() }) {
				targets = append(targets, target)
			}
		}
		set := NewTargetSet(targets)
		i := Instance{moduleFrom(t, keys), rapid.SampledFrom(resources).Draw(t, "of"), rapid.SampledFrom(keys).Draw(t, "instance")}
		call := i.Module.Child("a", NoKey)
		got := make([]int, len(targets))
		set.Selecting(i, func(n int) { got[n]++ })
		var selects, touches, module bool
		for n, target := range targets {
			want := 0
			if target.Selects(i) {
				want, selects = 1, true
			}
			if got[n] != want {
				t.Errorf("%s selects %s: told %d times, want %d", target, i, got[n], want)
			}
			touches, module = touches || target.Touches(i.Abs()), module || target.touchesModule(call)
		}
		if set.Selects(i) != selects || set.Touches(i.Abs()) != touches || set.TouchesModule(call) != module || set.Empty() != (len(targets) == 0) {
			t.Errorf("%v of %s: selects %v (want %v), touches %v (want %v), touches the call %v (want %v)", targets, i,
				set.Selects(i), selects, set.Touches(i.Abs()), touches, set.TouchesModule(call), module)
		}
	})
}

// TestTargetSetIgnoresOthers counts the targets that are looked at for one instance: those that select it,
// however many others there are.
func TestTargetSetIgnoresOthers(t *testing.T) {
	r := Resource{Managed, "t", "n"}
	for _, n := range []int{100, 1000} {
		var targets []Target
		for i := range n {
			targets = append(targets, Target{Resource: &r, Key: IntKey(i)}, Target{Module: RootInstance.Child("m", IntKey(i)), Resource: &r},
				Target{Resource: &Resource{Managed, "t", fmt.Sprint("r", i)}})
		}
		visited := 0
		NewTargetSet(targets).root.walk(RootInstance.Child("m", IntKey(7)).Path(), func(*targetNode, bool) { visited++ })
		if visited != 2 {
			t.Errorf("%d nodes of %d targets were visited, want the root and the module", visited, len(targets))
		}
	}
}

// touchesModule reports whether the target selects something in instances of the module call m (whose last
// step has no key), or below.
func (t Target) touchesModule(m ModuleInstance) bool {
	p, q := t.Module.Path(), m.Path()
	for i := range min(len(p), len(q)) {
		_, pc, pk := p[i].Parent()
		_, qc, qk := q[i].Parent()
		last := i == len(q)-1
		if pc != qc || pk != NoKey && !last && pk != qk {
			return false
		}
	}
	return len(p) >= len(q) || t.Resource == nil
}
