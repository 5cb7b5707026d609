package unify

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Concrete returns the type constraint want with the element type filled in that a tuple or object of type
// given leads to. A conversion to it has the same result as one to want. Where the element type is not known
// through and through, it returns want.
func Concrete(want, given cty.Type) cty.Type {
	if !want.IsCollectionType() || want.ElementType() != cty.DynamicPseudoType || !given.IsTupleType() && !given.IsObjectType() {
		return want
	}
	elem, ok := elementType(want, given)
	switch {
	case !ok || elem.HasDynamicTypes():
		return want
	case want.IsListType() && given.IsTupleType():
		return cty.List(elem)
	case want.IsSetType() && given.IsTupleType():
		return cty.Set(elem)
	case want.IsMapType() && given.IsObjectType():
		return cty.Map(elem)
	}
	return want
}

// Alternatives returns the common type of two tuples of different lengths, or two objects of different
// attributes: a list or map of the elements of either. It is false for all other types, and where the library
// knows better.
func Alternatives(a, b cty.Type) (cty.Type, bool) {
	var collection func(cty.Type) cty.Type
	switch {
	case a.IsTupleType() && b.IsTupleType() && a.Length() != b.Length():
		collection = cty.List
	case a.IsObjectType() && b.IsObjectType() && !sameNames(a, b):
		collection = cty.Map
	default:
		return cty.NilType, false
	}
	types := elementTypes(a)
	for _, t := range elementTypes(b) {
		types = add(types, t)
	}
	elem, _ := convert.UnifyUnsafe(types)
	if elem == cty.NilType || elem.HasDynamicTypes() {
		return cty.NilType, false
	}
	return collection(elem), true
}

func sameNames(a, b cty.Type) bool {
	if len(a.AttributeTypes()) != len(b.AttributeTypes()) {
		return false
	}
	for name := range a.AttributeTypes() {
		if !b.HasAttribute(name) {
			return false
		}
	}
	return true
}
