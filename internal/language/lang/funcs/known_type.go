package funcs

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// markType marks those parts of a function's result whose type is not known without the ephemeral parts of
// the arguments: the elements that a call drops may have named the attributes of other elements.
func markType(name string, f function.Function, v cty.Value, args []cty.Value) cty.Value {
	if strings.HasPrefix(name, "template") {
		return templateResultType(v, args)
	}
	if keepsTypes[name] || !containsEphemeral(args) {
		return v
	}
	switch {
	case name == "flatten":
		return flattenedType(v, args[0])
	case name == "merge" && value.Has(v, value.Ephemeral) && v.Type() != cty.DynamicPseudoType: // an argument that is null has no attributes
		return v.Mark(value.EphemeralType)
	}
	return value.MarkTypes(v, typeWithout(f, args))
}

// keepsTypes names the functions whose result is of the type that it seems to have, because they have marked
// it themselves or because it says nothing about an ephemeral value.
var keepsTypes = map[string]bool{
	"ephemeralasnull": true, "fingerprint": true, "issensitive": true, "assumeequal": true, "type": true,
}

func containsEphemeral(args []cty.Value) bool {
	return slices.ContainsFunc(args, func(arg cty.Value) bool { return value.Contains(arg, value.Ephemeral) })
}

// typeWithout returns the type of a call's result as far as it is known without the ephemeral parts of the
// arguments.
func typeWithout(f function.Function, args []cty.Value) cty.Type {
	ty := typeIf(f, args, cty.DynamicPseudoType)
	if ty.HasDynamicTypes() || !slices.ContainsFunc(args, value.OpenType) {
		return ty
	}
	// Where types must have one in common, the library takes those that it knows.
	certain := false
	for _, open := range []cty.Type{cty.String, cty.Bool, cty.Tuple([]cty.Type{cty.String}), cty.List(cty.String), cty.EmptyObject, cty.Map(cty.Bool)} {
		switch other := typeIf(f, args, open); {
		case other == cty.NilType:
		case !other.Equals(ty):
			return cty.DynamicPseudoType
		default:
			certain = true
		}
	}
	if !certain {
		return cty.DynamicPseudoType
	}
	return ty
}

// typeIf returns the type of a call's result if the ephemeral parts of the arguments whose type is not known
// have the given one. For an error it returns cty.NilType or, if that one is dynamic, the dynamic type.
func typeIf(f function.Function, args []cty.Value, open cty.Type) cty.Type {
	params, rest := f.Params(), f.VarParam()
	public := make([]cty.Value, len(args))
	for i, arg := range args {
		want := cty.DynamicPseudoType
		if i < len(params) {
			want = params[i].Type
		} else if rest != nil {
			want = rest.Type
		}
		public[i] = withoutEphemeral(arg, open)
		if !want.HasDynamicTypes() && !public[i].Type().Equals(want) { // whatever it was, it has been converted
			public[i] = cty.UnknownVal(want)
		}
	}
	ty, err := f.ReturnTypeForValues(public)
	switch {
	case err == nil:
		return ty
	case open == cty.DynamicPseudoType:
		return open
	default:
		return cty.NilType
	}
}

// withoutEphemeral returns a value without marks whose ephemeral parts are unknown, of the type that is known
// without them, with the given one for each part of it that is not known.
func withoutEphemeral(v cty.Value, open cty.Type) cty.Value {
	if !value.Contains(v, value.Ephemeral) {
		v, _ = v.UnmarkDeep()
		return v
	}
	ty := value.KnownType(v)
	bare, marks := v.Unmark()
	if _, ephemeral := marks[value.Ephemeral]; ephemeral || ty == cty.DynamicPseudoType {
		return cty.UnknownVal(closed(ty, open))
	}
	elems := map[string]cty.Value{}
	var list []cty.Value
	for it := bare.ElementIterator(); it.Next(); {
		key, elem := it.Element()
		elem = withoutEphemeral(elem, open)
		if key.Type() == cty.String {
			elems[key.AsString()] = elem
		}
		list = append(list, elem)
	}
	switch {
	case ty.IsObjectType():
		return cty.ObjectVal(elems)
	case ty.IsMapType():
		return cty.MapVal(elems)
	case ty.IsTupleType():
		return cty.TupleVal(list)
	default:
		return cty.ListVal(list)
	}
}

// closed returns a type with the given one for each part of it that is dynamic.
func closed(ty, open cty.Type) cty.Type {
	switch {
	case ty == cty.DynamicPseudoType:
		return open
	case !ty.HasDynamicTypes():
		return ty
	case ty.IsObjectType():
		attrs := map[string]cty.Type{}
		for name, attr := range ty.AttributeTypes() {
			attrs[name] = closed(attr, open)
		}
		return cty.Object(attrs)
	case ty.IsTupleType():
		elems := make([]cty.Type, ty.Length())
		for i, elem := range ty.TupleElementTypes() {
			elems[i] = closed(elem, open)
		}
		return cty.Tuple(elems)
	case ty.IsListType():
		return cty.List(closed(ty.ElementType(), open))
	case ty.IsSetType():
		return cty.Set(closed(ty.ElementType(), open))
	default:
		return cty.Map(closed(ty.ElementType(), open))
	}
}

// templateResultType marks the result of a template that is one expression, or whose text is ephemeral, which
// may be such a template.
func templateResultType(v cty.Value, args []cty.Value) cty.Value {
	open := value.Has(args[0], value.Ephemeral)
	if v.HasMark(ofAnyType{}) {
		bare, marks := v.Unmark()
		delete(marks, ofAnyType{})
		v = bare.WithMarks(marks)
		open = open || containsEphemeral(args)
	}
	if open && v.Type() != cty.DynamicPseudoType {
		v = v.Mark(value.Ephemeral).Mark(value.EphemeralType)
	}
	return v
}

// flattenedType marks the result of flatten. Its type is not known either if it is as long as an ephemeral
// sequence, or if an element may be a sequence.
func flattenedType(v, arg cty.Value) cty.Value {
	open := value.Has(v, value.Ephemeral)
	if bare, _ := v.Unmark(); bare.IsKnown() {
		for _, elem := range bare.AsValueSlice() {
			ty := elem.Type() // an ephemeral sequence that is null
			open = open || value.Has(elem, value.EphemeralType) || value.Has(elem, value.Ephemeral) && (ty.IsListType() || ty.IsSetType() || ty.IsTupleType())
		}
	} else {
		open = value.Contains(arg, value.Ephemeral)
	}
	if open {
		return v.Mark(value.Ephemeral).Mark(value.EphemeralType)
	}
	return v
}
