package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
)

// search walks the graph of blocks depth first, each node once, along the edges that follow accepts.
type search struct {
	// follow reports whether the walk takes an edge of the node from.
	follow func(from Node, e edge) bool
	// cycle, if set, is called for each edge that leads back to a node on the way, with the edges from there
	// on: the last of them leads to where the first one starts.
	cycle func(path []edge)
	// found, if set, reports whether the walk ends at a node.
	found func(Node) bool

	seen map[Node]bool // true for nodes on the way, false for nodes left
	way  []edge        // way[i] is how the walk came to the i-th node on it
}

// from walks from a node that the search may have seen. It reports whether it came to the target; way leads
// there then.
func (s *search) from(start Node) bool { return s.visit(edge{to: start}) }

// visit follows an edge. Each node is visited once, and stays in seen with true while it is on the current
// path: an edge back to such a node closes a cycle, an edge to any other visited node does not.
func (s *search) visit(e edge) bool {
	n := e.to
	if on, again := s.seen[n]; again {
		if on && s.cycle != nil {
			at := slices.IndexFunc(s.way, func(earlier edge) bool { return earlier.to == n })
			s.cycle(append(slices.Clone(s.way[at+1:]), e))
		}
		return false
	}
	if s.seen == nil {
		s.seen = map[Node]bool{}
	}
	s.seen[n] = true
	s.way = append(s.way, e)
	if s.found != nil && s.found(n) {
		return true
	}
	for next := range n.edges {
		if s.follow(n, next) && s.visit(next) {
			return true
		}
	}
	s.way = s.way[:len(s.way)-1]
	s.seen[n] = false
	return false
}

// names returns the names of the nodes that edges lead to, a module and its content as one.
func names(path []edge) []string {
	var out []string
	for _, e := range path {
		if name := e.to.Address(); len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// cycleOf returns the error for a cycle of edges.
func cycleOf(path []edge) diag.List {
	var names []string
	var vias []*hcl.Range
	for i, e := range path {
		from := path[(i+len(path)-1)%len(path)].to
		if from.Address() == e.to.Address() && e.ref == nil && len(path) > 1 {
			continue // between a module, its call and its content
		}
		names, vias = append(names, from.Address()), append(vias, e.via)
	}
	return Cycle(names, vias)
}

// refersBack reports whether an edge is a reference of a block to its own object, where that exists already.
func refersBack(from Node, e edge) bool { return e.to == from && e.role&Afterwards != 0 }

// RepetitionNeeds reports whether a repetition in the module depends on a node that found
// reports, directly or through others.
func (m *Module) RepetitionNeeds(r Repetition, found func(Node) bool) bool {
	s := search{found: found, follow: func(_ Node, e edge) bool {
		return e.role&(InRepetition|InBody|InElement|toCall|toOutput) != 0
	}}
	y := emit(func(e edge) bool { return !s.visit(e) })
	return !lister(y.in(m, InRepetition)).repetition(r)
}

// ConditionsLeadToObjects reports whether the conditions of a variable or output refer to resources or
// modules, directly or through local values.
func (v *Value) ConditionsLeadToObjects() bool {
	s := search{
		found: func(n Node) bool {
			b, ok := n.(*Value)
			return !ok || b.Kind == OutputValue
		},
		follow: func(from Node, _ edge) bool {
			b, ok := from.(*Value)
			return ok && b.Kind == LocalValue
		},
	}
	for e := range v.edges {
		if e.role == InPrecondition && s.visit(e) {
			return true
		}
	}
	return false
}
