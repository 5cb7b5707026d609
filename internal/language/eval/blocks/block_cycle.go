package blocks

import (
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// BlockCycle is a cycle of blocks that wait for each other.
type BlockCycle struct {
	Blocks []string // their addresses
	Diags  diag.List
}

// BlockCycles finds cycles of blocks that all of their instances share: every reference on the way is to a
// block that is not repeated, or to all instances of one. Demand finds cycles too, but not every one: while
// validating, no instance of a repeated block is demanded, and a module as a whole waits for nothing by
// itself. So these are the cycles through repeated blocks or whole modules, one of those that share a block.
func (c *Config) BlockCycles() []BlockCycle {
	var out []BlockCycle
	reported := map[Node]bool{}
	s := search{follow: forAllInstances, cycle: func(path []edge) {
		if !slices.ContainsFunc(path, func(e edge) bool { return isRepeated(e.to) || isGroup(e.to) }) ||
			slices.ContainsFunc(path, func(e edge) bool { return reported[e.to] }) {
			return
		}
		for _, e := range path {
			reported[e.to] = true
		}
		out = append(out, BlockCycle{names(path), cycleOf(path)})
	}}
	for n := range c.eachNode {
		switch n.(type) {
		case *Resource, *Call:
			s.from(n)
		}
	}
	return out
}

// isGroup reports whether a node means several blocks, or how many instances of them there are.
func isGroup(n Node) bool {
	switch n.(type) {
	case insideOf, outputsOf, *Call:
		return true
	default:
		return false
	}
}

// forAllInstances reports whether every instance of a node has to wait for the target of the edge.
func forAllInstances(from Node, e edge) bool {
	if e.role&(InPrevention|InProviderKey|toCall|Triggering) != 0 || refersBack(from, e) || picksInstance(e) {
		return false
	}
	switch from.(type) {
	case *Value:
		return e.role&(InBody|inDependsOn) != 0
	case insideOf:
		return e.role&(toPart|AroundIt) != 0
	default:
		return true
	}
}

// picksInstance reports whether the edge is a reference to one of several instances.
func picksInstance(e edge) bool {
	if e.ref == nil || e.ref.Index == nil {
		return false
	}
	switch to := e.to.(type) {
	case *Resource:
		return FormOf(to.Repeat).Keyed()
	case *Value:
		return e.ref.Kind == lang.Module && FormOf(to.Module.call().Repeat).Keyed()
	case outputsOf:
		return FormOf(to.call().Repeat).Keyed()
	case insideOf:
		return FormOf(to.call().Repeat).Keyed()
	default:
		return false
	}
}

// isRepeated reports whether the node is a resource that is repeated, or in a module that is.
func isRepeated(n Node) bool {
	r, ok := n.(*Resource)
	return ok && !r.Single()
}

// Single reports whether neither the block nor a module around it is repeated.
func (b *Resource) Single() bool {
	for m := b.Module; m.Parent != nil; m = m.Parent {
		if m.call().Repeat.Repeated() {
			return false
		}
	}
	return !b.Repeat.Repeated()
}
