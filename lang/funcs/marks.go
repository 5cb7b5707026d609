package funcs

import (
	"maps"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/value"
)

var markFuncs = map[string]function.Function{
	"ephemeralasnull": markFunc(ephemeralAsNull),
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

// withoutMark removes one mark from the value itself, not from what is nested in it.
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
		if !args[0].IsKnown() {
			return cty.UnknownVal(cty.Bool), nil
		}
		return cty.BoolVal(value.Has(args[0], value.Sensitive)), nil
	},
})

// ephemeralAsNull replaces every ephemeral part of a value by null of its type, and keeps all other marks. An
// unknown ephemeral part stays unknown, without promises that null would break. The result carries no
// ephemeral mark anywhere.
func ephemeralAsNull(v cty.Value) cty.Value {
	if !value.IsMarked(v) {
		return v
	}
	// The callback never fails, and so Transform does not either.
	out, _ := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if !value.Has(part, value.Ephemeral) {
			return part, nil
		}
		bare, marks := withoutMark(part, value.Ephemeral).Unmark()
		if !bare.IsKnown() {
			return cty.UnknownVal(bare.Type()).WithMarks(marks), nil
		}
		return cty.NullVal(bare.Type()).WithMarks(marks), nil
	})
	return out
}
