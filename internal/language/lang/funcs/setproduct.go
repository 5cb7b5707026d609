package funcs

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/mayfly-iac/mayfly/internal/base/unify"
)

// setproductFunc is the library's, on lists in place of the tuples that fit one: it treats them alike, but
// compares the types of all elements of a tuple.
var setproductFunc = function.New(&function.Spec{
	Description: stdlib.SetProductFunc.Description(),
	Params:      stdlib.SetProductFunc.Params(),
	VarParam:    stdlib.SetProductFunc.VarParam(),
	Type: func(args []cty.Value) (cty.Type, error) {
		return stdlib.SetProductFunc.ReturnTypeForValues(listed(args))
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return stdlib.SetProductFunc.Call(listed(args)) },
})

// listed converts tuples to lists where their elements have a common type, as the product has.
func listed(args []cty.Value) []cty.Value {
	out := make([]cty.Value, len(args))
	for i, arg := range args {
		out[i] = arg
		if ty := unify.Concrete(cty.List(cty.DynamicPseudoType), arg.Type()); ty.ElementType() != cty.DynamicPseudoType {
			if v, ok := unify.Converted(arg, ty); ok {
				out[i] = v
			}
		}
	}
	return out
}
