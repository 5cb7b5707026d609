// Package jsonvalue reads values and types from JSON that comes from outside: states, plans, providers. cty's
// decoder, which does the work, panics for some input that has the form but not the shape that a type asks
// for.
//
// It may import cty's packages only. It must not know what a value is for.
package jsonvalue

import (
	"errors"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

var (
	errValue = errors.New("the JSON text is not a value of its type")
	errType  = errors.New("the JSON text is not a type")
)

// Unmarshal reads a value of type ty, whose dynamic parts are stored with their types.
func Unmarshal(b []byte, ty cty.Type) (v cty.Value, err error) {
	// Tuples may have fewer elements than their type, and lists elements of several types.
	defer func() {
		if recover() != nil {
			v, err = cty.NilVal, errValue
		}
	}()
	return ctyjson.Unmarshal(b, ty)
}

// UnmarshalType reads a type.
func UnmarshalType(b []byte) (ty cty.Type, err error) {
	// Attributes may be optional that the object does not have.
	defer func() {
		if recover() != nil {
			ty, err = cty.NilType, errType
		}
	}()
	return ctyjson.UnmarshalType(b)
}
