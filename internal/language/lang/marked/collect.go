package marked

import (
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// collected returns the least number of elements in the result of a function that collects elements of its
// arguments, or 0 for others. It is found out before anything is collected.
func collected(name string, args []cty.Value) int {
	switch name {
	case "concat":
		total := 0
		for _, arg := range args {
			total += sizeOf(arg)
		}
		return total
	case "merge": // whose arguments may have the same keys
		largest := 0
		for _, arg := range args {
			largest = max(largest, sizeOf(arg))
		}
		return largest
	case "flatten":
		if len(args) == 1 {
			return flatSize(args[0])
		}
	}
	return 0
}

// sizeOf returns the number of elements of a known collection, and 0 for other values.
func sizeOf(v cty.Value) int {
	if v, _, ok := plain(v); ok && v.CanIterateElements() && !v.Type().IsSetType() {
		return v.LengthInt()
	}
	return 0
}

// flatSize returns how many elements a sequence has at least, once sequences within it are replaced by their
// elements. It does not look deeper.
func flatSize(v cty.Value) int {
	v, _, ok := plain(v)
	if ty := v.Type(); !ok || !ty.IsListType() && !ty.IsTupleType() {
		return 0
	} else if bounds.Flat(ty) {
		return v.LengthInt()
	}
	total := 0
	for _, elem := range v.Elements() {
		switch ty := elem.Type(); {
		case !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType():
			total++
		case bounds.Flat(ty):
			total += sizeOf(elem)
		}
	}
	return total
}

// plainMerge is the shortcut for merge.
func plainMerge(args []cty.Value) (cty.Value, bool) {
	if len(args) == 0 {
		return cty.NilVal, false
	}
	first, alike := args[0].Type(), true
	for _, arg := range args {
		_, marks, ok := plain(arg)
		if ty := arg.Type(); len(marks) > 0 || !ok || !ty.IsMapType() && !ty.IsObjectType() {
			return cty.NilVal, false
		}
		alike = alike && first.IsMapType() && arg.Type().Equals(first)
	}
	out := map[string]cty.Value{}
	for _, arg := range args {
		maps.Copy(out, arg.AsValueMap())
	}
	switch {
	case alike && len(out) == 0:
		return cty.MapValEmpty(first.ElementType()), true
	case alike:
		return cty.MapVal(out), true
	default:
		return cty.ObjectVal(out), true
	}
}

// plainFlatten is the shortcut for flatten.
func plainFlatten(args []cty.Value) (cty.Value, bool) {
	if len(args) != 1 {
		return cty.NilVal, false
	}
	if ty := args[0].Type(); !ty.IsListType() && !ty.IsTupleType() {
		return cty.NilVal, false
	}
	out, ok := appendFlat(make([]cty.Value, 0, flatSize(args[0])), args[0])
	if !ok {
		return cty.NilVal, false
	}
	return cty.TupleVal(out), true
}

// appendFlat appends the elements of a sequence, and of sequences in it. It is false if a sequence, or a
// value that may become one, is unknown or has marks.
func appendFlat(out []cty.Value, seq cty.Value) ([]cty.Value, bool) {
	if seq.IsMarked() || !seq.IsKnown() || seq.IsNull() {
		return nil, false
	}
	for _, elem := range seq.Elements() {
		switch ty := elem.Type(); {
		case !elem.IsKnown() && ty == cty.DynamicPseudoType || value.Has(elem, value.Ephemeral) && !ty.IsPrimitiveType() || value.Has(elem, value.EphemeralType):
			return nil, false
		case !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() || elem.IsKnown() && elem.IsNull():
			out = append(out, elem)
		default:
			var ok bool
			if out, ok = appendFlat(out, elem); !ok {
				return nil, false
			}
		}
	}
	return out, true
}
