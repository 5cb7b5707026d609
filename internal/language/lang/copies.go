package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Copies reports whether the expression gives parts of other values as they are: it is a reference, chooses
// between references, or builds an object or a list of them.
func (x *Expr) Copies() bool { return copies(x.Source) }

func copies(e hcl.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.AnonSymbolExpr:
		return true
	case *hclsyntax.RelativeTraversalExpr:
		return copies(e.Source)
	case *hclsyntax.IndexExpr:
		return copies(e.Collection)
	case *hclsyntax.ParenthesesExpr:
		return copies(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return copies(e.Wrapped)
	case *hclsyntax.ConditionalExpr:
		return copiesOrConstant(e.TrueResult) && copiesOrConstant(e.FalseResult) && !sameRoots(e.Condition, e.TrueResult, e.FalseResult)
	case *hclsyntax.FunctionCallExpr:
		return slices.Contains(choosing[:], strings.TrimPrefix(e.Name, "core::")) && !e.ExpandFinal && len(e.Args) == 1 && copies(e.Args[0])
	case *hclsyntax.SplatExpr:
		return copies(e.Source) && copies(e.Each)
	case *hclsyntax.ForExpr:
		return e.CondExpr == nil && copies(e.CollExpr) && copies(e.ValExpr)
	case *hclsyntax.TupleConsExpr:
		return !slices.ContainsFunc(e.Exprs, func(e hclsyntax.Expression) bool { return !copiesOrConstant(e) })
	case *hclsyntax.ObjectConsExpr:
		return !slices.ContainsFunc(e.Items, func(i hclsyntax.ObjectConsItem) bool { return !copiesOrConstant(i.ValueExpr) })
	case hclsyntax.Node:
		return false
	}
	return foreignCopies(e)
}

// choosing are functions that give parts of their argument.
var choosing = [...]string{"one", "values"}

// sameRoots reports whether an expression refers to something that the results refer to as well: a condition
// about a value would decide on the fate of that value.
func sameRoots(e hcl.Expression, results ...hcl.Expression) bool {
	for _, r := range results {
		for _, t := range r.Variables() {
			if slices.ContainsFunc(e.Variables(), func(c hcl.Traversal) bool { return c.RootName() == t.RootName() }) {
				return true
			}
		}
	}
	return false
}

func copiesOrConstant(e hcl.Expression) bool { return copies(e) || len(e.Variables()) == 0 }

// foreignCopies is copies for an expression of JSON syntax, whose strings are templates.
func foreignCopies(e hcl.Expression) bool {
	if items, diags := hcl.ExprList(e); !diags.HasErrors() {
		return !slices.ContainsFunc(items, func(e hcl.Expression) bool { return !copiesOrConstant(e) })
	}
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		return !slices.ContainsFunc(pairs, func(p hcl.KeyValuePair) bool { return !copiesOrConstant(p.Value) })
	}
	template, ok := foreignTemplate(e)
	return ok && copies(template)
}
