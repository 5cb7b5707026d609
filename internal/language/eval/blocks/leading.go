package blocks

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// leading finds the resources that evaluations lead to, through values: those that they may open, or those
// with computed values that they may read.
type leading bool

const (
	toOpen   leading = false
	toBorrow leading = true
)

// of returns the resources that evaluating the references of a node in the given roles leads to. A resource
// does not lead further, since opening or making it is an operation of its own.
func (l leading) of(n Node, roles Role) *OpenSet {
	set := noOpens
	for e := range n.edges {
		if e.role&roles != 0 {
			set = set.union(l.behind(e))
		}
	}
	if l == toBorrow { // the elements of for_each may be made of computed values, but not of others
		set = set.union(elementsBorrow(n, roles))
	}
	return set
}

// ofExprs is of for expressions in a module. It ignores nil expressions.
func (l leading) ofExprs(m *Module, exprs []*lang.Expr) *OpenSet {
	set := noOpens
	add := emit(func(e edge) bool {
		set = set.union(l.behind(e))
		return true
	})
	lister(add.in(m, InBody)).exprs(InBody, exprs...)
	return set
}

// behind returns the resources that an edge leads to.
func (l leading) behind(e edge) *OpenSet {
	switch b := e.to.(type) {
	case *Value:
		return l.ofValue(b)
	case outputsOf:
		return l.of(b, toOutput)
	case *Resource:
		if l == toOpen && isEphemeral(b) || l == toBorrow && MayReachComputed(b, e.ref) {
			return &OpenSet{All: map[addr.ConfigResource]struct{}{b.Config.Config(): {}}}
		}
	}
	return noOpens
}

// ofValue is of for a value, found once. It is recursive along references. A cycle, which evaluation reports,
// ends at the value that is being looked at.
func (l leading) ofValue(v *Value) *OpenSet {
	found := &v.Opens
	if l == toBorrow {
		found = &v.Borrows
	}
	if *found == nil {
		*found = noOpens
		*found = l.of(v, InBody)
	}
	return *found
}
