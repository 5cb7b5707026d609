package value

import "github.com/zclconf/go-cty/cty"

// Ephemerally returns v marked as ephemeral, where declared is the type known without looking at it: the type
// of a variable, or of a provider's schema. The parts whose type the declaration leaves open are marked as
// such, whatever they are.
func Ephemerally(v cty.Value, declared cty.Type) cty.Value {
	if declared == cty.NilType {
		declared = cty.DynamicPseudoType
	}
	return markOpen(v, declared.WithoutOptionalAttributesDeep()).Mark(Ephemeral)
}

// markOpen marks the parts of v whose type declared leaves open.
func markOpen(v cty.Value, declared cty.Type) cty.Value {
	bare, marks := v.Unmark()
	switch {
	case declared == cty.DynamicPseudoType:
	case !declared.HasDynamicTypes() && v.Type().Equals(declared):
		return withoutTypeMarks(v)
	case bare.IsNull():
		return cty.NullVal(declared).WithMarks(marks)
	case !bare.IsKnown():
		return cty.UnknownVal(declared).WithMarks(marks)
	case declared.IsObjectType() && sameAttributes(v.Type(), declared):
		attrs := bare.AsValueMap()
		for name, attr := range attrs {
			attrs[name] = markOpen(attr, declared.AttributeType(name))
		}
		return withoutTypeMark(cty.ObjectVal(attrs), marks)
	case declared.IsTupleType() && v.Type().IsTupleType() && v.Type().Length() == declared.Length():
		elems := bare.AsValueSlice()
		for i, elem := range elems {
			elems[i] = markOpen(elem, declared.TupleElementType(i))
		}
		return withoutTypeMark(cty.TupleVal(elems), marks)
	}
	return v.Mark(Ephemeral).Mark(EphemeralType)
}

// MarkTypes returns v with the mark EphemeralType exactly on those parts whose type is another than known.
// That is the type as far as it is known without any ephemeral value, and dynamic where it is not. Parts with
// the mark are ephemeral. Elements of a collection have one type, so that the whole gets the mark.
func MarkTypes(v cty.Value, known cty.Type) cty.Value {
	ty := v.Type()
	settled := ty.Equals(known)
	if settled && !IsMarked(v) {
		return v
	}
	if ty == cty.DynamicPseudoType { // an untyped null, whose type says nothing about others
		if Has(v, Ephemeral) && v.IsKnown() && known == ty {
			v = v.Mark(EphemeralType)
		}
		return v
	}
	if settled && !ty.HasDynamicTypes() {
		return withoutTypeMarks(v)
	}
	bare, marks := v.Unmark()
	switch {
	case !bare.IsKnown() || bare.IsNull():
		if _, ephemeral := marks[Ephemeral]; settled && (bare.IsKnown() || !ephemeral) { // an unknown value may get any type that fits
			return withoutTypeMark(bare, marks)
		}
	case known.IsObjectType() && sameAttributes(ty, known):
		attrs := bare.AsValueMap()
		for name, attr := range attrs {
			attrs[name] = MarkTypes(attr, known.AttributeType(name))
		}
		return withoutTypeMark(cty.ObjectVal(attrs), marks)
	case known.IsTupleType() && ty.IsTupleType() && ty.Length() == known.Length():
		elems := bare.AsValueSlice()
		for i, elem := range elems {
			elems[i] = MarkTypes(elem, known.TupleElementType(i))
		}
		return withoutTypeMark(cty.TupleVal(elems), marks)
	case settled && !Contains(bare, Ephemeral): // a collection
		return v
	}
	return v.Mark(Ephemeral).Mark(EphemeralType)
}

// TypedBy returns v, which has been converted to a type constraint, with the mark EphemeralType where the
// constraint leaves the type open, but nowhere else.
func TypedBy(v cty.Value, constraint cty.Type) cty.Value {
	if constraint == cty.NilType || constraint == cty.DynamicPseudoType || !IsMarked(v) {
		return v
	}
	if !constraint.HasDynamicTypes() {
		return withoutTypeMarks(v)
	}
	bare, marks := v.Unmark()
	switch {
	case !bare.IsKnown() || bare.IsNull():
		return v
	case constraint.IsObjectType() && bare.Type().IsObjectType():
		attrs := bare.AsValueMap()
		for name, attr := range attrs {
			attrs[name] = TypedBy(attr, constraint.AttributeType(name))
		}
		bare = cty.ObjectVal(attrs)
	case constraint.IsTupleType() && bare.Type().IsTupleType():
		elems := bare.AsValueSlice()
		for i, elem := range elems {
			elems[i] = TypedBy(elem, constraint.TupleElementType(i))
		}
		bare = cty.TupleVal(elems)
	case Contains(bare, EphemeralType):
		return v.Mark(Ephemeral).Mark(EphemeralType)
	default:
		return v
	}
	return withoutTypeMark(bare, marks)
}

// KnownType returns the type of v as far as it is known without any ephemeral value, and dynamic where it is
// not.
func KnownType(v cty.Value) cty.Type {
	ty := v.Type()
	if Has(v, EphemeralType) {
		return cty.DynamicPseudoType
	}
	bare, _ := v.Unmark()
	switch {
	case bare.IsNull() || !bare.IsKnown():
	case ty.IsObjectType():
		attrs := map[string]cty.Type{}
		for name, attr := range bare.AsValueMap() {
			attrs[name] = KnownType(attr)
		}
		return cty.Object(attrs)
	case ty.IsTupleType():
		types := make([]cty.Type, 0, ty.Length())
		for _, elem := range bare.AsValueSlice() {
			types = append(types, KnownType(elem))
		}
		return cty.Tuple(types)
	case ty.IsCollectionType() && Contains(bare, EphemeralType):
		return cty.DynamicPseudoType
	}
	return ty
}

// OpenType reports whether v has an ephemeral part whose type is not known in full without it.
func OpenType(v cty.Value) bool {
	if !IsMarked(v) {
		return false
	}
	open := false
	_ = cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) { // the callback returns no error
		ephemeral := Has(part, Ephemeral)
		open = open || Has(part, EphemeralType) || ephemeral && KnownType(part).HasDynamicTypes()
		return !open && !ephemeral, nil
	})
	return open
}

// withoutTypeMark returns a bare value with marks other than EphemeralType.
func withoutTypeMark(bare cty.Value, marks cty.ValueMarks) cty.Value {
	for m := range marks {
		if m != EphemeralType {
			bare = bare.Mark(m)
		}
	}
	return bare
}

// withoutTypeMarks removes the mark EphemeralType from all parts of a value.
func withoutTypeMarks(v cty.Value) cty.Value {
	out, _ := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) { // the callback never fails
		if !Has(part, EphemeralType) {
			return part, nil
		}
		bare, marks := part.Unmark()
		return withoutTypeMark(bare, marks), nil
	})
	return out
}
