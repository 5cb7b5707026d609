package funcs

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

var stringFuncs = map[string]function.Function{
	"chomp":       stdlib.ChompFunc,
	"endswith":    stringTest("suffix", strings.HasSuffix),
	"format":      stdlib.FormatFunc,
	"formatlist":  stdlib.FormatListFunc,
	"indent":      indentFunc,
	"join":        stdlib.JoinFunc,
	"lower":       stdlib.LowerFunc,
	"regex":       stdlib.RegexFunc,
	"regexall":    stdlib.RegexAllFunc,
	"replace":     replaceFunc,
	"split":       stdlib.SplitFunc,
	"startswith":  startswithFunc,
	"strcontains": stringTest("substr", strings.Contains),
	"strrev":      stdlib.ReverseFunc,
	"substr":      stdlib.SubstrFunc,
	"title":       stdlib.TitleFunc,
	"trim":        stdlib.TrimFunc,
	"trimprefix":  stdlib.TrimPrefixFunc,
	"trimspace":   stdlib.TrimSpaceFunc,
	"trimsuffix":  stdlib.TrimSuffixFunc,
	"upper":       stdlib.UpperFunc,
}

func notNull(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() }

func stringParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.String}
}

// stringTest returns a function that asks a yes-or-no question about two strings.
func stringTest(param string, test func(s, part string) bool) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{stringParam("str"), stringParam(param)},
		Type:         function.StaticReturnType(cty.Bool),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// startswithFunc also answers for a string of which only the beginning is known.
var startswithFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "str", Type: cty.String, AllowUnknown: true},
		stringParam("prefix"),
	},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		prefix := args[1].AsString()
		if args[0].IsKnown() {
			return cty.BoolVal(strings.HasPrefix(args[0].AsString(), prefix)), nil
		}
		known := args[0].Range().StringPrefix()
		if len(known) < len(prefix) && strings.HasPrefix(prefix, known) {
			return cty.UnknownVal(cty.Bool), nil
		}
		return cty.BoolVal(strings.HasPrefix(known, prefix)), nil
	},
})

// replaceFunc treats a search string between slashes as a regular expression, whose captures the replacement
// may name with $.
var replaceFunc = function.New(&function.Spec{
	Params:       []function.Parameter{stringParam("str"), stringParam("substr"), stringParam("replace")},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		search := args[1].AsString()
		if len(search) > 1 && search[0] == '/' && search[len(search)-1] == '/' {
			return stdlib.RegexReplace(args[0], cty.StringVal(search[1:len(search)-1]), args[2])
		}
		return stdlib.Replace(args[0], args[1], args[2])
	},
})

// maxIndent bounds indent's result: more is a mistake, and would only exhaust memory.
const maxIndent = 1 << 16

// indentFunc is the library's, with bounds on the number of spaces.
var indentFunc = function.New(&function.Spec{
	Params:       stdlib.IndentFunc.Params(),
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if args[0].LessThan(cty.Zero).True() || args[0].GreaterThan(cty.NumberIntVal(maxIndent)).True() {
			return cty.NilVal, function.NewArgErrorf(0, "the number of spaces must be between 0 and %d", maxIndent)
		}
		return stdlib.Indent(args[0], args[1])
	},
})
