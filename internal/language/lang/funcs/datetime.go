package funcs

import (
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

var datetimeFuncs = map[string]function.Function{
	"formatdate": stdlib.FormatDateFunc,
	"timeadd":    stdlib.TimeAddFunc,
	"timecmp":    timecmpFunc,
}

// timestampFunc returns the moment of its call.
var timestampFunc = function.New(&function.Spec{
	Type: function.StaticReturnType(cty.String),
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
		return cty.StringVal(time.Now().UTC().Format(time.RFC3339)), nil
	},
})

// fixedTimestampFunc returns the given moment, or an unknown value if that is zero.
func fixedTimestampFunc(at time.Time) function.Function {
	result := cty.UnknownVal(cty.String)
	if !at.IsZero() {
		result = cty.StringVal(at.UTC().Format(time.RFC3339))
	}
	return function.New(&function.Spec{
		Type: function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return result, nil },
	})
}

// timecmpFunc compares moments, not texts: offsets from UTC don't matter.
var timecmpFunc = function.New(&function.Spec{
	Params:       []function.Parameter{stringParam("timestamp_a"), stringParam("timestamp_b")},
	Type:         function.StaticReturnType(cty.Number),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var at [2]time.Time
		for i, arg := range args {
			// The library's parser is not exported; adding nothing makes it judge the timestamp with its own
			// messages.
			if _, err := stdlib.TimeAdd(arg, cty.StringVal("0s")); err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
			var err error
			if at[i], err = time.Parse(time.RFC3339, arg.AsString()); err != nil {
				return cty.NilVal, function.NewArgErrorf(i, "not a valid RFC3339 timestamp")
			}
		}
		return cty.NumberIntVal(int64(at[0].Compare(at[1]))), nil
	},
})
