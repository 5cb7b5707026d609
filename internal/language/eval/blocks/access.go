package blocks

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// access is a way in which evaluations reach resources, through values: they open them, or they read computed
// values of theirs that are not stored.
type access bool

const (
	toOpen   access = false
	toBorrow access = true
)

// find returns the resources that evaluating the references of a node in the given roles leads to. A resource
// does not lead further, since opening or making it is an operation of its own.
func (a access) find(n Node, roles Role) *OpenSet {
	set := noOpens
	for e := range n.edges {
		if e.role&roles != 0 {
			set = set.union(a.findBehind(e))
		}
	}
	if a == toBorrow { // the elements of for_each may be made of computed values, but not of others
		set = set.union(elementsBorrow(n, roles))
	}
	return set
}

// findIn returns the resources that evaluating expressions in a module leads to. It ignores nil expressions.
func (a access) findIn(m *Module, exprs []*lang.Expr) *OpenSet {
	set := noOpens
	add := emit(func(e edge) bool {
		set = set.union(a.findBehind(e))
		return true
	})
	lister(add.in(m, InBody)).exprs(InBody, exprs...)
	return set
}

// findBehind returns the resources that an edge leads to.
func (a access) findBehind(e edge) *OpenSet {
	switch b := e.to.(type) {
	case *Value:
		return a.findForValue(b)
	case outputsOf:
		return a.find(b, toOutput)
	case *Resource:
		if a == toOpen && isEphemeral(b) || a == toBorrow && MayReachComputed(b, e.ref) {
			return &OpenSet{All: map[addr.ConfigResource]struct{}{b.Config.Config(): {}}}
		}
	}
	return noOpens
}

// findForValue returns the resources that evaluating a value leads to. It searches once for each value. It is
// recursive along references, and a cycle, which evaluation reports, ends at the value where it began.
func (a access) findForValue(v *Value) *OpenSet {
	found := &v.Opens
	if a == toBorrow {
		found = &v.Borrows
	}
	if *found == nil {
		*found = noOpens
		*found = a.find(v, InBody)
	}
	return *found
}
