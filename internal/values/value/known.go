package value

import "github.com/zclconf/go-cty/cty"

// MarkKnown returns v, the result of an operation, with the mark EphemeralKnown if it is ephemeral and known,
// but may be unknown with other ephemeral values: if a part of it or of the operands is unknown.
func MarkKnown(v cty.Value, operands ...cty.Value) cty.Value {
	if !MayBeUnknown(v) {
		return v
	}
	for _, operand := range append(operands, v) {
		if !Settled(operand) {
			return v.Mark(EphemeralKnown)
		}
	}
	return v
}

// MayBeUnknown reports whether an ephemeral value can have decided that v is known. It has not where v has
// the mark EphemeralKnown already.
func MayBeUnknown(v cty.Value) bool {
	return v != cty.NilVal && v.IsKnown() && Has(v, Ephemeral) && !Has(v, EphemeralKnown)
}

// Settled reports whether all of v is known, and would be with other ephemeral values as well.
func Settled(v cty.Value) bool {
	if v == cty.NilVal || !IsMarked(v) {
		return v == cty.NilVal || v.IsWhollyKnown()
	}
	bare, _ := v.Unmark()
	if Has(v, EphemeralKnown) || !bare.IsKnown() {
		return false
	}
	if bare.IsNull() || !bare.CanIterateElements() {
		return true
	}
	if !IsMarked(bare) {
		return bare.IsWhollyKnown()
	}
	for _, elem := range bare.Elements() {
		if !Settled(elem) {
			return false
		}
	}
	return true
}

// UnknownAsNull returns v with null in place of its unknown parts, and with its marks.
func UnknownAsNull(v cty.Value) cty.Value {
	raw, marks := v.UnmarkDeepWithPaths()
	return cty.UnknownAsNull(raw).MarkWithPaths(marks)
}
