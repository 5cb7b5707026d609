package unify

import (
	"strconv"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
)

// Conform fills in the defaults of optional attributes and converts a value to a constraint, in linear time.
// The defaults belong to the constraint, or are nil. When it applies defaults, cty compares the types of all
// elements of lists, sets and maps. So Conform passes collections as tuples and objects, and the conversion
// turns them back.
func Conform(v cty.Value, constraint cty.Type, defaults *typeexpr.Defaults) (cty.Value, error) {
	if bare, _ := v.Unmark(); defaults == nil || bare.IsNull() {
		return Convert(v, constraint)
	}
	if out, ok := Converted(defaults.Apply(loosen(v, defaults)), constraint); ok {
		return out, nil
	}
	return Convert(defaults.Apply(v), constraint) // the error is about the original value
}

// loosen returns a value with tuples and objects in place of collections whose elements have defaults.
// Marks stay where they are. Values without such elements are returned as they are, without a copy.
func loosen(val cty.Value, d *typeexpr.Defaults) cty.Value {
	bare, marks := val.Unmark()
	if d == nil || len(d.Children) == 0 || !bare.IsKnown() || bare.IsNull() || !bare.CanIterateElements() || bare.LengthInt() == 0 {
		return val
	}
	ty := bare.Type()
	if ty.IsSetType() && !bare.IsWhollyKnown() {
		return val // its length is unknown
	}
	if d.Type.IsObjectType() && !ty.IsObjectType() || d.Type.IsTupleType() && !ty.IsTupleType() {
		return val // for example, a map for an object: cty handles it
	}
	if ty.IsObjectType() || ty.IsMapType() {
		attrs := bare.AsValueMap()
		for name, e := range attrs {
			attrs[name] = loosen(e, below(d, d.Type.IsObjectType(), name))
		}
		return cty.ObjectVal(attrs).WithMarks(marks)
	}
	elems := bare.AsValueSlice()
	for i, e := range elems {
		elems[i] = loosen(e, below(d, d.Type.IsTupleType(), strconv.Itoa(i)))
	}
	return cty.TupleVal(elems).WithMarks(marks)
}

// below returns the defaults of an element: by its own name or, in a collection, the same for all elements.
// typeexpr keeps the defaults of all elements of a collection under the key "".
func below(d *typeexpr.Defaults, named bool, name string) *typeexpr.Defaults {
	if named {
		return d.Children[name]
	}
	return d.Children[""]
}
