package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Descend follows a traversal into an expression as far as it is written out there. It returns the
// innermost expression that the traversal certainly leads to or into.
//
//	{ a = [x, y] }  and  .a[1]  →  y
func Descend(e hcl.Expression, rest hcl.Traversal) hcl.Expression {
	for _, step := range rest {
		var key cty.Value
		switch step := step.(type) {
		case hcl.TraverseAttr:
			key = cty.StringVal(step.Name)
		case hcl.TraverseIndex:
			key = step.Key
		default:
			return e
		}
		next := Element(e, key)
		if next == nil {
			return e
		}
		e = next
	}
	return e
}

// Element returns the element that a written-out object or tuple has for a key; nil if it has none, or may
// have one under a computed key.
func Element(e hcl.Expression, key cty.Value) hcl.Expression {
	if key.IsMarked() || !key.IsKnown() || key.IsNull() {
		return nil
	}
	if items, diags := hcl.ExprList(e); !diags.HasErrors() && key.Type() == cty.Number {
		if n, _ := key.AsBigFloat().Int64(); n >= 0 && n < int64(len(items)) {
			return items[n]
		}
		return nil
	}
	pairs, diags := hcl.ExprMap(e)
	if diags.HasErrors() || key.Type() != cty.String {
		return nil
	}
	var found hcl.Expression
	for _, pair := range pairs {
		name, diags := pair.Key.Value(nil)
		if diags.HasErrors() || name.Type() != cty.String || !name.IsKnown() {
			return nil // a computed key, which may be this one
		}
		if name.AsString() == key.AsString() {
			found = pair.Value
		}
	}
	return found
}
