package diag

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func TestNearest(t *testing.T) {
	tests := []struct {
		name       string
		candidates []string
		want       string
	}{
		{"nmae", []string{"name", "size"}, "name"},
		{"instance_cuont", []string{"instance_type", "instance_count"}, "instance_count"},
		{"True", []string{"false", "true"}, "true"},
		{"workspce", []string{"applying", "workspace"}, "workspace"},
		{"ip", []string{"id"}, "id"},
		{"rqe", []string{"req"}, "req"},
		{"rqe", []string{"rxx"}, ""},
		{"ip", []string{"az"}, ""},
		{"x", []string{"y"}, ""},
		{"region", []string{"version", "name"}, ""},
		{"ab", []string{"ac", "aa"}, "aa"}, // the first of those that are equally near
		{"name", nil, ""},
		{"", []string{"a"}, ""},
	}
	for _, test := range tests {
		if got := Nearest(test.name, test.candidates); got != test.want {
			t.Errorf("%q among %q: got %q, want %q", test.name, test.candidates, got, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, `"a"`},
		{[]string{"b", "a"}, `"a" and "b"`},
		{[]string{"b", "a", "c"}, `"a", "b", and "c"`},
		{[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "A"}, `"1", "2", "3", "4", "5", "6", "7", "8", and 2 more`},
	}
	for _, test := range tests {
		if got := Names(test.names); got != test.want {
			t.Errorf("%q: got %s, want %s", test.names, got, test.want)
		}
	}
}

func TestUnknownFunctions(t *testing.T) {
	functions := map[string]function.Function{}
	for _, name := range []string{"timecmp", "timestamp", "core::timestamp", "core::timecmp", "provider::a::trim", "length"} {
		functions[name] = function.New(&function.Spec{Type: function.StaticReturnType(cty.String)})
	}
	ctx := (&hcl.EvalContext{Functions: functions}).NewChild()
	for text, want := range map[string]string{
		"timestmp()":               `There is no function named "timestmp". Did you mean "timestamp"?`,
		"frobnicate()":             `There is no function named "frobnicate".`,
		"core::timestmp()":         `There is no function named "timestmp" in namespace core::. Did you mean core::timestamp?`,
		"core::frobnicate()":       `There is no function named "frobnicate" in namespace core::.`,
		"provider::a::trm()":       `There is no function named "trm" in namespace provider::a::. Did you mean provider::a::trim?`,
		"cor::timestamp()":         `There are no functions in namespace "cor::".`,
		"[for x in [1] : lngth()]": `There is no function named "lngth". Did you mean "length"?`,
	} {
		expr, hd := hclsyntax.ParseExpression([]byte(text), "x.tf", hcl.InitialPos)
		if hd.HasErrors() {
			t.Fatal(hd)
		}
		for range 5 { // whatever the order of the names is
			_, hd = expr.Value(ctx)
			if l := FromHCL(hd); len(l) != 1 || l[0].Detail != want {
				t.Fatalf("%s: %v, want %s", text, l, want)
			}
		}
	}
}
