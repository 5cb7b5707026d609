package blockhash

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/component"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Unit is a block, or the repetition of a resource.
type Unit struct {
	Block      blocks.Node
	Repetition bool
	Module     addr.Module
	Name       string // among the entries of the module
}

// Component are blocks that lead to each other, in the order of their addresses, or a single one.
type Component struct {
	Units []Unit
	// Level is the length of the longest way to a component that waits for none. A component waits for lower
	// levels only.
	Level int
	// Cyclic says that the blocks lead to themselves.
	Cyclic bool
}

// Components returns all blocks in an order in which each can be planned after those that it refers to in
// any way but by triggers of actions. A resource also comes after the blocks to which import blocks for its
// objects refer.
func (s *Set) Components() []Component {
	waits := make([][]int32, len(s.nodes))
	for i := range s.nodes {
		waits[i] = s.nodes[i].waits
	}
	order, of := component.Find(waits, func(to int32) int32 { return to })
	levels := make([]int, len(order)+1) // by the number of the component
	var out []Component
	for len(order) > 0 {
		n := 1
		for n < len(order) && of[order[n]] == of[order[0]] {
			n++
		}
		members := order[:n:n]
		slices.SortFunc(members, s.byName)
		c := Component{Cyclic: n > 1}
		for _, i := range members {
			if s.nodes[i].entry != "" {
				c.Units = append(c.Units, Unit{s.nodes[i].key.node, s.nodes[i].key.part == repetition, s.nodes[i].module.Config.Path, s.nodes[i].entry})
			}
			for _, to := range waits[i] {
				c.Cyclic = c.Cyclic || to == i
				if of[to] != of[i] {
					c.Level = max(c.Level, levels[of[to]]+1)
				}
			}
		}
		levels[of[members[0]]] = c.Level
		if c.Units != nil {
			out = append(out, c)
		}
		order = order[n:]
	}
	return out
}
