package config_test

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

var constraints = []string{
	`list(any)`, `map(any)`, `set(any)`, `any`, `list(object({a=any}))`, `map(object({a=string, b=optional(number, 3)}))`,
	`list(object({a=string, b=optional(string, "x")}))`, `set(object({a=string, b=optional(string, "x")}))`, `object({m=optional(map(object({b=optional(string, "x")})), {})})`,
	`map(list(object({a=string, b=optional(any, 1)})))`, `list(map(object({b=optional(string, "x")})))`, `tuple([list(object({b=optional(string, "x")})), any])`,
	`object({a=optional(list(object({b=optional(bool, true)})), [{}]), b=optional(map(any))})`, `map(object({a=any, b=optional(any)}))`,
}

func drawArgument(t *rapid.T, depth int) cty.Value {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 || kind == 0 {
		return rapid.SampledFrom([]cty.Value{
			cty.StringVal("s"), cty.StringVal("1"), cty.Zero, cty.True, cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.String), cty.UnknownVal(cty.String), cty.DynamicVal,
			cty.StringVal("secret").Mark(value.Sensitive), cty.EmptyObjectVal, cty.EmptyTupleVal,
		}).Draw(t, "leaf")
	}
	var elems []cty.Value
	attrs := map[string]cty.Value{}
	for i := range rapid.IntRange(0, 3).Draw(t, "length") {
		e := drawArgument(t, depth-1)
		if i > 0 && rapid.Bool().Draw(t, "again") {
			e = elems[0]
		}
		elems = append(elems, e)
		attrs[rapid.SampledFrom([]string{"a", "b", "m"}).Draw(t, "name")] = e
	}
	v := cty.ObjectVal(attrs)
	switch {
	case kind == 1 && len(elems) > 0 && cty.CanListVal(elems):
		v = cty.ListVal(elems)
	case kind == 2 && len(elems) > 0 && cty.CanSetVal(elems):
		v = cty.SetVal(elems)
	case kind == 3 && len(attrs) > 0 && cty.CanMapVal(attrs):
		v = cty.MapVal(attrs)
	case kind <= 4:
		v = cty.TupleVal(elems)
	}
	if rapid.IntRange(0, 9).Draw(t, "mark") == 0 {
		v = v.Mark(value.Ephemeral)
	}
	return v
}

// TestVariableConvertChangesNoResult holds the linear conversion of values of variables against the
// library's.
func TestVariableConvertChangesNoResult(t *testing.T) {
	var variables []*config.Variable
	for _, text := range constraints {
		expr, diags := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(expr)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		variables = append(variables, &config.Variable{Constraint: ty, Defaults: defaults, Type: ty.WithoutOptionalAttributesDeep()})
	}
	fits := 0
	rapid.Check(t, func(t *rapid.T) {
		v, val := rapid.SampledFrom(variables).Draw(t, "variable"), drawArgument(t, 3)
		want, wantErr, panics := library(v, val)
		if panics {
			t.Skip("the library panics")
		}
		got, err := v.Convert(val)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%#v to %#v: error %v, want %v", val, v.Constraint, err, wantErr)
		}
		if err != nil {
			return
		}
		fits++
		if !got.RawEquals(want) {
			t.Fatalf("%#v to %#v:\n got %#v\nwant %#v", val, v.Constraint, got, want)
		}
	})
	if fits == 0 {
		t.Error("no value ever fitted")
	}
}

// library is the conversion by the library, which panics over some values.
func library(v *config.Variable, val cty.Value) (out cty.Value, err error, panics bool) {
	defer func() { panics = recover() != nil }()
	if v.Defaults != nil && !val.IsNull() {
		val = v.Defaults.Apply(val)
	}
	out, err = convert.Convert(val, v.Constraint)
	return out, err, false
}
