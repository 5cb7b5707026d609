package schema

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// AssertObject checks that v has the block's type and that all write-only attributes in it are null. Null
// and unknown values are fine. The value has no marks. The errors are cty.PathErrors without values. A nil
// result means that there are none.
func AssertObject(b *Block, v cty.Value) []error {
	errs, _ := assertObject(b, v)
	return errs
}

// assertObject is AssertObject, and reports whether v has the block's type.
func assertObject(b *Block, v cty.Value) (errs []error, conforms bool) {
	if v == cty.NilVal {
		return []error{cty.Path(nil).NewErrorf("there is no value")}, false
	}
	if !b.Conforms(v) {
		for _, err := range v.Type().TestConformance(b.Type()) {
			errs = append(errs, cty.Path(nil).NewError(err))
		}
		return errs, false
	}
	for _, path := range b.WriteOnlyPaths(v) {
		errs = append(errs, path.NewErrorf("a write-only attribute must be null in everything that a provider returns"))
	}
	return errs, true
}

// Conforms reports whether v is null, unknown or an object of the block's type. Types are compared at every
// call, but for the common case of equal types cheaply.
func (b *Block) Conforms(v cty.Value) bool {
	typ := v.Type()
	return typ == cty.DynamicPseudoType && (v.IsNull() || !v.IsKnown()) || fits(typ, b.Type())
}

// fits is TestConformance without a list of errors, for the most frequent types of objects.
func fits(typ, want cty.Type) bool {
	switch {
	case want == cty.DynamicPseudoType:
		return true
	case want.IsPrimitiveType():
		return typ == want
	case want.IsObjectType() && typ.IsObjectType():
		have, wanted := typ.AttributeTypes(), want.AttributeTypes()
		if len(have) != len(wanted) || len(want.OptionalAttributes()) > 0 {
			return len(typ.TestConformance(want)) == 0
		}
		for name, ty := range wanted {
			if got, ok := have[name]; !ok || !fits(got, ty) {
				return false
			}
		}
		return true
	}
	return typ.Equals(want) || len(typ.TestConformance(want)) == 0
}

// WhollyKnown reports whether no part of a value is unknown. It is cheaper than IsWhollyKnown of cty, which
// sorts the attributes of an object and makes a value of each name.
func WhollyKnown(v cty.Value) bool {
	v, _ = v.Unmark()
	if !isOpen(v) || !v.Type().IsObjectType() {
		return v.IsWhollyKnown()
	}
	for name := range v.Type().AttributeTypes() {
		if !WhollyKnown(v.GetAttr(name)) {
			return false
		}
	}
	return true
}

// AssertWhollyKnown returns an error for each unknown value in v. Within a set the path leads to the set. The
// errors are cty.PathErrors.
func AssertWhollyKnown(v cty.Value) []error {
	if v == cty.NilVal || WhollyKnown(v) {
		return nil
	}
	var unknown paths
	collectUnknown(&unknown, nil, v, false)
	errs := make([]error, len(unknown))
	for i, path := range unknown {
		errs[i] = path.NewErrorf("the value is unknown, but must be known now")
	}
	return errs
}

// collectUnknown adds the paths of unknown parts. An unknown part within a set is reported at the set, whose
// elements have no stable path.
func collectUnknown(found *paths, path cty.Path, v cty.Value, inSet bool) {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown():
		found.add(path)
	case v.IsNull() || !v.CanIterateElements():
	default:
		inSet = inSet || v.Type().IsSetType()
		for it := v.ElementIterator(); it.Next(); {
			key, one := it.Element()
			if inSet {
				collectUnknown(found, path, one, inSet)
			} else {
				collectUnknown(found, append(path, stepTo(v.Type(), key)), one, inSet)
			}
		}
	}
}

// equal reports whether two values are the same to a provider: unknown values are, whatever else is known
// about them, and numbers are, whatever their precision.
func equal(a, b cty.Value) bool {
	if a.RawEquals(b) {
		return true
	}
	if !holdsSets(a.Type()) && (a.IsWhollyKnown() || b.IsWhollyKnown()) {
		return false
	}
	// RawEquals tells unknown values with different refinements apart, and depends on the order of sets,
	// where cty sorts elements by a text that leaves out the last digits of large numbers.
	check := sameCheck{}
	check.value(nil, unrefined(a), b)
	if len(check.errs) > 0 {
		return false
	}
	check.value(nil, unrefined(b), a)
	return len(check.errs) == 0
}

// holdsSets reports whether values of a type may have sets in them.
func holdsSets(typ cty.Type) bool {
	switch {
	case typ.IsSetType():
		return true
	case typ.IsCollectionType():
		return holdsSets(typ.ElementType())
	case typ.IsTupleType():
		return slices.ContainsFunc(typ.TupleElementTypes(), holdsSets)
	case typ.IsObjectType():
		for _, attr := range typ.AttributeTypes() {
			if holdsSets(attr) {
				return true
			}
		}
	}
	return false
}

// unrefined returns v with plain unknown values in place of refined ones.
func unrefined(v cty.Value) cty.Value {
	if v.IsWhollyKnown() {
		return v
	}
	plain, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return cty.UnknownVal(v.Type()), nil
		}
		return v, nil
	})
	if err != nil {
		return v
	}
	return plain
}
