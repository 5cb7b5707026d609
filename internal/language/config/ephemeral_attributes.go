package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ephemeralAttributes decodes an ephemeral_attributes argument: a list of paths relative to the resource, in
// which [*] stands for every element. They are checked against the schema of the resource where that is
// known.
func (d *resourceDecoder) ephemeralAttributes(attr *hcl.Attribute) []hcl.Traversal {
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		d.errorAt(attr.Expr.Range(), "Invalid expression", "The argument \"ephemeral_attributes\" takes a list of attributes, such as [password].")
		return nil
	}
	var paths []hcl.Traversal
	for _, expr := range exprs {
		inner := d.unquote(expr)
		if inner == nil {
			continue
		}
		if path := splatPath(inner); path != nil {
			paths = append(paths, path)
			continue
		}
		d.errorAt(expr.Range(), "Invalid expression",
			"An element of \"ephemeral_attributes\" is the name of an attribute, or a path such as rule[0].password or rule[*].password.")
	}
	return paths
}

// splatPath converts an expression to a path that is relative to a resource, nil if it is none.
func splatPath(expr hcl.Expression) hcl.Traversal {
	if t, diags := hcl.RelTraversalForExpr(expr); !diags.HasErrors() {
		return t
	}
	switch e := expr.(type) {
	case *hclsyntax.SplatExpr:
		of := splatPath(e.Source)
		if of == nil {
			return nil
		}
		every := append(slices.Clone(of), hcl.TraverseSplat{SrcRange: e.MarkerRange})
		if e.Each == e.Item {
			return every
		}
		within := splatPath(e.Each)
		if within == nil {
			return nil
		}
		return append(every, within...)
	case *hclsyntax.RelativeTraversalExpr:
		if _, element := e.Source.(*hclsyntax.AnonSymbolExpr); element {
			return e.Traversal
		}
		if of := splatPath(e.Source); of != nil {
			return append(slices.Clone(of), e.Traversal...)
		}
	}
	return nil
}
