package document

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// jsonExpression is the value of a constant expression, or the references of any other.
type jsonExpression struct {
	ConstantValue json.RawMessage `json:"constant_value,omitempty"`
	References    []string        `json:"references,omitempty"`
}

// expressionJSON encodes an expression, nil for none. An expression is constant if it evaluates without
// variables and functions.
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
		for _, prefix := range lang.Prefixes(t) {
			out.References = append(out.References, diag.Reference(prefix))
		}
	}
	out.References = append(out.References, lang.ProviderFunctions(expr)...)
	return out
}

// tellingJSON is expressionJSON, but returns nil for an expression without constant value and references.
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
