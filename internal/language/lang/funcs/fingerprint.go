package funcs

import (
	"errors"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// fingerprintFunc returns a number that number makes of the argument, without its ephemeral and sensitive
// marks. It is unknown if the argument is, or if number has no salt yet.
func fingerprintFunc(number func(cty.Value) (uint64, bool, error)) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{anyParam("value")},
		Type:         function.StaticReturnType(cty.Number),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, marks := args[0].UnmarkDeep()
			past, ok := pastNumber(args[0])
			if !ok {
				return cty.NilVal, errPast
			}
			maps.DeleteFunc(marks, func(m any, _ struct{}) bool { return secretMark(m) })
			out := cty.UnknownVal(cty.Number)
			if past != 0 {
				out = cty.NumberUIntVal(past)
			} else if v.IsWhollyKnown() && number != nil {
				switch n, ok, err := number(v); {
				case err != nil:
					return cty.NilVal, err
				case ok:
					out = cty.NumberUIntVal(n)
				}
			}
			return out.WithMarks(marks), nil
		},
	})
}

var errPast = errors.New("a provider computed the value in an earlier run, and its fingerprint is not known; refer to the attribute itself, without anything that changes its value")

// pastNumber returns the fingerprint of a value that a provider computed in an earlier run, 0 of any other
// value. It returns false if the value is made of such values, whose fingerprints say nothing about it.
func pastNumber(v cty.Value) (uint64, bool) {
	past := slices.DeleteFunc(value.MadeOf(v), func(c value.Computed) bool { return !c.Past })
	switch {
	case len(past) == 0:
		return 0, true
	case len(past) > 1 || past[0].Number == 0:
		return 0, false
	}
	whole := slices.ContainsFunc(value.MadeOf(markedWith(v)), func(c value.Computed) bool { return c == past[0] })
	return past[0].Number, whole
}

// markedWith returns a value with the marks of v itself, without marks of values in it.
func markedWith(v cty.Value) cty.Value {
	_, marks := v.Unmark()
	return cty.True.WithMarks(marks)
}

// refusedFingerprint takes the place of fingerprint in templates, whose expressions are not checked for its
// arguments.
var refusedFingerprint = guard("fingerprint", function.New(&function.Spec{
	Params: []function.Parameter{anyParam("value")},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
		return cty.NilVal, errors.New("templates cannot take fingerprints; pass the fingerprint to the template as a variable")
	},
}))

// secretMark reports whether a mark says that a value must not be stored or shown, or something about it that
// its fingerprint does not tell.
func secretMark(m any) bool {
	return m == value.Sensitive || ephemeralMark(m)
}
