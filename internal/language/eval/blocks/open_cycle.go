package blocks

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// openCycles reports ephemeral blocks, and values made from them, that wait for each other in a cycle.
// Opening happens within sessions, where a walk does not meet cycles by demand, so they are found here, for
// blocks and not for instances.
func (c *Config) openCycles() diag.List {
	var diags diag.List
	s := search{follow: opening, cycle: func(path []edge) {
		if slices.ContainsFunc(path, func(e edge) bool { return unseenByDemand(e.to) }) {
			diags = append(diags, cycleOf(path)...)
		}
	}}
	for n := range c.eachNode {
		if v, ok := n.(*Value); isEphemeral(n) || ok && !v.Opens.Empty() {
			s.from(n)
		}
	}
	return diags
}

// opening reports whether a node that opens something has to wait for the target of the edge.
func opening(from Node, e edge) bool {
	if r, ok := e.to.(*Resource); ok && r.Config.Addr.Mode != addr.Ephemeral || refersBack(from, e) {
		return false
	}
	if p, ok := e.to.(*Provider); ok {
		return !p.Opens.Empty() && e.role&toFunction == 0 // functions of such a provider cannot be called
	}
	switch from.(type) {
	case *Resource:
		return e.role&(InBody|InPrecondition|InPostcondition|inDependsOn|AroundIt) != 0
	case *Call:
		return e.role&(inDependsOn|AroundIt) != 0
	case insideOf, outputsOf:
		return true
	default:
		return e.role == InBody
	}
}

// unseenByDemand reports whether demand does not meet a cycle through the node. It meets cycles of values
// that open nothing.
func unseenByDemand(n Node) bool {
	v, ok := n.(*Value)
	return !ok || !v.Opens.Empty()
}
