package funcs

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// lookupFunc returns an element of a map or object, or a default. The result carries the marks of the map, of
// the key and of whichever of element and default it is, so that an element without marks stays without them.
var lookupFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "inputMap", Type: cty.DynamicPseudoType, AllowMarked: true, AllowUnknown: true},
		{Name: "key", Type: cty.String, AllowMarked: true, AllowUnknown: true},
	},
	VarParam: &function.Parameter{
		Name: "default", Type: cty.DynamicPseudoType,
		AllowMarked: true, AllowUnknown: true, AllowNull: true, AllowDynamicType: true,
	},
	Type: lookupType,
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		in, inMarks := args[0].Unmark()
		keyVal, keyMarks := args[1].Unmark()
		if !in.IsKnown() || !keyVal.IsKnown() {
			return cty.UnknownVal(retType).WithMarks(inMarks, keyMarks), nil
		}
		key := keyVal.AsString()
		found := cty.NilVal
		switch {
		case in.Type().IsObjectType():
			if in.Type().HasAttribute(key) {
				found = in.GetAttr(key)
			}
		case in.HasIndex(keyVal).True():
			found = in.Index(keyVal)
		}
		if found == cty.NilVal {
			if len(args) < 3 {
				return cty.NilVal, fmt.Errorf("lookup failed to find key %q", key)
			}
			var err error
			if found, err = convert.Convert(args[2], retType); err != nil {
				return cty.NilVal, function.NewArgError(2, err)
			}
		}
		return found.WithMarks(inMarks, keyMarks), nil
	},
})

// lookupType returns the result type of lookup. For an object it depends on the key, so an unknown key makes
// the type unknown.
func lookupType(args []cty.Value) (cty.Type, error) {
	if len(args) > 3 {
		return cty.NilType, fmt.Errorf("lookup() takes two or three arguments, got %d", len(args))
	}
	ty := args[0].Type()
	switch {
	case ty.IsMapType():
		if len(args) == 3 {
			if _, err := convert.Convert(args[2], ty.ElementType()); err != nil {
				return cty.NilType, function.NewArgErrorf(2, "the default value must have the same type as the map elements")
			}
		}
		return ty.ElementType(), nil
	case ty.IsObjectType():
		key, _ := args[1].Unmark()
		if !key.IsKnown() {
			return cty.DynamicPseudoType, nil
		}
		if name := key.AsString(); ty.HasAttribute(name) {
			return ty.AttributeType(name), nil
		}
		if len(args) == 3 {
			return args[2].Type(), nil
		}
		return cty.NilType, function.NewArgErrorf(0, "the given object has no attribute %q", key.AsString())
	default:
		return cty.NilType, function.NewArgErrorf(0, "lookup() requires a map as the first argument")
	}
}
