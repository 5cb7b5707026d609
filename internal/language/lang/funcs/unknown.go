package funcs

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// picks names the functions whose result is an element of their first argument, chosen by the second.
var picks = map[string]bool{"element": true, "lookup": true}

// Decides returns those arguments of a call that decide whether its result is known. Of a collection that an
// element is picked from, the others do not, unless the key is ephemeral.
func Decides(name string, args []cty.Value) []cty.Value {
	if picks[strings.TrimPrefix(name, CorePrefix)] && len(args) > 1 && !value.Has(args[1], value.Ephemeral) {
		return args[2:]
	}
	return args
}

// unknownResult gives a result that is not known yet the marks that it may come to have: the arguments'
// marks, and ephemeral if a part of an argument is, unless it is certain that the result is another part.
func unknownResult(name string, v cty.Value, args []cty.Value) cty.Value {
	if v.IsKnown() || decidesMarks[name] && !picks[name] {
		return v
	}
	if picks[name] && len(args) > 1 && args[0].IsKnown() && args[1].IsKnown() {
		return v.WithSameMarks(args[0], args[1])
	}
	for _, arg := range args {
		if !decidesMarks[name] {
			v = v.WithSameMarks(arg)
		}
		if value.Contains(arg, value.Ephemeral) {
			v = v.Mark(value.Ephemeral)
		}
	}
	return v
}
