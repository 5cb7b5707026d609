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
			toBorrow.findForValue(b)
		case *Provider:
			b.Borrows = toBorrow.find(b, Opening)
		case *Check:
			b.Borrows = toBorrow.find(b, Opening)
		case *Resource:
			b.Borrows = toBorrow.find(b, Opening)
		}
	}
}

// Lends reports whether ephemeral_attributes names values that providers compute.
func (c *Config) Lends() bool { return c.lends }

// LentReaders returns the addresses of the blocks that may read computed values of other blocks, sorted, by
// the blocks that have these.
func (c *Config) LentReaders() map[addr.ConfigResource][]string {
	out := map[addr.ConfigResource][]string{}
	for n := range c.eachNode {
		set := noOpens
		switch b := n.(type) {
		case *Resource:
			set = b.Borrows
			for _, tr := range b.ActionTriggers {
				set = set.union(b.BorrowsOf(tr.Condition))
			}
		case *Provider:
			set = b.Borrows
		case *Check:
			set = b.Borrows
		}
		if set.Empty() {
			continue
		}
		for of := range set.All {
			if a := n.Address(); a != of.String() {
				out[of] = append(out[of], a)
			}
		}
	}
	for _, readers := range out {
		slices.Sort(readers)
	}
	return out
}

// elementsBorrow returns the resources with such values that each.value leads to in the expressions of a node
// with the given roles.
func elementsBorrow(n Node, roles Role) *OpenSet {
	switch b := n.(type) {
	case *Resource:
		return borrowedByElement(b.Module, b.Repeat.ForEach, roles, b.Exprs)
	case *Provider:
		return borrowedByElement(b.Module, b.ForEach, roles, b.Exprs)
	case *Value:
		if call := b.Module.call(); b.Kind == VariableValue && call != nil {
			return borrowedByElement(call.Module, call.Repeat.ForEach, roles, b.Exprs)
		}
	}
	return noOpens
}

// borrowedByElement returns the resources with such values that each.value leads to in expressions with the
// given roles of a block with for_each.
func borrowedByElement(m *Module, forEach *lang.Expr, roles Role, exprs func(func(Role, *lang.Expr) bool) bool) *OpenSet {
	set := noOpens
	if forEach == nil {
		return set
	}
	whole := wholeResource(forEach)
	exprs(func(r Role, x *lang.Expr) bool {
		for i := range x.Refs {
			ref := &x.Refs[i]
			if r&roles == 0 || !isElement(*ref) {
				continue
			}
			if b := resourceOf(m, whole); b == nil || reachesComputed(b, ref.Rest) {
				set = set.union(BorrowsOf(m, forEach))
			}
		}
		return true
	})
	return set
}

// wholeResource returns the reference to all instances of a resource that an expression is, nil if it is
// something else.
func wholeResource(x *lang.Expr) *lang.Ref {
	if len(x.Refs) != 1 {
		return nil
	}
	ref := &x.Refs[0]
	if ref.Invalid || ref.Kind != lang.Resource || ref.Index != nil || len(ref.Rest) > 0 || ref.Range != x.Range() {
		return nil
	}
	return ref
}

// resourceOf returns the block that a reference in a module names, nil if there is none.
func resourceOf(m *Module, ref *lang.Ref) *Resource {
	if ref == nil {
		return nil
	}
	return m.Resources[ref.Resource]
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
	return reachesComputed(b, ref.Rest)
}

// reachesComputed is mayReachComputed for the steps from an instance of a resource.
func reachesComputed(b *Resource, rest hcl.Traversal) bool {
	if len(b.Computed) == 0 || len(rest) == 0 {
		return len(b.Computed) > 0
	}
	named, ok := rest[0].(hcl.TraverseAttr)
	return !ok || slices.ContainsFunc(b.Computed, func(p cty.Path) bool {
		first, ok := p[0].(cty.GetAttrStep)
		return !ok || first.Name == named.Name
	})
}

// BorrowsOf returns the resources with such values that evaluating expressions in a module may read. It
// ignores nil expressions.
func BorrowsOf(m *Module, exprs ...*lang.Expr) *OpenSet { return toBorrow.findIn(m, exprs) }

// BorrowsOf returns the resources with such values that evaluating an expression of the block, which may be
// nil, may read.
func (r *Resource) BorrowsOf(x *lang.Expr) *OpenSet {
	set := BorrowsOf(r.Module, x)
	return set.union(borrowedByElement(r.Module, r.Repeat.ForEach, InBody, func(yield func(Role, *lang.Expr) bool) bool {
		return lister(yield).exprs(InBody, x)
	}))
}

// NeedsLent reports whether work on instances of a block may need computed values that are not stored, by
// itself or for an ephemeral instance that it opens.
func (c *Config) NeedsLent(r *Resource) bool {
	if r.Opens != nil {
		for a := range r.Opens.All {
			if m := c.Modules[a.Module]; m != nil && m.Resources[a.Resource] != nil && !m.Resources[a.Resource].Borrows.Empty() {
				return true
			}
		}
	}
	return !r.Borrows.Empty()
}
