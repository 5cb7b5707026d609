package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// computeBorrows finds, for each block, the resources with computed values that are not stored and that
// evaluating the block may read. An apply has such values only for as long as something may still read them.
func (c *Config) computeBorrows() {
	for n := range c.eachNode {
		if r, ok := n.(*Resource); ok && len(r.Computed) > 0 {
			c.lends = true
		}
	}
	if !c.lends {
		for n := range c.eachNode {
			if v, ok := n.(*Value); ok {
				v.Borrows = noOpens // computing it later would write to the configuration, which runs share
			}
		}
		return
	}
	for n := range c.eachNode {
		switch b := n.(type) {
		case *Value:
			b.computeBorrows()
		case *Provider:
			b.Borrows = borrowsOf(b, Opening)
		case *Check:
			b.Borrows = borrowsOf(b, Opening)
		case *Resource:
			b.Borrows = borrowsOf(b, Opening)
		}
	}
}

// Lends reports whether ephemeral_attributes names values that providers compute.
func (c *Config) Lends() bool { return c.lends }

// computeBorrows is recursive along references, as computeOpens is.
func (v *Value) computeBorrows() *OpenSet {
	if v.Borrows == nil {
		v.Borrows = noOpens
		v.Borrows = borrowsOf(v, InBody)
	}
	return v.Borrows
}

// borrowsOf returns the resources with such values that the references of a node in the given roles lead to,
// through values. An ephemeral resource does not lead further, since opening it is an operation of its own.
func borrowsOf(n Node, roles Role) *OpenSet {
	set := noOpens
	for e := range n.edges {
		if e.role&roles != 0 {
			set = set.union(borrowedBy(e))
		}
	}
	return set
}

func borrowedBy(e edge) *OpenSet {
	switch b := e.to.(type) {
	case *Value:
		return b.computeBorrows()
	case outputsOf:
		return borrowsOf(b, toOutput)
	case *Resource:
		if MayReachComputed(b, e.ref) {
			return &OpenSet{All: map[addr.ConfigResource]struct{}{b.Config.Config(): {}}}
		}
	}
	return noOpens
}

// MayReachComputed reports whether a reference to a resource may lead to a computed value that is not stored.
// It does not if it names another attribute.
func MayReachComputed(b *Resource, ref *lang.Ref) bool {
	if len(b.Computed) == 0 || ref == nil {
		return len(b.Computed) > 0
	}
	if keyed := b.Repeat.Count != nil || b.Repeat.ForEach != nil; keyed != (ref.Index != nil) || len(ref.Rest) == 0 {
		return true
	}
	named, ok := ref.Rest[0].(hcl.TraverseAttr)
	return !ok || slices.ContainsFunc(b.Computed, func(p cty.Path) bool {
		first, ok := p[0].(cty.GetAttrStep)
		return !ok || first.Name == named.Name
	})
}

// BorrowsOf returns the resources with such values that evaluating expressions in a module may read. It
// ignores nil expressions.
func BorrowsOf(m *Module, exprs ...*lang.Expr) *OpenSet {
	set := noOpens
	add := emit(func(e edge) bool {
		set = set.union(borrowedBy(e))
		return true
	})
	lister(add.in(m, InBody)).exprs(InBody, exprs...)
	return set
}
