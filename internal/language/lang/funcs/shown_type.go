package funcs

import (
	"reflect"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// typeFunc makes a function that returns the type of its argument as a capsule that only the console can
// show; TypeOf unpacks it. The names of attributes may be the secret, such as the keys of decoded JSON. Where
// a value is sensitive or ephemeral as a whole they are withheld, but for types that public approves of; it
// may be nil.
func typeFunc(public func(cty.Type) bool) function.Function {
	if public == nil {
		public = func(cty.Type) bool { return false }
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{{
			Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
		}},
		Type: function.StaticReturnType(typeexpr.TypeConstraintType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			_, marks := args[0].UnmarkDeep()
			return typeexpr.TypeConstraintVal(shownType(args[0], public)).WithMarks(marks).Mark(value.TypeValue), nil
		},
	})
}

// Types that stand for types that would tell something.
var (
	withheldObject = cty.Capsule("object (sensitive)", reflect.TypeFor[struct{}]())
	withheldTuple  = cty.Capsule("tuple (sensitive)", reflect.TypeFor[struct{}]())
)

// shownType is the type of a value as far as it may be shown.
func shownType(v cty.Value, public func(cty.Type) bool) cty.Type {
	ty := v.Type()
	if ty.IsPrimitiveType() || !value.IsMarked(v) || public(ty) {
		return ty
	}
	if value.Has(v, value.Sensitive) || value.Has(v, value.Ephemeral) {
		return withheld(ty)
	}
	v, _ = v.Unmark()
	switch {
	case v.IsNull() || !v.IsKnown():
		return ty
	case ty.IsObjectType():
		attrs := map[string]cty.Type{}
		for name, e := range v.AsValueMap() {
			attrs[name] = shownType(e, public)
		}
		return cty.Object(attrs)
	case ty.IsTupleType():
		var elems []cty.Type
		for _, e := range v.AsValueSlice() {
			elems = append(elems, shownType(e, public))
		}
		return cty.Tuple(elems)
	case ty.IsCollectionType():
		for it := v.ElementIterator(); it.Next(); {
			if _, e := it.Element(); !shownType(e, public).Equals(ty.ElementType()) {
				return withheld(ty)
			}
		}
	}
	return ty
}

// withheld replaces the object and tuple types in a type, because attribute names of a secret value are
// secret too.
func withheld(ty cty.Type) cty.Type {
	switch {
	case ty.IsObjectType():
		return withheldObject
	case ty.IsTupleType():
		return withheldTuple
	case ty.IsListType():
		return cty.List(withheld(ty.ElementType()))
	case ty.IsSetType():
		return cty.Set(withheld(ty.ElementType()))
	case ty.IsMapType():
		return cty.Map(withheld(ty.ElementType()))
	}
	return ty
}
