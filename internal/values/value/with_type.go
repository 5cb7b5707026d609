package value

import "github.com/zclconf/go-cty/cty"

// WithType returns v with ty in place of its own type, which must be equal to it: many values can share one
// type in memory.
func WithType(v cty.Value, ty cty.Type) cty.Value {
	return cty.ListVal([]cty.Value{cty.UnknownVal(ty), v}).Index(second) // a list has one type for all elements
}

var second = cty.NumberIntVal(1)
