package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Elements selects attributes of the elements of a collection: nothing else of them is read. A module call
// that is repeated has many instances and outputs. Without this, module.a[*].id would wait for all outputs
// of all of them, and could form a cycle that is not there.
type Elements struct {
	Names []string // sorted
	// Loop says that a for expression reads them. It goes through the attributes of an object, where a splat
	// takes the object for an element.
	Loop bool
}

// narrowFor notes which attributes of its elements a for expression over a plain traversal uses: [for m in
// module.a : m.name] needs no other output of the modules than name. Nothing is noted if an element is used
// in any other way.
func (c *compiler) narrowFor(n *hclsyntax.ForExpr) {
	coll, ok := n.CollExpr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || n.KeyVar == n.ValVar {
		return
	}
	var names []string
	for _, e := range []hclsyntax.Expression{n.KeyExpr, n.ValExpr, n.CondExpr} {
		if e == nil {
			continue
		}
		u := elementUses{of: n.ValVar}
		hclsyntax.Walk(e, &u)
		if u.otherwise {
			return
		}
		names = append(names, u.names...)
	}
	c.narrow(coll, names, true)
}

// narrowSplat notes the attribute that a splat expression over a plain traversal takes of each element.
func (c *compiler) narrowSplat(n *hclsyntax.SplatExpr) {
	coll, ok := n.Source.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return
	}
	each, ok := n.Each.(*hclsyntax.RelativeTraversalExpr)
	if !ok || each.Source != n.Item || len(each.Traversal) == 0 {
		return
	}
	if attr, ok := each.Traversal[0].(hcl.TraverseAttr); ok {
		c.narrow(coll, []string{attr.Name}, false)
	}
}

// narrow notes the attributes that are read of the elements of coll. compiler.add finds the note by the
// position of coll.
func (c *compiler) narrow(coll *hclsyntax.ScopeTraversalExpr, names []string, loop bool) {
	if len(names) == 0 {
		return
	}
	if c.narrowed == nil {
		c.narrowed = map[hcl.Pos]*Elements{}
	}
	slices.Sort(names)
	c.narrowed[coll.SrcRange.Start] = &Elements{Names: slices.Compact(names), Loop: loop}
}

// guards reports whether a part of the expression may fail to evaluate without the expression as a whole
// failing.
func guards(n hclsyntax.Node) bool {
	switch n := n.(type) {
	case *hclsyntax.ConditionalExpr:
		return true
	case *hclsyntax.FunctionCallExpr:
		name := strings.TrimPrefix(n.Name, "core::")
		return name == "try" || name == "can"
	}
	return false
}

// guard notes a traversal whose failure the expression may get by with.
func (c *compiler) guard(n *hclsyntax.ScopeTraversalExpr) {
	if c.guarded == nil {
		c.guarded = map[hcl.Pos]struct{}{}
	}
	c.guarded[n.SrcRange.Start] = struct{}{}
}

// elementUses finds out how the variable of a for expression is used: by attributes alone, or otherwise.
type elementUses struct {
	of        string
	names     []string
	otherwise bool
}

// Enter implements hclsyntax.Walker.
func (u *elementUses) Enter(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if n.Traversal.RootName() != u.of {
			return nil
		}
		if len(n.Traversal) > 1 {
			if attr, ok := n.Traversal[1].(hcl.TraverseAttr); ok {
				u.names = append(u.names, attr.Name)
				return nil
			}
		}
		u.otherwise = true
	case *hclsyntax.ForExpr:
		u.otherwise = u.otherwise || n.KeyVar == u.of || n.ValVar == u.of // another variable of the same name
	}
	return nil
}

// Exit implements hclsyntax.Walker.
func (u *elementUses) Exit(hclsyntax.Node) hcl.Diagnostics { return nil }
