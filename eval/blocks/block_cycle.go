package blocks

import (
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// BlockCycles reports cycles of blocks that hold for all of their instances: every reference on the way is to
// a block that is not repeated, or to all instances of one. While validating, no instance of a repeated block
// is demanded, so such cycles are not met; those without one are left to demand.
func (c *Config) BlockCycles() diag.List {
	var diags diag.List
	s := search{follow: forAllInstances, cycle: func(path []edge) {
		if slices.ContainsFunc(path, func(e edge) bool { return isRepeated(e.to) }) {
			diags = append(diags, cycleOf(path)...)
		}
	}}
	for n := range c.eachNode {
		if _, ok := n.(*Resource); ok {
			s.from(n)
		}
	}
	return diags
}

// forAllInstances reports whether every instance of a node has to wait for what the edge leads to.
func forAllInstances(from Node, e edge) bool {
	if e.role&(inPrevention|inProviderKey|toCall) != 0 || refersBack(from, e) || picksInstance(e) {
		return false
	}
	switch from.(type) {
	case *Value:
		return e.role&(inBody|inDependsOn) != 0
	case insideOf:
		return e.role == toPart
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
