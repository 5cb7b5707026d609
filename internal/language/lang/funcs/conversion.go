package funcs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/mayfly-iac/mayfly/internal/base/unify"
)

var conversionFuncs = map[string]function.Function{
	"convert":  convertFunc,
	"list":     retiredFunc("list", "tolist([ ... ])", "list"),
	"map":      retiredFunc("map", "tomap({ ... })", "map"),
	"tobool":   conversionFunc(cty.Bool),
	"tolist":   conversionFunc(cty.List(cty.DynamicPseudoType)),
	"tomap":    conversionFunc(cty.Map(cty.DynamicPseudoType)),
	"tonumber": conversionFunc(cty.Number),
	"toset":    conversionFunc(cty.Set(cty.DynamicPseudoType)),
	"tostring": conversionFunc(cty.String),
}

// conversionFunc is the library's conversion function, except that the marks of elements stay on the
// elements.
func conversionFunc(want cty.Type) function.Function {
	std := stdlib.MakeToFunc(want)
	param := std.Params()[0]
	param.AllowMarked, param.AllowUnknown = true, true
	return function.New(&function.Spec{
		Params: []function.Parameter{param},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty := unify.Concrete(want, args[0].Type()); !ty.Equals(want) {
				return ty, nil
			}
			return std.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
			v, err := unify.Convert(args[0], retType)
			if err == nil {
				return v, nil
			}
			// The library's message is made for explicit conversions.
			if _, stdErr := std.Call(args); stdErr != nil {
				err = stdErr
			}
			return cty.NilVal, err
		},
	})
}

// retiredFunc fails with a pointer to the function's replacement.
func retiredFunc(name, syntax, what string) function.Function {
	err := fmt.Errorf(`the %q function was deprecated in Terraform v0.12 and is not available; use %s syntax to write a literal %s`,
		name, syntax, what)
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "vals", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true},
		Type:     func([]cty.Value) (cty.Type, error) { return cty.NilType, err },
		Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.NilVal, err },
	})
}

// ErrNotType is returned by TypeOf for values that are not results of the type function.
var ErrNotType = errors.New("not a type value")

// TypeOf returns the type that a result of the type function stands for.
func TypeOf(v cty.Value) (cty.Type, error) {
	v, _ = v.Unmark()
	if v == cty.NilVal || !v.Type().Equals(typeexpr.TypeConstraintType) || !v.IsKnown() || v.IsNull() {
		return cty.NilType, ErrNotType
	}
	return typeexpr.TypeConstraintFromVal(v), nil
}

// TypeText returns a type as the console writes it: structural types over several lines, indented by four
// spaces.
func TypeText(ty cty.Type) string {
	var b strings.Builder
	writeType(&b, ty, 0)
	return b.String()
}

// writeType writes a type as the type function shows it, with one attribute or element per line. Attributes
// are sorted, because the result is a value that expressions can compare.
func writeType(b *strings.Builder, ty cty.Type, depth int) {
	pad := strings.Repeat("    ", depth)
	switch {
	case ty.IsObjectType() && len(ty.AttributeTypes()) > 0:
		attrs := ty.AttributeTypes()
		b.WriteString("object({\n")
		for _, name := range slices.Sorted(maps.Keys(attrs)) {
			b.WriteString(pad + "    " + name + ": ")
			writeType(b, attrs[name], depth+1)
			b.WriteString(",\n")
		}
		b.WriteString(pad + "})")
	case ty.IsObjectType():
		b.WriteString("object({})")
	case ty.IsTupleType() && ty.Length() > 0:
		b.WriteString("tuple([\n")
		for _, ety := range ty.TupleElementTypes() {
			b.WriteString(pad + "    ")
			writeType(b, ety, depth+1)
			b.WriteString(",\n")
		}
		b.WriteString(pad + "])")
	case ty.IsTupleType():
		b.WriteString("tuple([])")
	case ty.IsCollectionType():
		writeCollectionType(b, ty, depth)
	case ty.Equals(typeexpr.TypeConstraintType):
		b.WriteString("type")
	default:
		b.WriteString(ty.FriendlyName())
	}
}

// writeCollectionType writes the type of a list, set or map as the function "type" shows it: elements with
// attributes or positions of their own take lines of their own.
func writeCollectionType(b *strings.Builder, ty cty.Type, depth int) {
	kind := "list"
	switch {
	case ty.IsMapType():
		kind = "map"
	case ty.IsSetType():
		kind = "set"
	}
	b.WriteString(kind + "(")
	ety := ty.ElementType()
	if !ety.IsObjectType() && !ety.IsTupleType() {
		writeType(b, ety, depth)
	} else {
		pad := strings.Repeat("    ", depth)
		b.WriteString("\n" + pad + "    ")
		writeType(b, ety, depth+1)
		b.WriteString(",\n" + pad)
	}
	b.WriteString(")")
}
