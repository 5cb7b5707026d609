package view

import (
	"slices"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// Address writes the message about an address that the state has.
func (s *JSONStream) Address(a addr.Instance) {
	s.write(streamLine{Message: a.String(), Type: "resource_address"}, time.Time{})
}

// Workspaces writes the message that lists the workspaces.
func (s *JSONStream) Workspaces(names []string, current string) {
	s.write(streamLine{Message: "list of workspaces", Type: "workspace_list", Workspaces: names, CurrentWorkspace: current}, time.Time{})
}

// ByModuleDepth returns a copy of a list of addresses, or of what has them, in the order of documents: what
// is in the root module first, then what is in its children, and so on. Otherwise the order of the list is
// kept.
func ByModuleDepth[T any](list []T, module func(T) addr.ModuleInstance) []T {
	depths := map[addr.ModuleInstance]int{}
	depth := func(e T) int {
		m := module(e)
		d, known := depths[m]
		if !known {
			d = len(m.Path())
			depths[m] = d
		}
		return d
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b T) int { return depth(a) - depth(b) })
	return out
}
