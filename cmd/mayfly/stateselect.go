package main

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// selected lists the instances that the targets select, each once, in the order of the targets and for each
// of them in that of the state file; all instances if there are no targets. missing is the first target that
// selects nothing, nil if there is none.
func selected(st *state.State, targets []addr.Target) (out []addr.Instance, missing *addr.Target) {
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
