package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Example values are short: parts below maxExampleDepth, and those after the first maxExampleParts of an
// object or tuple, are "...".
const (
	maxExampleDepth = 3
	maxExampleParts = 3
)

// exampleOf returns an example value of a type constraint, written as an expression without optional
// attributes.
//
//	map(object({ cidr = string }))  → { name = { cidr = "value" } }
func exampleOf(ty cty.Type) string { return exampleAt(ty, 0) }

// exampleAt returns a value of a type as a user could write it. Types within types end at maxExampleDepth.
func exampleAt(ty cty.Type, depth int) string {
	switch {
	case ty == cty.Number:
		return "1"
	case ty == cty.Bool:
		return "true"
	case ty == cty.String || ty == cty.DynamicPseudoType:
		return `"value"`
	case depth == maxExampleDepth:
		return "..."
	case ty.IsMapType():
		return "{ name = " + exampleAt(ty.ElementType(), depth+1) + " }"
	case ty.IsObjectType():
		return exampleObject(ty, depth)
	case ty.IsTupleType():
		return exampleTuple(ty.TupleElementTypes(), depth)
	case ty.ElementType() == cty.String:
		return `["a", "b"]`
	}
	return exampleTuple([]cty.Type{ty.ElementType()}, depth)
}

// exampleObject returns an object with the attributes that the type requires, at most maxExampleParts of
// them.
func exampleObject(ty cty.Type, depth int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
		if ty.AttributeOptional(name) {
			continue
		}
		if len(parts) == maxExampleParts {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, name+" = "+exampleAt(ty.AttributeType(name), depth+1))
	}
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func exampleTuple(elems []cty.Type, depth int) string {
	var parts []string
	for i, elem := range elems {
		if i == maxExampleParts {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, exampleAt(elem, depth+1))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
