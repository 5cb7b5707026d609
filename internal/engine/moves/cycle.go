package moves

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// cyclic reports moves that lead back to where they begin, whether or not the state has an object there.
func (x *index) cyclic(moves []move) diag.List {
	ended := map[addr.Instance]struct{}{}
	for i := range moves {
		if trail := x.cycle(moves[i].example(), len(moves), ended); trail != nil {
			return cyclicMoves(trail)
		}
	}
	return nil
}

// cycle follows the n moves from an address. It returns those that lead from an address back to it, or that
// follow each other without an end; nil if the moves end. Then it adds the addresses on the way to ended,
// from where nothing is followed again.
func (x *index) cycle(start addr.Instance, n int, ended map[addr.Instance]struct{}) []*move {
	var trail []*move
	passed := map[addr.Instance]int{} // index in trail
	for at := start; ; {
		if i, ok := passed[at]; ok {
			return trail[i:]
		}
		if len(trail) > n { // some move has come twice, into its own destination
			again := trail[slices.Index(trail, trail[n]):]
			return again[:1+slices.Index(again[1:], trail[n])]
		}
		if _, ok := ended[at]; ok {
			break
		}
		next, mv, ok := x.next(at)
		if !ok || next == at {
			break
		}
		passed[at] = len(trail)
		trail = append(trail, mv)
		at = next
	}
	for a := range passed {
		ended[a] = struct{}{}
	}
	return nil
}

// example returns the address of an object that the move concerns: one without keys, except for those that
// the move names.
func (mv *move) example() addr.Instance {
	in := addr.Instance{Module: addr.RootInstance, Key: mv.from.Key}
	for _, name := range mv.module.Calls() {
		in.Module = in.Module.Child(name, addr.NoKey)
	}
	for _, step := range mv.from.Module.Path() {
		_, name, key := step.Parent()
		in.Module = in.Module.Child(name, key)
	}
	if mv.from.Resource != nil {
		in.Resource = *mv.from.Resource
	}
	return in
}

// cyclicMoves is the error for moved blocks that form a cycle. It lists them in the order in which an
// object would pass through them, each with its place in the configuration.
func cyclicMoves(trail []*move) diag.List {
	var sb strings.Builder
	for _, mv := range trail {
		fmt.Fprintf(&sb, "  %s becomes %s (%s)\n", mv.from, mv.to, diag.Place(mv.rng))
	}
	return diag.At(trail[0].rng, "Cyclic dependency in move statements",
		"These moved blocks form a cycle, so no object would ever arrive:\n\n%s\nRemove the block that is wrong. The last address must be the one that the configuration declares.", sb.String())
}
