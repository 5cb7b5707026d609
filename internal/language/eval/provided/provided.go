// Package provided makes functions that expressions can call of those that providers define.
//
// It may import schema, value and cty. It must not know providers, nor how they are found and asked.
package provided

import (
	"errors"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Failing returns a function that always fails with err.
func Failing(err error) function.Function {
	return function.New(&function.Spec{VarParam: anyParameter(), Type: func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, err }})
}

// Unknown returns the substitute for a function that is known only once its provider is configured,
// or not at all, because of an error that was reported.
func Unknown() function.Function {
	return function.New(&function.Spec{
		VarParam: anyParameter(), Type: function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			marks := make([]cty.ValueMarks, len(args))
			for i := range args {
				_, marks[i] = args[i].UnmarkDeep()
			}
			return cty.DynamicVal.WithMarks(marks...), nil
		},
	})
}

func anyParameter() *function.Parameter {
	return &function.Parameter{Name: "arguments", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}
}

// New returns the function with its marks handled here: arguments travel to the provider without marks, and
// the result gets the marks of all arguments, since the provider may copy any of them. If an argument is
// secret, an error could quote it, so its text is replaced. With wait, or with an unknown argument that the
// function does not accept, the result is unknown. call asks the provider.
func New(f *schema.Function, wait bool, call func(args []cty.Value) (cty.Value, error)) function.Function {
	spec := &function.Spec{Description: f.Summary}
	for _, param := range f.Params {
		spec.Params = append(spec.Params, parameter(param))
	}
	if f.Variadic != nil {
		v := parameter(*f.Variadic)
		spec.VarParam = &v
	}
	spec.Type = function.StaticReturnType(f.Return)
	spec.Impl = func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		marks := make([]cty.ValueMarks, len(args))
		secret, wait := false, wait
		for i := range args {
			wait = wait || !args[i].IsWhollyKnown() && !param(f, i).AllowUnknown
			secret = secret || value.Contains(args[i], value.Sensitive) || value.Contains(args[i], value.Ephemeral)
			_, marks[i] = args[i].UnmarkDeep()
		}
		if wait {
			return cty.UnknownVal(retType).WithMarks(marks...), nil
		}
		got, err := call(args)
		if err != nil && secret {
			err = hiddenError(err)
		}
		if err != nil {
			return cty.UnknownVal(retType), err
		}
		if got = got.WithMarks(marks...); value.Has(got, value.Ephemeral) {
			got = value.MarkTypes(got, retType)
		}
		return got, nil
	}
	return function.New(spec)
}

// hiddenError returns an error to replace one that could quote an argument. It names the same argument.
func hiddenError(err error) error {
	const text = "the provider's message is hidden, because an argument is sensitive or ephemeral"
	if arg, ok := errors.AsType[function.ArgError](err); ok {
		return function.NewArgErrorf(arg.Index, text)
	}
	return errors.New(text)
}

// param returns the declaration of the argument at i.
func param(f *schema.Function, i int) schema.FunctionParam {
	if i < len(f.Params) {
		return f.Params[i]
	}
	return *f.Variadic
}

// parameter returns a parameter that accepts every argument, so that the call itself handles unknown and
// marked ones and keeps their marks.
func parameter(p schema.FunctionParam) function.Parameter {
	return function.Parameter{
		Name: p.Name, Type: p.Type, AllowNull: p.AllowNull, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true, Description: p.Description,
	}
}
