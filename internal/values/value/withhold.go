package value

import "github.com/zclconf/go-cty/cty"

// WithholdEphemeral returns v with everything that is ephemeral in it replaced by unknown values of the same
// types, which keep the marks: for readers of the rest.
func WithholdEphemeral(v cty.Value) cty.Value {
	if v == cty.NilVal || !Contains(v, Ephemeral) {
		return v
	}
	raw, marks := v.Unmark()
	if _, ok := marks[Ephemeral]; ok {
		return cty.UnknownVal(raw.Type()).WithMarks(marks)
	}
	return withheldInside(raw).WithMarks(marks)
}

// withheldInside does the elements of a value that has some; a set's are never marked themselves.
func withheldInside(v cty.Value) cty.Value {
	ty := v.Type()
	if ty.IsObjectType() || ty.IsMapType() {
		elems := v.AsValueMap()
		for k, e := range elems {
			elems[k] = WithholdEphemeral(e)
		}
		if ty.IsMapType() {
			return cty.MapVal(elems)
		}
		return cty.ObjectVal(elems)
	}
	elems := v.AsValueSlice()
	for i, e := range elems {
		elems[i] = WithholdEphemeral(e)
	}
	if ty.IsListType() {
		return cty.ListVal(elems)
	}
	return cty.TupleVal(elems)
}
