package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/addr"
)

// ephemeralAttributes decodes an ephemeral_attributes argument: a list of paths relative to the resource, in
// which [*] stands for every element, or a map from such paths to versions. The paths are checked against the
// schema of the resource where that is known.
func (d *resourceDecoder) ephemeralAttributes(attr *hcl.Attribute) []EphemeralAttribute {
	if exprs, diags := hcl.ExprList(attr.Expr); !diags.HasErrors() {
		return d.withheldPaths(exprs, nil)
	}
	pairs, diags := hcl.ExprMap(attr.Expr)
	if diags.HasErrors() {
		d.errorAt(attr.Expr.Range(), "Invalid expression",
			"The argument \"ephemeral_attributes\" takes a list of attributes, such as [password], or a map from attributes to versions, such as { password = 1 }.")
		return nil
	}
	var paths, versions []hcl.Expression
	for _, pair := range pairs {
		key := pair.Key
		if k, ok := key.(*hclsyntax.ObjectConsKeyExpr); ok {
			key = k.Wrapped
		}
		paths, versions = append(paths, key), append(versions, pair.Value)
	}
	return d.withheldPaths(paths, versions)
}

var ephemeralPolicySchema = schema("names! provider module")

// ephemeralPolicy decodes an ephemeral_attributes block, which only the root module has.
func (d *resourceDecoder) ephemeralPolicy(block *hcl.Block) {
	if !d.m.Path.IsRoot() {
		d.errorAt(block.DefRange, "Block in a module",
			"An ephemeral_attributes block can only be in the root module, whose author decides about the state. In a module, use the lifecycle argument of that name.")
		return
	}
	content := d.content(block.Body, ephemeralPolicySchema)
	p := &EphemeralPolicy{Type: block.Labels[0], Range: block.DefRange}
	if attr := content.Attributes["names"]; attr != nil {
		exprs, diags := hcl.ExprList(attr.Expr)
		if diags.HasErrors() {
			d.errorAt(attr.Expr.Range(), "Invalid expression", "The argument \"names\" takes a list of attributes, such as [password].")
			return
		}
		p.Names = d.withheldPaths(exprs, nil)
	}
	if attr := content.Attributes["provider"]; attr != nil {
		p.Provider = d.providerRef(attr.Expr)
	}
	if attr := content.Attributes["module"]; attr != nil {
		if p.Module = d.traversal(attr.Expr); p.Module != nil {
			if to, err := addr.TargetFromTraversal(p.Module); err != nil || to.Resource != nil {
				d.errorAt(attr.Expr.Range(), "Invalid module address", "The argument \"module\" takes the address of a module, such as module.db.")
				return
			}
		}
	}
	d.m.Ephemeral = append(d.m.Ephemeral, p)
}

// withheldPaths decodes the paths, each with its version if there are any.
func (d *resourceDecoder) withheldPaths(exprs, versions []hcl.Expression) []EphemeralAttribute {
	var out []EphemeralAttribute
	for i, expr := range exprs {
		inner := d.unquote(expr)
		if inner == nil {
			continue
		}
		path := splatPath(inner)
		if path == nil {
			d.errorAt(expr.Range(), "Invalid expression",
				"\"ephemeral_attributes\" names attributes: a name, or a path such as rule[0].password or rule[*].password.")
			continue
		}
		one := EphemeralAttribute{Path: path}
		if versions != nil {
			one.Version = versions[i]
		}
		out = append(out, one)
	}
	return out
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
