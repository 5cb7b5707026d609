package marked

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/unify"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// setShortcut returns the shortcut for an operation on sets with at most so many arguments. Of the first one
// it keeps the elements that keep says so of, and if that is nil, all elements of all. Going through a set
// sorts it first, and a call of the function goes through its arguments many times. This goes through each
// once, and a value that is not a set yet need not be sorted at all.
func setShortcut(most int, keep func(others []cty.ValueSet, elem cty.Value) bool) func(args []cty.Value) (cty.Value, bool) {
	return func(args []cty.Value) (cty.Value, bool) {
		if len(args) < 2 || len(args) > most {
			return cty.NilVal, false
		}
		sets := make([]cty.Value, len(args))
		for i, arg := range args {
			elems, ok := plainElements(arg, keep != nil)
			if !ok || i > 0 && !elems.Type().ElementType().Equals(sets[0].Type().ElementType()) {
				return cty.NilVal, false
			}
			sets[i] = elems
		}
		out := cty.NewValueSet(sets[0].Type().ElementType())
		if keep == nil {
			for _, set := range sets {
				add(out, set)
			}
			return cty.SetValFromValueSet(out), true
		}
		others := make([]cty.ValueSet, 0, len(sets)-1)
		for _, set := range sets[1:] {
			other := cty.NewValueSet(out.ElementType())
			add(other, set)
			others = append(others, other)
		}
		for _, elem := range sets[0].Elements() {
			if keep(others, elem) {
				out.Add(elem)
			}
		}
		return cty.SetValFromValueSet(out), true
	}
}

// add adds the elements of a collection to a set.
func add(out cty.ValueSet, elems cty.Value) {
	for _, elem := range elems.Elements() {
		out.Add(elem)
	}
}

// inAll reports whether all sets have an element.
func inAll(others []cty.ValueSet, elem cty.Value) bool {
	for _, other := range others {
		if !other.Has(elem) {
			return false
		}
	}
	return true
}

// inNone reports whether no set has an element.
func inNone(others []cty.ValueSet, elem cty.Value) bool {
	return !slices.ContainsFunc(others, func(other cty.ValueSet) bool { return other.Has(elem) })
}

// plainElements returns a sequence as a list or set, if its elements are primitive values without marks, all
// known if that is asked for.
func plainElements(v cty.Value, known bool) (cty.Value, bool) {
	ty := v.Type()
	if v.IsMarked() || !v.IsKnown() || v.IsNull() || !ty.IsSetType() && !ty.IsListType() && !ty.IsTupleType() || known && !v.IsWhollyKnown() {
		return cty.NilVal, false
	}
	if !ty.IsSetType() {
		var ok bool
		if v, ok = unify.Converted(v, cty.List(cty.DynamicPseudoType)); !ok || value.IsMarked(v) {
			return cty.NilVal, false
		}
	}
	return v, v.Type().ElementType().IsPrimitiveType()
}
