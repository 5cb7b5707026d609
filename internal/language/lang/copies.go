package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Copies reports whether the expression gives parts of other values as they are: it is a reference, or builds
// an object or a list of references.
func (x *Expr) Copies() bool { return copies(x.Source) }

func copies(e hcl.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return true
	case *hclsyntax.RelativeTraversalExpr:
		return copies(e.Source)
	case *hclsyntax.IndexExpr:
		return copies(e.Collection)
	case *hclsyntax.ParenthesesExpr:
		return copies(e.Expression)
	case *hclsyntax.TupleConsExpr:
		return !slices.ContainsFunc(e.Exprs, func(e hclsyntax.Expression) bool { return !copies(e) && len(e.Variables()) > 0 })
	case *hclsyntax.ObjectConsExpr:
		return !slices.ContainsFunc(e.Items, func(i hclsyntax.ObjectConsItem) bool {
			return !copies(i.ValueExpr) && len(i.ValueExpr.Variables()) > 0
		})
	}
	return false
}
