// Package jsonvalue reads values and types from JSON that comes from outside: states, plans, providers. cty's
// decoder, which does most of the work, panics for some input that has the form but not the shape that a type
// asks for. It also writes types, in linear time.
//
// It may import bounds and cty's packages. It must not know the uses of values.
package jsonvalue

import (
	"errors"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

var (
	errValue = errors.New("the JSON text is not a value of its type")
	errType  = errors.New("the JSON text is not a type")
)

// Unmarshal reads a value of type ty, whose dynamic parts are stored with their types. It fails with
// bounds.ErrWritten for numbers that would take too long to write out.
func Unmarshal(b []byte, ty cty.Type) (v cty.Value, err error) {
	// Tuples may have fewer elements than their type, and lists elements of several types.
	defer func() {
		if recover() != nil {
			v, err = cty.NilVal, errValue
		}
	}()
	if err := bounds.JSONNumbers(b, !hasText(ty)); err != nil {
		return cty.NilVal, err // elements of sets are compared by their digits
	}
	return ctyjson.Unmarshal(b, ty)
}

// hasText reports whether a string in a value of type ty may be a string, and not a number in quotes.
func hasText(ty cty.Type) bool {
	switch {
	case ty == cty.String || ty == cty.DynamicPseudoType:
		return true
	case ty.IsCollectionType():
		return hasText(ty.ElementType())
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), hasText)
	case ty.IsObjectType():
		return slices.ContainsFunc(slices.Collect(maps.Values(ty.AttributeTypes())), hasText)
	}
	return false
}
