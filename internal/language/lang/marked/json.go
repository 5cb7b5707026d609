package marked

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// fromJSON translates an expression of JSON syntax to native syntax, in which its parts can be replaced. It
// returns false if e has another syntax, or an error that only its own evaluation reports.
func fromJSON(e hcl.Expression) (hclsyntax.Expression, bool) {
	if !hcljson.IsJSONExpression(e) {
		return nil, false
	}
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		return objectFromJSON(pairs, e.Range())
	}
	if items, diags := hcl.ExprList(e); !diags.HasErrors() {
		out := &hclsyntax.TupleConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		for _, item := range items {
			x, ok := fromJSON(item)
			if !ok {
				return nil, false
			}
			out.Exprs = append(out.Exprs, x)
		}
		return out, true
	}
	v, diags := e.Value(nil) // without a context, strings are given as they are written
	switch {
	case diags.HasErrors() || !v.IsKnown():
		return nil, false
	case v.IsNull() || v.Type() != cty.String:
		return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}, true
	}
	start := e.Range().Start
	start.Byte++ // the quotation mark
	start.Column++
	x, diags := hclsyntax.ParseTemplate([]byte(v.AsString()), e.Range().Filename, start)
	return x, !diags.HasErrors()
}

// objectFromJSON translates an object of JSON syntax.
func objectFromJSON(pairs []hcl.KeyValuePair, rng hcl.Range) (hclsyntax.Expression, bool) {
	out := &hclsyntax.ObjectConsExpr{SrcRange: rng, OpenRange: rng}
	seen := map[string]hcl.Range{}
	for _, pair := range pairs {
		if name, diags := pair.Key.Value(nil); !diags.HasErrors() && name.Type() == cty.String {
			text := name.AsString()
			if first, again := seen[text]; again {
				return duplicateKey{ObjectConsExpr: out, text: text, first: first, again: pair.Key.Range()}, true
			}
			seen[text] = pair.Key.Range()
		}
		key, ok := fromJSON(pair.Key)
		if !ok {
			return nil, false
		}
		val, ok := fromJSON(pair.Value)
		if !ok {
			return nil, false
		}
		out.Items = append(out.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: val})
	}
	return out, true
}

// duplicateKey is an object with two keys of the same text, whose evaluation is an error. HCL compares the
// values of the keys, which panics if they are marked.
type duplicateKey struct {
	*hclsyntax.ObjectConsExpr
	text         string // as written, with its interpolations
	first, again hcl.Range
}

// Value implements hcl.Expression.
func (d duplicateKey) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	return cty.DynamicVal, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Duplicate object attribute",
		Detail:   fmt.Sprintf("An attribute named %q was already defined at %s. Remove one of them.", d.text, d.first),
		Subject:  &d.again,
	}}
}
