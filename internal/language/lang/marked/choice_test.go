package marked_test

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestChoice evaluates conditional expressions with ephemeral elements in a branch, and looks at which
// results are ephemeral as a whole: without Choice all are, with it those that an ephemeral value decides or
// may decide.
func TestChoice(t *testing.T) {
	secret := cty.StringVal("s").Mark(value.Ephemeral)
	vars := map[string]cty.Value{
		"yes": cty.True, "no": cty.False, "unknown": cty.UnknownVal(cty.Bool), "hidden": cty.True.Mark(value.Ephemeral),
		"part":  cty.MapVal(map[string]cty.Value{"a": secret, "b": cty.StringVal("b")}),
		"plain": cty.MapVal(map[string]cty.Value{"p": cty.StringVal("p")}),
		"whole": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("s")}).Mark(value.Ephemeral),
		"open":  cty.ObjectVal(map[string]cty.Value{"a": cty.DynamicVal.Mark(value.Ephemeral).Mark(value.EphemeralType)}),
	}
	for _, test := range []struct {
		source string
		whole  bool // ephemeral as a whole
		part   bool // with ephemeral elements
	}{
		{source: `yes ? part : plain`, part: true},
		{source: `no ? part : plain`},
		{source: `no ? part : {}`},
		{source: `(yes ? part : {})`, part: true},
		{source: `"${yes ? part : {}}"`, part: true},
		{source: `no ? {} : (yes ? part : plain)`, part: true},
		{source: `yes ? (no ? part : plain) : {}`},
		{source: `yes ? plain : whole`, whole: true},
		{source: `yes ? whole : plain`, whole: true},
		{source: `unknown ? part : plain`, whole: true},
		{source: `hidden ? part : plain`, whole: true, part: true},
		{source: `no ? open : plain`, whole: true},
		{source: `[yes ? part : {}][0]`, whole: true, part: true},
	} {
		native, hd := hclsyntax.ParseExpression([]byte(test.source), "t.tf", hcl.InitialPos)
		if hd.HasErrors() {
			t.Fatal(hd)
		}
		usual := marked.Expression(native)
		ctx := marked.Context(vars, nil, nil, false, ".")
		v, hd := marked.Choice(usual).Value(ctx)
		if hd.HasErrors() {
			t.Fatalf("%s: %v", test.source, hd)
		}
		bare, _ := v.Unmark()
		if whole, part := value.Has(v, value.Ephemeral), value.Contains(bare, value.Ephemeral); whole != test.whole || part != test.part {
			t.Errorf("%s: got ephemeral: %t, with ephemeral elements: %t, want %t and %t", test.source, whole, part, test.whole, test.part)
		}
		if v, _ = usual.Value(ctx); !value.Has(v, value.Ephemeral) {
			t.Errorf("%s: got a value that is not ephemeral without Choice, want an ephemeral one", test.source)
		}
	}
	literal, hd := hcljson.ParseExpression([]byte(`"text"`), "t.tf.json")
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	if got := marked.Choice(literal); got != literal {
		t.Errorf("got %#v, want the literal of JSON as it is", got)
	}
}
