// Package edit changes a state by hand, apart from any configuration: it selects instances by address, and
// gives them other addresses.
//
// It may import addr and state. It must not know where a state is kept, nor providers.
package edit

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// Select returns the instances that the targets select, each once, in the order of the targets and, for each
// of them, of the state file; all instances if there are no targets. missing is the first target that selects
// nothing, nil if there is none. The targets are not changed.
func Select(st *state.State, targets []addr.Target) (out []addr.Instance, missing *addr.Target) {
	if len(targets) == 0 {
		for i := range st.AllInstances() {
			out = append(out, i)
		}
		return out, nil
	}
	seen := map[string]struct{}{}
	targets = slices.DeleteFunc(slices.Clone(targets), func(t addr.Target) bool {
		_, again := seen[t.String()]
		seen[t.String()] = struct{}{}
		return again
	})
	set := addr.NewTargetSet(targets)
	lists, hit := make([][]addr.Instance, len(targets)), make([]bool, len(targets))
	for i := range st.AllInstances() {
		first := len(targets)
		set.Selecting(i, func(t int) { first, hit[t] = min(first, t), true })
		if first < len(targets) {
			lists[first] = append(lists[first], i)
		}
	}
	if t := slices.Index(hit, false); t >= 0 {
		missing = &targets[t]
	}
	return slices.Concat(lists...), missing
}

// UsersOf returns the resources whose objects belong to a provider, in the order of the state, and their
// instances. Each resource is named once, in each module instance that has it.
func UsersOf(st *state.State, p addr.Provider) (names []string, instances []addr.Instance) {
	last := ""
	for i, in := range st.AllInstances() {
		if in.Provider.Provider != p {
			continue
		}
		instances = append(instances, i)
		if name := i.Abs().String(); name != last {
			names = append(names, name)
			last = name
		}
	}
	return names, instances
}
