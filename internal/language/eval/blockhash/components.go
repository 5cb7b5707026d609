package blockhash

import (
	"slices"

	"github.com/mayfly-iac/mayfly/internal/base/component"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Unit is a block, or the repetition of a resource.
type Unit struct {
	Block      blocks.Node
	Repetition bool
}

// Components returns all blocks in an order in which each can be planned after those that it refers to in
// any way but by triggers of actions. Blocks that lead to each other are one component, in the order of
// their addresses. A resource also comes after the blocks to which import blocks for its objects refer.
func (s *Set) Components() [][]Unit {
	waits := make([][]int32, len(s.nodes))
	for i := range s.nodes {
		waits[i] = s.nodes[i].waits
	}
	order, of := component.Find(waits, func(to int32) int32 { return to })
	var out [][]Unit
	for len(order) > 0 {
		n := 1
		for n < len(order) && of[order[n]] == of[order[0]] {
			n++
		}
		members := order[:n:n]
		slices.SortFunc(members, s.byName)
		var units []Unit
		for _, i := range members {
			if s.nodes[i].entry != "" {
				units = append(units, Unit{s.nodes[i].key.node, s.nodes[i].key.part == repetition})
			}
		}
		if units != nil {
			out = append(out, units)
		}
		order = order[n:]
	}
	return out
}
