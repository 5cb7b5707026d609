package deferral

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// DependentsIn returns, for each resource that objects in a state depend on, the resources of those objects.
func DependentsIn(st *state.State) map[addr.ConfigResource]map[addr.ConfigResource]struct{} {
	out := map[addr.ConfigResource]map[addr.ConfigResource]struct{}{}
	if st == nil {
		return out
	}
	for i, in := range st.AllInstances() {
		if in.Current == nil {
			continue
		}
		for _, r := range in.Current.Dependencies {
			if out[r] == nil {
				out[r] = map[addr.ConfigResource]struct{}{}
			}
			out[r][i.Config()] = struct{}{}
		}
	}
	return out
}
