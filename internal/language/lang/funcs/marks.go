package funcs

import (
	"maps"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

var markFuncs = map[string]function.Function{
	"ephemeralasnull": ephemeralAsNullFunc,
	"issensitive":     issensitiveFunc,
	"nonsensitive":    markFunc(func(v cty.Value) cty.Value { return withoutMark(v, value.Sensitive) }),
	"sensitive":       markFunc(func(v cty.Value) cty.Value { return v.Mark(value.Sensitive) }),
}

func anyParam(name string) function.Parameter {
	return function.Parameter{
		Name: name, Type: cty.DynamicPseudoType,
		AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}
}

// markFunc returns a function that accepts anything and returns it with other marks.
func markFunc(change func(cty.Value) cty.Value) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("value")},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return change(args[0]), nil },
	})
}

// withoutMark removes one mark from the value itself, not from values nested in it.
func withoutMark(v cty.Value, m value.Mark) cty.Value {
	v, marks := v.Unmark()
	if _, ok := marks[m]; ok {
		marks = maps.Clone(marks)
		delete(marks, m)
	}
	return v.WithMarks(marks)
}

// issensitiveFunc looks at the value itself. Whether an unknown value is sensitive is not certain, with the
// mark or without: it may be the result of a condition that is not known yet. The answer says nothing about
// the value, and so no mark stays.
var issensitiveFunc = function.New(&function.Spec{
	Params:       []function.Parameter{anyParam("value")},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !args[0].IsKnown() || value.Has(args[0], value.EphemeralKnown) {
			return cty.UnknownVal(cty.Bool), nil
		}
		return cty.BoolVal(value.Has(args[0], value.Sensitive)), nil
	},
})

// ephemeralAsNullFunc predicts no type: the type of the argument is a part of the secret that is taken away.
var ephemeralAsNullFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyParam("value")},
	Type:   function.StaticReturnType(cty.DynamicPseudoType),
	Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return ephemeralAsNull(args[0]), nil },
})

// ephemeralAsNull replaces every ephemeral part of a value by null, and keeps all other marks. The null has
// the type that is known without the value, and none if that is not known through and through. An unknown
// ephemeral part stays unknown, without promises that null would break, and so becomes one of which an
// ephemeral value has decided that it is known. The result carries no ephemeral mark anywhere.
func ephemeralAsNull(v cty.Value) cty.Value {
	if !value.IsMarked(v) {
		return v
	}
	bare, marks := v.Unmark()
	out := bare
	switch {
	case value.Has(v, value.Ephemeral):
		out = nullOf(v, bare.IsKnown() && !value.Has(v, value.EphemeralKnown) || isPast(marks))
	case !bare.IsKnown() || bare.IsNull() || !value.IsMarked(bare):
	case bare.Type().IsObjectType():
		out = cty.ObjectVal(nullInside(bare.AsValueMap()))
	case bare.Type().IsTupleType():
		out = cty.TupleVal(nullElements(bare.AsValueSlice()))
	default:
		out = nullInCollection(bare)
	}
	for m := range marks {
		if !ephemeralMark(m) {
			out = out.Mark(m)
		}
	}
	return out
}

// isPast reports whether marks say that a value existed in an earlier run. It never becomes known.
func isPast(marks cty.ValueMarks) bool {
	for m := range marks {
		if c, ok := m.(value.Computed); ok && c.Past {
			return true
		}
	}
	return false
}

// ephemeralMark reports whether a mark says that a value must not be stored, or more about such a value.
func ephemeralMark(m any) bool {
	if _, ok := m.(value.Computed); ok {
		return true
	}
	return m == value.Ephemeral || m == value.EphemeralType || m == value.EphemeralKnown
}

// nullOf returns null, or an unknown value, of the type of v that is known without it.
func nullOf(v cty.Value, known bool) cty.Value {
	ty := value.KnownType(v)
	if ty.HasDynamicTypes() {
		ty = cty.DynamicPseudoType
	}
	if !known {
		return cty.UnknownVal(ty)
	}
	return cty.NullVal(ty)
}

// nullInCollection replaces the ephemeral elements of a list or map. If their type is not known, neither is
// the type of the whole.
func nullInCollection(v cty.Value) cty.Value {
	ty := v.Type()
	for _, elem := range v.Elements() {
		if !value.KnownType(elem).Equals(ty.ElementType()) {
			return cty.NullVal(cty.DynamicPseudoType)
		}
	}
	if ty.IsMapType() {
		return cty.MapVal(nullInside(v.AsValueMap()))
	}
	return cty.ListVal(nullElements(v.AsValueSlice()))
}

// nullInside replaces the ephemeral parts of attributes or elements with keys.
func nullInside(elems map[string]cty.Value) map[string]cty.Value {
	for name, elem := range elems {
		elems[name] = ephemeralAsNull(elem)
	}
	return elems
}

// nullElements replaces the ephemeral parts of elements.
func nullElements(elems []cty.Value) []cty.Value {
	for i, elem := range elems {
		elems[i] = ephemeralAsNull(elem)
	}
	return elems
}
