package mock

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Check returns the errors in values that are given for the computed attributes of a type. The diagnostics
// name attributes in Path. A null or unknown v is accepted.
func Check(b *schema.Block, v cty.Value) diag.List {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	if !v.Type().IsObjectType() {
		return diag.Errorf("Invalid mock values", "The values must be an object, with the names of computed attributes.")
	}
	return check(b.Attributes, b.Blocks, nil, v)
}

// check checks the values for the attributes and blocks of one object, in the order of their names.
func check(attrs map[string]*schema.Attribute, blocks map[string]*schema.NestedBlock, path cty.Path, v cty.Value) diag.List {
	var diags diag.List
	for _, name := range slices.Sorted(maps.Keys(v.Type().AttributeTypes())) {
		at, given := slices.Concat(path, cty.GetAttrPath(name)), v.GetAttr(name)
		a, n := attrs[name], blocks[name]
		switch {
		case n != nil:
			diags = append(diags, checkEach(n.Attributes, n.Blocks, at, given)...)
		case a == nil:
			known := slices.AppendSeq(slices.Collect(maps.Keys(attrs)), maps.Keys(blocks))
			diags = append(diags, wrong(at, "The type has no attribute or block named %q.%s", name, diag.DidYouMean(name, known))...)
		case a.WriteOnly:
			diags = append(diags, wrong(at, "The attribute %q is write-only: it is null in every object.", name)...)
		case a.Nested != nil && !a.Computed:
			diags = append(diags, checkEach(a.Nested.Attributes, nil, at, given)...)
		case !a.Computed:
			diags = append(diags, wrong(at, "The value of the attribute %q comes from the configuration alone. Only computed attributes can be given values.", name)...)
		default:
			if _, err := convert.Convert(given, typeOf(a)); err != nil && a.Nested == nil {
				diags = append(diags, wrong(at, "Unsuitable value for %q: %s.", name, err)...)
			}
		}
	}
	return diags
}

// checkEach checks the values for a nested block or attribute: an object, or one for each element.
func checkEach(attrs map[string]*schema.Attribute, blocks map[string]*schema.NestedBlock, path cty.Path, v cty.Value) diag.List {
	switch ty := v.Type(); {
	case v.IsNull() || !v.IsKnown():
		return nil
	case ty.IsObjectType():
		return check(attrs, blocks, path, v)
	case ty.IsTupleType():
		var diags diag.List
		for i, elem := range v.AsValueSlice() {
			diags = append(diags, checkEach(attrs, blocks, slices.Concat(path, cty.IndexIntPath(i)), elem)...)
		}
		return diags
	}
	return wrong(path, "The values of a nested block or attribute must be an object, or a list of objects.")
}

// wrong returns an error about one value.
func wrong(path cty.Path, format string, args ...any) diag.List {
	return diag.List{{Summary: "Invalid mock value", Detail: fmt.Sprintf(format, args...), Path: path}}
}

// typeOf returns the type of an attribute.
func typeOf(a *schema.Attribute) cty.Type {
	return (&schema.Block{Attributes: map[string]*schema.Attribute{"a": a}}).Type().AttributeType("a")
}
