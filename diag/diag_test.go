package diag

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

const native = `name = "x"
list = ["a", "b"]
map = {
  k       = "v"
  "q.r"   = { deep = [1, 2] }
  (other) = 1
}
rule {
  port = 80
  inner {
    a = 1
  }
}
rule {
  port = 443
}
zone "east" {
  size = 1
}
zone "west" {
  size = 2
}
only {
  v = 1
}
call = f(1)
`

const inJSON = `{
  "name": "x",
  "list": ["a", "b"],
  "map": {"k": "v"},
  "rule": [{"port": 80, "inner": {"a": 1}}, {"port": 443}],
  "zone": {"west": {"size": 2}},
  "only": {"v": 1}
}`

// snippet returns the source text of a range, with the line that it starts on.
func snippet(src string, rng hcl.Range) string {
	return fmt.Sprintf("%d: %s", rng.Start.Line, src[rng.Start.Byte:rng.End.Byte])
}

func index(keys ...any) cty.Path {
	var p cty.Path
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			p = p.GetAttr(k)
		case int:
			p = p.IndexInt(k)
		case cty.Value:
			p = p.Index(k)
		}
	}
	return p
}

func TestInConfigBody(t *testing.T) {
	str := cty.StringVal
	element := cty.ObjectVal(map[string]cty.Value{"port": cty.NumberIntVal(443)})
	tests := []struct {
		path cty.Path
		want string
	}{
		{index("name"), `1: "x"`},
		{index("name", "further"), `1: "x"`},
		{index("list"), `2: ["a", "b"]`},
		{index("list", 1), `2: "b"`},
		{index("list", 2), `2: ["a", "b"]`},
		{index("list", cty.NumberIntVal(-1)), `2: ["a", "b"]`},
		{index("list", cty.MustParseNumberVal("1e30")), `2: ["a", "b"]`},
		{index("list", str("b")), `2: ["a", "b"]`},
		{index("list", cty.NullVal(cty.Number)), `2: ["a", "b"]`},
		{index("list", cty.UnknownVal(cty.Number)), `2: ["a", "b"]`},
		{index("list", cty.Zero.Mark("m")), `2: ["a", "b"]`},
		{index("list", cty.NilVal), `2: ["a", "b"]`},
		{index("map", str("k")), `4: "v"`},
		{index("map", "k"), `4: "v"`},
		{index("map", str("q.r"), "deep", 1), `5: 2`},
		{index("call", str("k")), `26: f(1)`},
		{index("rule"), `8: rule`},
		{index("rule", 0), `8: rule`},
		{index("rule", 1), `14: rule`},
		{index("rule", 1, "port"), `15: 443`},
		{index("rule", 0, "inner", 0, "a"), `11: 1`},
		{index("rule", 0, "inner", "a"), `11: 1`},
		{index("rule", 1, "missing"), `14: rule`},
		{index("rule", 2, "port"), `8: rule`},
		{index("rule", element, "port"), `8: rule`},
		{index("rule", cty.NullVal(cty.Number), "port"), `8: rule`},
		{index("zone", str("west"), "size"), `21: 2`},
		{index("zone", str("south"), "size"), `17: zone "east"`},
		{index("only", element, "v"), `24: 1`},
		{index("only", "v"), `24: 1`},
	}
	file, diags := hclsyntax.ParseConfig([]byte(native), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, test := range tests {
		got := List{{Path: test.path}}.InConfigBody(file.Body)
		if s := snippet(native, *got[0].Subject); s != test.want {
			t.Errorf("%#v: got %s, want %s", test.path, s, test.want)
		}
	}
	whole := file.Body.MissingItemRange()
	for _, path := range []cty.Path{nil, index("missing"), index(1), index(str("name"))} {
		got := List{{Path: path}}.InConfigBody(file.Body)
		if *got[0].Subject != whole {
			t.Errorf("%#v: got %s, want %s", path, got[0].Subject, whole)
		}
	}
}

func TestInConfigBodyJSON(t *testing.T) {
	tests := []struct {
		path cty.Path
		want string
	}{
		{index("name"), `2: "x"`},
		{index("list", 1), `3: "b"`},
		{index("map", cty.StringVal("k")), `4: "v"`},
		{index("rule", 1, "port"), `5: 443`},
		{index("rule", 0, "inner", 0, "a"), `5: 1`},
		{index("rule", 7, "port"), `5: [{"port": 80, "inner": {"a": 1}}, {"port": 443}]`},
		{index("zone", cty.StringVal("west"), "size"), `6: 2`},
		{index("only", 0, "v"), `7: 1`},
		{index("only", "v"), `7: 1`},
	}
	file, diags := json.Parse([]byte(inJSON), "main.tf.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, test := range tests {
		got := List{{Path: test.path}}.InConfigBody(file.Body)
		if s := snippet(inJSON, *got[0].Subject); s != test.want {
			t.Errorf("%#v: got %s, want %s", test.path, s, test.want)
		}
	}
}

func TestInConfigBodyKeepsWhatIsThere(t *testing.T) {
	there := hcl.Range{Filename: "other.tf"}
	l := List{{Subject: &there, Path: index("name")}}.InConfigBody(hcl.EmptyBody())
	if *l[0].Subject != there {
		t.Errorf("got %s, want %s", l[0].Subject, there)
	}
	if l := (List{{Path: index("name")}}).InConfigBody(nil); l[0].Subject != nil {
		t.Errorf("a range in no body: %s", l[0].Subject)
	}
}

func TestList(t *testing.T) {
	rng := hcl.Range{Filename: "a.tf", Start: hcl.Pos{Line: 1, Column: 2}, End: hcl.Pos{Line: 1, Column: 5}}
	var none List
	if none.HasErrors() || none.Err() != nil {
		t.Error("the zero list has errors")
	}
	warning := Warnf("W", "careful with %d", 1)
	if warning.HasErrors() || warning.Err() != nil || warning[0].Severity.String() != "warning" {
		t.Errorf("warning: got %v, want no errors", warning)
	}
	both := append(warning, At(rng, "E", "no %s", "good")...)
	both = append(both, Errorf("F", "")...)
	if got, want := both.Err().Error(), "a.tf:1,2-5: E: no good; F"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	both[1].Address = "t.a"
	both.WithAddress("t.b")
	if got := []string{both[0].Address, both[1].Address, both[2].Address}; !cmp.Equal(got, []string{"t.b", "t.a", "t.b"}) {
		t.Errorf("addresses: got %v, want t.b, t.a, t.b", got)
	}
	wrapped := fmt.Errorf("wrapped: %w", both.Err())
	if !strings.Contains(wrapped.Error(), "no good") || errors.Unwrap(wrapped) == nil {
		t.Errorf("wrapped: %s", wrapped)
	}
	if both.AsWarnings().HasErrors() {
		t.Error("AsWarnings leaves errors")
	}
}

func TestFromHCL(t *testing.T) {
	rng := hcl.Range{Filename: "a.tf"}
	in := hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "S", Detail: "D", Subject: &rng, Context: &rng, Extra: 1}, nil, {Severity: hcl.DiagWarning, Summary: "W"},
	}
	want := List{{Summary: "S", Detail: "D", Subject: &rng, Context: &rng, Extra: 1}, {Severity: Warning, Summary: "W"}}
	if diff := cmp.Diff(want, FromHCL(in), cmpopts.EquateComparable(cty.Value{})); diff != "" {
		t.Errorf("converted (-want +got)\n%s", diff)
	}
}

// Diagnostics come back from HCL as they were, with all that is shown of values.
func TestToHCL(t *testing.T) {
	rng := hcl.Range{Filename: "a.tf"}
	want := List{
		{
			Summary: "S", Detail: "D", Subject: &rng, Expression: hcl.StaticExpr(cty.True, rng), EvalContext: &hcl.EvalContext{},
			Statements: map[string]string{"a": "is 1"}, Parts: []Part{{Range: rng, Statement: "is 2"}}, Extra: Unmet{Object: "var.a"},
		},
		{Severity: Warning, Summary: "W"},
	}
	through := want.ToHCL()
	if len(through) != 2 || through[0].Summary != "S" || through[0].Severity != hcl.DiagError || through[0].Detail != "D" || through[1].Severity != hcl.DiagWarning {
		t.Errorf("ToHCL: got %v, want an error with summary S and detail D, and then a warning", through)
	}
	if got := FromHCL(through); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
