package view

import (
	"encoding/json"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/value"
)

func typedValue(t testing.TB, data any, ty cty.Type) cty.Value {
	t.Helper()
	if data == nil {
		return cty.NullVal(ty)
	}
	if _, ok := data.(unknownValue); ok {
		return cty.UnknownVal(ty)
	}
	switch {
	case ty == cty.DynamicPseudoType:
		return impliedValue(data)
	case ty.IsPrimitiveType():
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ctyjson.Unmarshal(raw, ty)
		if err != nil {
			t.Fatal(err)
		}
		return v
	case ty.IsObjectType():
		out := map[string]cty.Value{}
		given, _ := data.(map[string]any)
		for name, aty := range ty.AttributeTypes() {
			out[name] = typedValue(t, given[name], aty)
		}
		return cty.ObjectVal(out)
	case ty.IsMapType():
		out := map[string]cty.Value{}
		for k, e := range data.(map[string]any) {
			out[k] = typedValue(t, e, ty.ElementType())
		}
		if len(out) == 0 {
			return cty.MapValEmpty(ty.ElementType())
		}
		return cty.MapVal(out)
	}
	var elems []cty.Value
	for _, e := range data.([]any) {
		elems = append(elems, typedValue(t, e, ty.ElementType()))
	}
	switch {
	case ty.IsListType() && len(elems) == 0:
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsListType():
		return cty.ListVal(elems)
	case len(elems) == 0:
		return cty.SetValEmpty(ty.ElementType())
	default:
		return cty.SetVal(elems)
	}
}

func impliedValue(data any) cty.Value {
	switch data := data.(type) {
	case unknownValue:
		return cty.DynamicVal
	case nil:
		return cty.NullVal(cty.DynamicPseudoType)
	case string:
		return cty.StringVal(data)
	case bool:
		return cty.BoolVal(data)
	case float64:
		return cty.NumberFloatVal(data)
	case []any:
		var elems []cty.Value
		for _, e := range data {
			elems = append(elems, impliedValue(e))
		}
		return cty.TupleVal(elems)
	case map[string]any:
		out := map[string]cty.Value{}
		for k, e := range data {
			out[k] = impliedValue(e)
		}
		return cty.ObjectVal(out)
	}
	panic("not a JSON value")
}

// markWhere marks the parts of v that a document of booleans names.
func markWhere(v cty.Value, where any) cty.Value {
	if where == true {
		return v.Mark(value.Sensitive)
	}
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return v
	}
	switch where := where.(type) {
	case map[string]any:
		if v.Type().IsPrimitiveType() || v.LengthInt() == 0 {
			return v
		}
		parts := v.AsValueMap()
		for k, w := range where {
			if e, ok := parts[k]; ok {
				parts[k] = markWhere(e, w)
			}
		}
		if v.Type().IsMapType() {
			return cty.MapVal(parts)
		}
		return cty.ObjectVal(parts)
	case []any:
		if v.Type().IsSetType() || v.Type().IsPrimitiveType() || v.LengthInt() == 0 {
			return v
		}
		parts := v.AsValueSlice()
		for i, w := range where {
			if i < len(parts) {
				parts[i] = markWhere(parts[i], w)
			}
		}
		if v.Type().IsTupleType() {
			return cty.TupleVal(parts)
		}
		return cty.ListVal(parts)
	}
	return v
}
