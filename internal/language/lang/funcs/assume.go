package funcs

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/unify"
	"github.com/mayfly-iac/mayfly/internal/language/lang/typearg"
)

// assumeFuncs declare properties of values that may be unknown. As long as a value is unknown, they only note
// the property, and results computed from it may be known. Once the value is known, it is an error if it
// lacks the property.
var assumeFuncs = map[string]function.Function{
	"assumeequal":         assumeEqualFunc,
	"assumelistlength":    assumeLengthFunc("list", cty.List, true, true),
	"assumelistlengthmax": assumeLengthFunc("list", cty.List, false, true),
	"assumelistlengthmin": assumeLengthFunc("list", cty.List, true, false),
	"assumemaplength":     assumeLengthFunc("map", cty.Map, true, true),
	"assumemaplengthmax":  assumeLengthFunc("map", cty.Map, false, true),
	"assumemaplengthmin":  assumeLengthFunc("map", cty.Map, true, false),
	"assumenotnull":       assumeNotNullFunc,
	"assumesetlength":     assumeLengthFunc("set", cty.Set, true, true),
	"assumesetlengthmax":  assumeLengthFunc("set", cty.Set, false, true),
	"assumesetlengthmin":  assumeLengthFunc("set", cty.Set, true, false),
	"assumestringprefix":  assumeStringPrefixFunc,
}

// convertFunc converts a value to a type that is written out in the second argument.
var convertFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyParam("value"), {Name: "type", Type: typearg.Type}},
	Type: func(args []cty.Value) (cty.Type, error) {
		// Which type an "any" stands for depends on the value.
		v, err := converted(args[0], args[1])
		if err != nil {
			return cty.NilType, err
		}
		return v.Type(), nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return converted(args[0], args[1]) },
})

func converted(v, ty cty.Value) (cty.Value, error) {
	to := typearg.Of(ty)
	out, err := unify.Conform(v, to.Type, to.Defaults)
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	return out, nil
}

// assumeEqualFunc returns its second argument. Of the first one, which is only compared with it, no mark
// stays: the result is known without it.
var assumeEqualFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyParam("got"), anyParam("assumed")},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[1].Type(), nil },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		got, _ := args[0].UnmarkDeep()
		assumed, _ := args[1].UnmarkDeep()
		got, err := unify.Convert(got, assumed.Type())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		if !maybeEqual(got, assumed) {
			return cty.NilVal, function.NewArgErrorf(0, "the value is not equal to the assumed one")
		}
		return args[1], nil
	},
})

// maybeEqual reports whether two values of one type may turn out equal. The library does not look for a
// difference where a part is unknown.
func maybeEqual(a, b cty.Value) bool {
	equal := a.Equals(b)
	if equal.IsKnown() || !a.IsKnown() || !b.IsKnown() || a.IsNull() || b.IsNull() || a.Type().IsSetType() || !a.CanIterateElements() {
		return !equal.IsKnown() || equal.True()
	}
	for key, elem := range a.Elements() {
		var other cty.Value
		switch {
		case a.Type().IsObjectType():
			other = b.GetAttr(key.AsString())
		case b.HasIndex(key).False():
			return false
		default:
			other = b.Index(key)
		}
		if !maybeEqual(elem, other) {
			return false
		}
	}
	return true
}

// assumeNotNullFunc returns its argument. Nothing can be noted about a value of unknown type.
var assumeNotNullFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyParam("value")},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		switch v, marks := args[0].Unmark(); {
		case v.IsNull():
			return cty.NilVal, function.NewArgErrorf(0, "the value is null, and was assumed not to be")
		case v.IsKnown() || v.Type() == cty.DynamicPseudoType:
			return args[0], nil
		default:
			return v.RefineNotNull().WithMarks(marks), nil
		}
	},
})

// assumeStringPrefixFunc returns its first argument as a string.
var assumeStringPrefixFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "str", Type: cty.String, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
		{Name: "prefix", Type: cty.String, AllowUnknown: true, AllowDynamicType: true},
	},
	Type: function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, prefix := args[0], args[1]
		if v.IsNull() || !prefix.IsKnown() {
			return v, nil
		}
		text, want := "", prefix.AsString()
		if v.IsKnown() {
			text = v.AsString()
		} else if text = v.Range().StringPrefix(); strings.HasPrefix(want, text) {
			return v.Refine().StringPrefixFull(want).NewValue(), nil
		}
		if !strings.HasPrefix(text, want) {
			return cty.NilVal, function.NewArgErrorf(0, "the string does not begin with the assumed prefix %q", want)
		}
		return v, nil
	},
})

// maxAssumedLength bounds the lengths that are noted: the library makes a list of unknown elements of an
// unknown list whose length is certain.
const maxAssumedLength = 10_000

// assumeLengthFunc returns a function that converts its first argument to a kind of collection, whose length
// has the given bounds.
func assumeLengthFunc(kind string, of func(cty.Type) cty.Type, lower, upper bool) function.Function {
	want := of(cty.DynamicPseudoType)
	params := []function.Parameter{anyParam(kind)}
	if lower {
		params = append(params, function.Parameter{Name: "min", Type: cty.Number})
	}
	if upper {
		params = append(params, function.Parameter{Name: "max", Type: cty.Number})
	}
	return function.New(&function.Spec{
		Params: params,
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := unify.Convert(args[0], want)
			if err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := unify.Convert(args[0], want)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			b, err := assumedBounds(args[1:], lower, upper)
			if err != nil {
				return cty.NilVal, err
			}
			return b.of(kind, v)
		},
	})
}

// lengths are the bounds of a length; either may be nil.
type lengths struct{ lower, upper *int }

// assumedBounds reads the lengths that a call gives, which are one or both ends of a range. A length that
// no collection can have is an error of its argument.
func assumedBounds(args []cty.Value, lower, upper bool) (b lengths, err error) {
	given := make([]*int, len(args))
	for i, arg := range args {
		n, _ := arg.AsBigFloat().Int64()
		length := int(n)
		if !fitsInt64(arg) || n < 0 || int64(length) != n {
			return b, function.NewArgErrorf(i+1, "a length must be a whole number, not negative, and not out of range")
		}
		given[i] = &length
	}
	if lower {
		b.lower = given[0]
	}
	if upper {
		b.upper = given[len(given)-1]
	}
	if lower && upper && *b.lower > *b.upper {
		return b, function.NewArgErrorf(1, "the smallest length must not be greater than the greatest")
	}
	return b, nil
}

// of checks the length of a collection or, if it is not known yet, notes its bounds.
func (b lengths) of(kind string, v cty.Value) (cty.Value, error) {
	bare, marks := v.Unmark()
	if bare.IsNull() || bare.Type() == cty.DynamicPseudoType {
		return v, nil
	}
	known := bare.Length().Range()
	least, _ := known.NumberLowerBound()
	most, _ := known.NumberUpperBound()
	switch {
	case b.lower != nil && most.IsKnown() && most.LessThan(cty.NumberIntVal(int64(*b.lower))).True():
		return cty.NilVal, function.NewArgErrorf(0, "the length of the %s was assumed to be %d or more", kind, *b.lower)
	case b.upper != nil && least.IsKnown() && least.GreaterThan(cty.NumberIntVal(int64(*b.upper))).True():
		return cty.NilVal, function.NewArgErrorf(0, "the length of the %s was assumed to be %d or less", kind, *b.upper)
	case bare.IsKnown():
		return v, nil
	}
	noted := bare.Refine()
	if b.lower != nil && *b.lower <= maxAssumedLength {
		noted = noted.CollectionLengthLowerBound(*b.lower)
	}
	if b.upper != nil && *b.upper <= maxAssumedLength {
		noted = noted.CollectionLengthUpperBound(*b.upper)
	}
	return noted.NewValue().WithMarks(marks), nil
}
