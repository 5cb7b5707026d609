// Package unify converts values to types in time linear in their size, where the library compares the type of
// every element of a tuple or object with every other. Results are the library's, except that null within a
// value keeps its marks. It may import cty and bounds: it knows neither schemas nor marks of ours, which stay
// where they are.
package unify

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// Convert is convert.Convert in linear time: same results, same errors. The library compares the type of
// every element of a collection with every other, even where all of them are one and the same; here each type
// is looked at once.
func Convert(v cty.Value, want cty.Type) (cty.Value, error) {
	if out, ok := Converted(v, want); ok {
		return out, nil
	}
	out, err := convert.Convert(v, want)
	if err == nil {
		out = withAllMarks(out, v)
		err = bounds.CheckParsed(out)
	}
	return out, err
}

// withAllMarks adds all marks within a value to the result of its conversion by the library, which loses the
// marks of null values.
func withAllMarks(out, v cty.Value) cty.Value {
	if v.Type().IsPrimitiveType() || !v.ContainsMarked() {
		return out
	}
	_, marks := v.UnmarkDeep()
	return out.WithMarks(marks)
}

// becomesNumber reports whether a conversion reads a number from text, which may have an exponent that no
// computation can cope with.
func becomesNumber(given, want cty.Type) bool { return want == cty.Number && given == cty.String }

// Converted is Convert for callers that report errors elsewhere; it returns false for any.
func Converted(v cty.Value, want cty.Type) (cty.Value, bool) {
	if v.Type().Equals(want.WithoutOptionalAttributesDeep()) {
		return v, true
	}
	return converted(v, want)
}

// converted converts a value to a type, as the library would: with the same result and, if the value does
// not convert, without an error text, which the caller gets from the library. Marks stay on the value that
// has them.
func converted(v cty.Value, want cty.Type) (cty.Value, bool) {
	given := v.Type()
	if given.Equals(want) || want == cty.DynamicPseudoType {
		return v, true
	}
	bare, marks := v.Unmark()
	if bare.IsKnown() && !bare.IsNull() {
		var out cty.Value
		var ok bool
		switch {
		case want.IsListType() && (given.IsTupleType() || given.IsListType()), want.IsSetType() && (given.IsTupleType() || given.IsListType()):
			out, ok = sequence(bare, want)
		case want.IsTupleType() && given.IsTupleType() && want.Length() == given.Length():
			out, ok = tuple(bare, want)
		case want.IsObjectType() && given.IsMapType():
			out, ok = fromMap(bare, want)
		case want.IsMapType() && (given.IsObjectType() || given.IsMapType()):
			out, ok = keyed(bare, want)
		case want.IsObjectType() && given.IsObjectType():
			out, ok = object(bare, want)
		default:
			return byLibrary(v, want)
		}
		if ok {
			out = out.WithMarks(marks)
		}
		return out, ok
	}
	return byLibrary(v, want)
}

func byLibrary(v cty.Value, want cty.Type) (cty.Value, bool) {
	out, err := convert.Convert(v, want)
	if err == nil {
		out = withAllMarks(out, v)
	}
	if err == nil && becomesNumber(v.Type(), want) {
		err = bounds.CheckParsed(out)
	}
	return out, err == nil
}

// sequence converts a tuple or list to a list or set, element by element. Elements of sets are compared
// once each, where the library compares the types of all pairs. False means that the value does not
// convert.
func sequence(v cty.Value, want cty.Type) (cty.Value, bool) {
	if v.LengthInt() == 0 {
		return byLibrary(v, want)
	}
	elem, ok := elementType(want, v.Type())
	if !ok {
		return byLibrary(v, want)
	}
	elems := make([]cty.Value, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if e, ok = converted(e, elem); !ok {
			return cty.NilVal, false
		}
		if e.IsNull() && !(want.IsListType() && v.Type().IsTupleType()) {
			e = cty.NullVal(e.Type()).WithSameMarks(e) // as the library does, which loses the marks
		}
		elems = append(elems, e)
	}
	if want.IsSetType() {
		if !cty.CanSetVal(elems) {
			return cty.NilVal, false
		}
		return cty.SetVal(elems), true
	}
	if v.Type().IsTupleType() {
		if elem, ok = common(elems, convert.UnifyUnsafe); !ok {
			return cty.NilVal, false
		}
		for i, e := range elems {
			if elems[i], ok = converted(e, elem); !ok {
				return cty.NilVal, false
			}
		}
	}
	if !cty.CanListVal(elems) {
		return cty.NilVal, false
	}
	return cty.ListVal(elems), true
}

// keyed converts an object or map to a map. If the elements are collections or objects, their types are
// unified afterwards, because each was converted by itself.
func keyed(v cty.Value, want cty.Type) (cty.Value, bool) {
	if v.LengthInt() == 0 {
		return byLibrary(v, want)
	}
	elem, ok := elementType(want, v.Type())
	if !ok {
		return byLibrary(v, want)
	}
	elems := make([]cty.Value, 0, v.LengthInt())
	names := make([]string, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if e, ok = converted(e, elem); !ok {
			return cty.NilVal, false
		}
		names, elems = append(names, k.AsString()), append(elems, e)
	}
	if elem.IsCollectionType() || elem.IsObjectType() {
		unify := convert.UnifyUnsafe
		if v.Type().IsMapType() {
			unify = convert.Unify
		}
		if elem, ok = common(elems, unify); !ok {
			return cty.NilVal, false
		}
	}
	out := make(map[string]cty.Value, len(elems))
	for i, e := range elems {
		if e, ok = converted(e, elem); !ok {
			return cty.NilVal, false
		}
		out[names[i]] = e
	}
	if !cty.CanMapVal(out) {
		return cty.NilVal, false
	}
	return cty.MapVal(out), true
}

// tuple converts a tuple to another tuple type of the same length.
func tuple(v cty.Value, want cty.Type) (cty.Value, bool) {
	elems := v.AsValueSlice()
	for i, e := range elems {
		var ok bool
		if elems[i], ok = converted(e, want.TupleElementType(i)); !ok {
			return cty.NilVal, false
		}
	}
	return cty.TupleVal(elems), true
}

// fromMap converts a map to an object type, as object does with an object.
func fromMap(v cty.Value, want cty.Type) (cty.Value, bool) {
	elems, attrs := v.AsValueMap(), make(map[string]cty.Value, len(want.AttributeTypes()))
	for name, ty := range want.AttributeTypes() {
		elem, has := elems[name]
		if !has {
			if !want.AttributeOptional(name) {
				return cty.NilVal, false
			}
			attrs[name] = cty.NullVal(ty) // as the library does
			continue
		}
		a, ok := converted(elem, ty)
		if !ok {
			return cty.NilVal, false
		}
		attrs[name] = a
	}
	return cty.ObjectVal(attrs), true
}

// object converts an object to another object type: attributes that the type lacks are dropped, and
// optional ones that the value lacks are null.
func object(v cty.Value, want cty.Type) (cty.Value, bool) {
	given, attrs := v.Type(), make(map[string]cty.Value, len(want.AttributeTypes()))
	for name, ty := range want.AttributeTypes() {
		switch {
		case given.HasAttribute(name):
			a, ok := converted(v.GetAttr(name), ty)
			if !ok {
				return cty.NilVal, false
			}
			if a.IsNull() {
				a = cty.NullVal(a.Type()).WithSameMarks(a) // as the library does, which loses the marks
			}
			attrs[name] = a
		case want.AttributeOptional(name):
			attrs[name] = cty.NullVal(ty.WithoutOptionalAttributesDeep())
		default:
			return cty.NilVal, false
		}
	}
	return cty.ObjectVal(attrs), true
}

// elementType returns the type that elements of a value of type given get by a conversion to the collection
// type want: the one that its elements have in common if want leaves it open. It is false where the library
// knows better.
func elementType(want, given cty.Type) (cty.Type, bool) {
	if want.ElementType() != cty.DynamicPseudoType || given.IsCollectionType() {
		return want.ElementType(), true
	}
	elem, _ := convert.UnifyUnsafe(elementTypes(given))
	return elem, elem != cty.NilType && elem != cty.DynamicPseudoType
}

// elementTypes returns the types that occur in a tuple or object, each once.
func elementTypes(ty cty.Type) []cty.Type {
	var out []cty.Type
	if ty.IsTupleType() {
		for _, t := range ty.TupleElementTypes() {
			out = add(out, t)
		}
		return out
	}
	for _, t := range ty.AttributeTypes() {
		out = add(out, t)
	}
	return out
}

// common returns the type that unify finds for values.
func common(values []cty.Value, unify func([]cty.Type) (cty.Type, []convert.Conversion)) (cty.Type, bool) {
	var types []cty.Type
	for _, v := range values {
		types = add(types, v.Type())
	}
	ty, _ := unify(types)
	return ty, ty != cty.NilType
}

func add(types []cty.Type, ty cty.Type) []cty.Type {
	for _, t := range types {
		if t.Equals(ty) {
			return types
		}
	}
	return append(types, ty)
}
