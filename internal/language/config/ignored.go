package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// ignoredAttributes warns about attributes of object expressions in e that conversion to the type drops. of
// describes the object with the type. Conversion drops them silently, and a misspelled optional attribute
// would be the hardest mistake to find. Only literal objects are examined: the value of a reference may well
// have more attributes than it needs here.
func ignoredAttributes(e hcl.Expression, ty cty.Type, of string) diag.List {
	switch {
	case ty.IsObjectType():
		return ignoredInObject(e, ty, of)
	case ty.IsMapType():
		var diags diag.List
		pairs, _ := hcl.ExprMap(e)
		for _, pair := range pairs {
			diags = append(diags, ignoredAttributes(pair.Value, ty.ElementType(), of)...)
		}
		return diags
	case ty.IsCollectionType(), ty.IsTupleType():
		var diags diag.List
		items, _ := hcl.ExprList(e)
		for i, item := range items {
			switch {
			case !ty.IsTupleType():
				diags = append(diags, ignoredAttributes(item, ty.ElementType(), of)...)
			case i < ty.Length():
				diags = append(diags, ignoredAttributes(item, ty.TupleElementType(i), of)...)
			}
		}
		return diags
	}
	return nil
}

// ignoredInObject warns about the attributes of one object expression, and looks into those that are known.
func ignoredInObject(e hcl.Expression, ty cty.Type, of string) diag.List {
	var diags diag.List
	pairs, _ := hcl.ExprMap(e)
	for _, pair := range pairs {
		key, hd := pair.Key.Value(nil)
		if hd.HasErrors() || key.Type() != cty.String || key.IsNull() || !key.IsKnown() {
			continue // computed
		}
		name := key.AsString()
		if ty.HasAttribute(name) {
			diags = append(diags, ignoredAttributes(pair.Value, ty.AttributeType(name), of)...)
			continue
		}
		known := slices.Collect(maps.Keys(ty.AttributeTypes()))
		hint := diag.DidYouMean(name, known)
		if hint == "" && len(known) > 0 {
			hint = fmt.Sprintf(" The type has %s.", diag.Names(known))
		}
		diags = append(diags, diag.At(pair.Key.Range(), "Object attribute is ignored",
			"The type of %s has no attribute %q, so this one has no effect.%s", of, name, hint).AsWarnings()...)
	}
	return diags
}
