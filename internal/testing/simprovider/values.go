package simprovider

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// object is a decoded object value, its attributes by name; nil represents a null object.
type object map[string]tftypes.Value

// decode converts a wire value to an object of the type. It returns nil for a missing value and for null.
func decode(dv *tfprotov6.DynamicValue, typ tftypes.Type) (object, error) {
	if dv == nil || (dv.MsgPack == nil && dv.JSON == nil) {
		return nil, nil
	}
	v, err := dv.Unmarshal(typ)
	if err != nil {
		return nil, fmt.Errorf("the value in the request does not conform to the schema: %w", err)
	}
	return asObject(v), nil
}

func asObject(v tftypes.Value) object {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	var m map[string]tftypes.Value
	if v.As(&m) != nil {
		return nil
	}
	return m
}

// encode converts an object (nil for null) to a wire value.
func encode(o object, typ tftypes.Type) (*tfprotov6.DynamicValue, error) {
	return encodeValue(o.value(typ), typ)
}

func encodeValue(v tftypes.Value, typ tftypes.Type) (*tfprotov6.DynamicValue, error) {
	dv, err := tfprotov6.NewDynamicValue(typ, v)
	if err != nil {
		return nil, fmt.Errorf("encoding the answer: %w", err)
	}
	return &dv, nil
}

func (o object) value(typ tftypes.Type) tftypes.Value {
	if o == nil {
		return tftypes.NewValue(typ, nil)
	}
	return tftypes.NewValue(typ, map[string]tftypes.Value(o))
}

// text returns a string attribute, or "" if it is absent, null, unknown or not a string.
func (o object) text(name string) string {
	v, ok := o[name]
	if !ok {
		return ""
	}
	return textOf(v)
}

func textOf(v tftypes.Value) string {
	if v.Type() == nil || !v.Type().Is(tftypes.String) || v.IsNull() || !v.IsKnown() {
		return ""
	}
	var s string
	if v.As(&s) != nil {
		return ""
	}
	return s
}

// number returns an integer attribute, or 0 if it is absent, null or unknown.
func (o object) number(name string) int64 {
	v, ok := o[name]
	if !ok || v.IsNull() || !v.IsKnown() {
		return 0
	}
	var f big.Float
	if v.As(&f) != nil {
		return 0
	}
	n, _ := f.Int64()
	return n
}

func str(s string) tftypes.Value           { return tftypes.NewValue(tftypes.String, s) }
func num(n int64) tftypes.Value            { return tftypes.NewValue(tftypes.Number, n) }
func null(t tftypes.Type) tftypes.Value    { return tftypes.NewValue(t, nil) }
func unknown(t tftypes.Type) tftypes.Value { return tftypes.NewValue(t, tftypes.UnknownValue) }
func isUnset(v tftypes.Value) bool         { return v.IsKnown() && v.IsNull() }
func isKnownNonNull(v tftypes.Value) bool  { return v.IsKnown() && !v.IsNull() }
func nullObject(typ tftypes.Type) object   { return fill(typ, null) }
func (o object) clone() object             { return maps.Clone(o) }

// fill returns an object of the type with every attribute computed by f.
func fill(typ tftypes.Type, f func(tftypes.Type) tftypes.Value) object {
	o := object{}
	for name, t := range typ.(tftypes.Object).AttributeTypes {
		o[name] = f(t)
	}
	return o
}

// attrFunc maps one leaf attribute of an object; parent is the object around it.
type attrFunc func(a *tfprotov6.SchemaAttribute, parent object, v tftypes.Value) tftypes.Value

// mapBlock applies f to every leaf attribute, through nested attributes and blocks of every nesting mode. A
// nested attribute that is write-only as a whole is a leaf.
func mapBlock(b *tfprotov6.SchemaBlock, o object, f attrFunc) object {
	if o == nil {
		return nil
	}
	out := mapAttributes(b.Attributes, o, f)
	for _, nb := range b.BlockTypes {
		out[nb.TypeName] = mapElements(o[nb.TypeName], func(e object) object { return mapBlock(nb.Block, e, f) })
	}
	return out
}

func mapAttributes(attrs []*tfprotov6.SchemaAttribute, o object, f attrFunc) object {
	out := o.clone()
	for _, a := range attrs {
		if a.NestedType != nil && !a.WriteOnly {
			out[a.Name] = mapElements(o[a.Name], func(e object) object { return mapAttributes(a.NestedType.Attributes, e, f) })
			continue
		}
		out[a.Name] = f(a, o, o[a.Name])
	}
	return out
}

// mapElements maps the object, or the objects in the list, set or map. Null and unknown values are kept.
func mapElements(v tftypes.Value, f func(object) object) tftypes.Value {
	if !isKnownNonNull(v) {
		return v
	}
	element := func(e tftypes.Value) tftypes.Value {
		if !isKnownNonNull(e) {
			return e
		}
		return f(asObject(e)).value(e.Type())
	}
	switch v.Type().(type) {
	case tftypes.Object:
		return element(v)
	case tftypes.Map:
		m := asObject(v).clone()
		for _, k := range names(m) {
			m[k] = element(m[k])
		}
		return tftypes.NewValue(v.Type(), map[string]tftypes.Value(m))
	}
	var list []tftypes.Value
	if v.As(&list) != nil {
		return v
	}
	for i, e := range list {
		list[i] = element(e)
	}
	return tftypes.NewValue(v.Type(), list)
}

// nullWriteOnly returns the object without the values of write-only attributes.
func nullWriteOnly(b *tfprotov6.SchemaBlock, o object) object {
	return mapBlock(b, o, func(a *tfprotov6.SchemaAttribute, _ object, v tftypes.Value) tftypes.Value {
		if a.WriteOnly {
			return null(a.ValueType())
		}
		return v
	})
}

// sameJSON reports whether both strings are JSON documents with the same meaning.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// plain converts a known value to the form that encoding/json writes; unknown values become null.
func plain(v tftypes.Value) any {
	if !isKnownNonNull(v) {
		return nil
	}
	switch t := v.Type(); {
	case t.Is(tftypes.String):
		return textOf(v)
	case t.Is(tftypes.Number):
		var f big.Float
		_ = v.As(&f) // the type was just tested
		return json.Number(f.Text('g', -1))
	case t.Is(tftypes.Bool):
		var b bool
		_ = v.As(&b)
		return b
	}
	if m := asObject(v); m != nil {
		out := map[string]any{}
		for k, e := range m {
			out[k] = plain(e)
		}
		return out
	}
	var list []tftypes.Value
	_ = v.As(&list)
	out := make([]any, 0, len(list))
	for _, e := range list {
		out = append(out, plain(e))
	}
	return out
}

// names returns the attribute names in order, so that choices among them are the same each time.
func names(o object) []string {
	return slices.Sorted(maps.Keys(o))
}
