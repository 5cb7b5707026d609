package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// WhollyEphemeral reports whether an expression in a module gives nothing but an ephemeral value, whatever
// it refers to. Where that depends on a function, on keys or on the branch that is taken, the answer is no.
func WhollyEphemeral(m *Module, e hcl.Expression) bool {
	return ephemeralSearch{}.expr(m, e, nil)
}

// ephemeralSearch has the local values that were looked into, each once.
type ephemeralSearch map[*Value]struct{}

// expr is WhollyEphemeral for the part of an expression that rest leads to.
func (s ephemeralSearch) expr(m *Module, e hcl.Expression, rest hcl.Traversal) bool {
	for len(rest) > 0 {
		inner := lang.Descend(e, rest[:1])
		if inner == e {
			break
		}
		e, rest = inner, rest[1:]
	}
	switch n := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return s.expr(m, n.Expression, rest)
	case *hclsyntax.TemplateWrapExpr:
		return s.expr(m, n.Wrapped, rest)
	case *hclsyntax.ScopeTraversalExpr:
		return s.reference(m, slices.Concat(n.Traversal, rest))
	case *hclsyntax.RelativeTraversalExpr:
		return s.expr(m, n.Source, slices.Concat(n.Traversal, rest))
	case *hclsyntax.IndexExpr:
		return s.expr(m, n.Collection, nil)
	case *hclsyntax.ConditionalExpr:
		return s.expr(m, n.TrueResult, rest) && s.expr(m, n.FalseResult, rest)
	case *hclsyntax.BinaryOpExpr:
		return s.expr(m, n.LHS, nil) || s.expr(m, n.RHS, nil)
	case *hclsyntax.UnaryOpExpr:
		return s.expr(m, n.Val, nil)
	case *hclsyntax.TemplateExpr:
		return slices.ContainsFunc(n.Parts, func(part hclsyntax.Expression) bool { return s.expr(m, part, nil) })
	case hclsyntax.Node:
		return false
	}
	text, _ := e.Value(nil) // in JSON syntax, strings are templates
	if text.Type() != cty.String {
		return false
	}
	parsed, diags := hclsyntax.ParseTemplate([]byte(text.AsString()), "", hcl.InitialPos)
	return !diags.HasErrors() && s.expr(m, parsed, rest)
}

func (s ephemeralSearch) reference(m *Module, t hcl.Traversal) bool {
	ref, _ := lang.ParseRef(t) // an invalid one, which was reported, leads nowhere
	for to := range m.targets(&ref) {
		switch b := to.(type) {
		case *Resource:
			return isEphemeral(b)
		case *Value:
			return s.value(b, ref.Rest)
		}
	}
	return false
}

// value is expr for the expression of a value. A variable or output is ephemeral as a whole or not at all,
// as its declaration says.
func (s ephemeralSearch) value(v *Value, rest hcl.Traversal) bool {
	switch v.Kind {
	case VariableValue:
		return v.Variable.Ephemeral
	case OutputValue:
		return v.Output.Ephemeral
	}
	if _, again := s[v]; again {
		return false
	}
	s[v] = struct{}{}
	return s.expr(v.Module, v.Expr.Source, rest)
}
