package funcs

import (
	"errors"
	"maps"

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
			whole, ok := value.Whole(args[0])
			switch {
			case !ok:
				return cty.NilVal, errDerived
			case whole != nil && whole.Past && whole.Number == 0:
				return cty.NilVal, errPast
			}
			maps.DeleteFunc(marks, func(m any, _ struct{}) bool { return secretMark(m) })
			out := cty.UnknownVal(cty.Number)
			if whole != nil && whole.Number != 0 && (whole.Past || !v.IsWhollyKnown()) {
				out = cty.NumberUIntVal(whole.Number)
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

// Errors about values that providers have computed and that are kept out of the state. They tell nothing of
// the values.
var (
	errPast    = errors.New("a provider computed the value in an earlier run, and the state does not have its fingerprint; replace the object that it belongs to, for a new one")
	errDerived = errors.New("the value is made of one that a provider computes and that ephemeral_attributes keeps out of the state, and later runs know only the fingerprint of that one as it is; refer to the attribute itself, or to a local value, variable or output that has it unchanged")
)

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
