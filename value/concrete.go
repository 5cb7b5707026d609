package value

import "github.com/zclconf/go-cty/cty"

// Concrete returns the type constraint want with the element type filled in that a value of type given leads to, where that needs no unification: the
// value is a tuple or object whose elements are of one and the same type. A conversion to it has the same result as one to want, without comparing
// every type with every other, for which the library takes quadratic time. Otherwise it returns want.
func Concrete(want, given cty.Type) cty.Type {
	if !want.IsCollectionType() || want.ElementType() != cty.DynamicPseudoType {
		return want
	}
	elem, ok := uniform(given)
	switch {
	case !ok:
		return want
	case want.IsListType():
		return cty.List(elem)
	case want.IsSetType() && !given.IsObjectType():
		return cty.Set(elem)
	case want.IsMapType() && given.IsObjectType():
		return cty.Map(elem)
	}
	return want
}

// uniform returns the type that all elements of a tuple or object have, if it is known through and through. Tuples among the elements
// are left to the library, which may make collections of them.
func uniform(ty cty.Type) (cty.Type, bool) {
	var first cty.Type
	same := func(t cty.Type) bool {
		if first == cty.NilType {
			first = t
		}
		return t.Equals(first)
	}
	switch {
	case ty.IsTupleType():
		for _, t := range ty.TupleElementTypes() {
			if !same(t) {
				return first, false
			}
		}
	case ty.IsObjectType():
		if len(ty.OptionalAttributes()) > 0 {
			return first, false
		}
		for _, t := range ty.AttributeTypes() {
			if !same(t) {
				return first, false
			}
		}
	}
	return first, first != cty.NilType && first.IsPrimitiveType()
}
