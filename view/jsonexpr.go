package view

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
)

// jsonExpression tells the value of an expression that is constant, and the references of any other.
type jsonExpression struct {
	ConstantValue json.RawMessage `json:"constant_value,omitempty"`
	References    []string        `json:"references,omitempty"`
}

// expressionJSON encodes an expression, nil for none. Constants are those that evaluate without any name or
// function in scope.
func expressionJSON(expr hcl.Expression) *jsonExpression {
	if expr == nil {
		return nil
	}
	out := &jsonExpression{}
	variables := expr.Variables()
	if len(variables) == 0 {
		if v, diags := expr.Value(nil); !diags.HasErrors() && v.IsWhollyKnown() {
			out.ConstantValue = valueJSON(v)
		}
	}
	for _, t := range variables {
		out.References = append(out.References, references(t)...)
	}
	out.References = append(out.References, providerFunctions(expr)...)
	return out
}

// providerFunctions returns the names of the functions of providers that an expression calls.
func providerFunctions(expr hcl.Expression) []string {
	node, ok := expr.(hclsyntax.Node)
	if !ok {
		return nil
	}
	var out []string
	// Looking around cannot fail, and gives no diagnostics.
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && strings.HasPrefix(call.Name, "provider::") {
			out = append(out, call.Name)
		}
		return nil
	})
	return out
}

// tellingJSON is expressionJSON, but nil for an expression of which there is nothing to tell.
func tellingJSON(expr hcl.Expression) *jsonExpression {
	if e := expressionJSON(expr); e != nil && (e.ConstantValue != nil || e.References != nil) {
		return e
	}
	return nil
}

func traversalsJSON(list []hcl.Traversal) []string {
	var out []string
	for _, t := range list {
		out = append(out, diag.Reference(t))
	}
	return out
}

// references returns a reference and every shorter one down to the object it names: for `t.n[0].a.b` that is
// `t.n[0].a.b`, `t.n[0].a`, `t.n[0]`, `t.n`.
func references(t hcl.Traversal) []string {
	for i, step := range t {
		if _, splat := step.(hcl.TraverseSplat); splat {
			t = t[:i]
			break
		}
	}
	if t.RootName() == "resource" && len(t) > 1 {
		if step, ok := t[1].(hcl.TraverseAttr); ok { // the long form of a reference says no more than the short one
			t = append(hcl.Traversal{hcl.TraverseRoot{Name: step.Name, SrcRange: step.SrcRange}}, t[2:]...)
		}
	}
	shortest := min(subjectLength(t), len(t))
	var out []string
	for n := len(t); n >= shortest && n > 0; n-- {
		out = append(out, diag.Reference(t[:n]))
	}
	return out
}

// subjectLength returns how many steps name the object.
func subjectLength(t hcl.Traversal) int {
	switch t.RootName() {
	case "data", "ephemeral", "resource":
		return 3
	case "self":
		return 1
	case "module":
		if len(t) > 2 {
			if _, keyed := t[2].(hcl.TraverseIndex); keyed {
				return 3
			}
		}
		return 2
	default:
		return 2
	}
}
