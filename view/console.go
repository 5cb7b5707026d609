package view

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/lang/funcs"
)

// ConsoleValue returns the value of an expression as the console shows it: as FormatValue does, or a type that the function type has returned.
func ConsoleValue(v cty.Value, o Options) string {
	if ty, err := funcs.TypeOf(v); err == nil {
		return funcs.TypeText(ty)
	}
	return FormatValue(v, o)
}
