package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Entries returns the references to collections that an entry of the expression's value needs only the entry
// with the same key from. Such an expression is a reference to a collection, goes over one with a for
// expression that keeps the keys, or merges such values. A collection that is also referred to in another way
// is needed as a whole.
func (x *Expr) Entries() []*Ref {
	refs := x.entries(x.Source)
	return slices.DeleteFunc(refs, func(ref *Ref) bool {
		return slices.ContainsFunc(x.Refs, func(other Ref) bool { return other.Range != ref.Range && ref.overlaps(&other) })
	})
}

func (x *Expr) entries(e hcl.Expression) (refs []*Ref) {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		at := slices.IndexFunc(x.Refs, func(ref Ref) bool { return ref.Range == e.SrcRange && ref.isCollection() })
		if at >= 0 {
			return []*Ref{&x.Refs[at]}
		}
	case *hclsyntax.ParenthesesExpr:
		return x.entries(e.Expression)
	case *hclsyntax.ForExpr:
		if keepsKeys(e) {
			return x.entries(e.CollExpr)
		}
	case *hclsyntax.FunctionCallExpr:
		if strings.TrimPrefix(e.Name, "core::") == "merge" && !e.ExpandFinal {
			for _, arg := range e.Args {
				refs = append(refs, x.entries(arg)...)
			}
		}
	}
	return refs
}

// keepsKeys reports whether a for expression builds an object with the keys of the collection.
func keepsKeys(e *hclsyntax.ForExpr) bool {
	key, ok := e.KeyExpr.(*hclsyntax.ScopeTraversalExpr)
	return ok && !e.Group && e.KeyVar != e.ValVar && len(key.Traversal) == 1 && key.Traversal.RootName() == e.KeyVar
}

// isCollection reports whether the reference is to a whole resource, variable, local or output.
func (r *Ref) isCollection() bool {
	switch {
	case r.Invalid || len(r.Rest) > 0:
		return false
	case r.Kind == Resource:
		return r.Index == nil
	case r.Kind == Module:
		return r.Output != ""
	}
	return r.Kind == Variable || r.Kind == Local
}

// overlaps reports whether another reference may lead to the same object.
func (r *Ref) overlaps(other *Ref) bool {
	if r.Kind != other.Kind || r.Name != other.Name || r.Resource != other.Resource {
		return false
	}
	return r.Kind != Module || other.Output == r.Output || other.Output == ""
}
