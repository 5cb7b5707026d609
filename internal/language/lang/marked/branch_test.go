package marked_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestBranches evaluates conditional expressions and looks at which branches are seen: the chosen ones, in
// expressions that are chosen themselves, by the column of the expression.
func TestBranches(t *testing.T) {
	vars := map[string]cty.Value{
		"yes": cty.True, "no": cty.StringVal("false"), "unknown": cty.UnknownVal(cty.Bool), "secret": cty.True.Mark(value.Sensitive),
		"list": cty.ListVal([]cty.Value{cty.True, cty.False}),
	}
	for _, test := range []struct {
		source string
		want   []string
		points int
	}{
		{`yes ? 1 : 2`, []string{"1 true"}, 1},
		{`no ? 1 : 2`, []string{"1 false"}, 1},
		{`secret ? 1 : 2`, []string{"1 true"}, 1},
		{`unknown ? 1 : yes ? 2 : 3`, nil, 2},
		{`yes ? (no ? 1 : 2) : (yes ? 3 : 4)`, []string{"1 true", "8 false"}, 3},
		{`no ? (no ? 1 : 2) : (yes ? 3 : 4)`, []string{"1 false", "22 true"}, 3},
		{`[for x in list : x ? 1 : 2]`, []string{"18 true", "18 false"}, 1},
		{`yes ? [for x in list : x ? 1 : 2] : [no ? 1 : 2]`, []string{"1 true", "24 true", "24 false"}, 3},
		{`"%{if yes}a%{else}b%{endif}"`, []string{"2 true"}, 1},
		{`true ? 1 : 2`, []string{"1 true"}, 0}, // always the same
	} {
		native, hd := hclsyntax.ParseExpression([]byte(test.source), "t.tf", hcl.InitialPos)
		if hd.HasErrors() {
			t.Fatal(hd)
		}
		var got []string
		v := map[string]cty.Value{}
		for name, val := range vars {
			v[name] = val
		}
		marked.Branches(func(at hcl.Range, onTrue bool) { got = append(got, fmt.Sprint(at.Start.Column, " ", onTrue)) }).Within(v)
		if _, hd := marked.Expression(native).Value(marked.Context(v, nil, nil, false, ".")); hd.HasErrors() {
			t.Errorf("%s: %v", test.source, hd)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.source, got, test.want)
		}
		if points := marked.Conditionals(native); len(points) != test.points {
			t.Errorf("%s: got %d conditional expressions, want %d", test.source, len(points), test.points)
		}
	}
	json, hd := hcljson.ParseExpression([]byte(`["${yes ? 1 : 2}"]`), "t.tf.json")
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	var seen []hcl.Range
	marked.Branches(func(at hcl.Range, _ bool) { seen = append(seen, at) }).Within(vars)
	marked.Expression(json).Value(marked.Context(vars, nil, nil, false, "."))
	if points := marked.Conditionals(json); len(points) != 1 || !slices.Equal(points, seen) {
		t.Errorf("JSON: got the conditional declared at %v, want one as seen: %v", points, seen)
	}
}
