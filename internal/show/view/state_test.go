package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// priorState returns the state that a plan starts from, made of the objects that its changes have on their
// left.
func priorState(t testing.TB, p *plan.Plan) *state.State {
	t.Helper()
	st := state.New()
	for _, c := range p.Changes {
		if c.Before.IsNull() {
			continue
		}
		obj, err := state.ObjectFrom(c.Before)
		if err != nil {
			t.Fatal(err)
		}
		st.SetObject(c.Object(), obj, c.Provider)
	}
	for _, o := range p.Outputs {
		if !o.Before.IsNull() {
			st.Outputs[o.Name] = &state.Output{Value: o.Before, Sensitive: o.Sensitive}
		}
	}
	return st
}

func TestStateGolden(t *testing.T) {
	schemas := fixture.LoadSchemas(t)
	for _, name := range []string{"update", "free"} {
		t.Run(name, func(t *testing.T) {
			st := priorState(t, fixture.Plan(t, name+".plan.json", schemas))
			var buf bytes.Buffer
			if err := State(&buf, st, schemas, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".state.txt", buf.String())
			b, err := document.State(st, schemas, testVersions)
			if err != nil {
				t.Fatal(err)
			}
			var parsed tfjson.State
			if err := json.Unmarshal(b, &parsed); err != nil {
				t.Fatal(err)
			}
			if err := parsed.Validate(); err != nil {
				t.Fatal(err)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, b, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".state.json", indented.String())
		})
	}
}

func TestStateSpecialObjects(t *testing.T) {
	st := state.New()
	a := fixture.Instance(t, `module.m["k"].terraform_data.x[0]`)
	d := fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("one"), "pw": cty.StringVal("s3cret").Mark(value.Sensitive)}))
	current, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	current.Tainted = true
	current.SchemaVersion = 3
	current.Dependencies = []addr.ConfigResource{{Resource: addr.Resource{Type: "a", Name: "b"}}}
	current.Identity = []byte(`{"id":"one"}`)
	deposed, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	pc := addr.ProviderConfig{Provider: addr.BuiltinProvider}
	st.SetObject(addr.Object{Instance: a}, current, pc)
	st.SetObject(addr.Object{Instance: a, Deposed: "01234567"}, deposed, pc)
	var buf bytes.Buffer
	if err := StateInstance(&buf, st, a, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `# module.m["k"].terraform_data.x[0]: (tainted)
resource "terraform_data" "x" {
    id = "one"
    pw = (sensitive value)
}

# module.m["k"].terraform_data.x[0]: (deposed object 01234567)
resource "terraform_data" "x" {
    id = "one"
    pw = (sensitive value)
}
`
	if diff := cmp.Diff(want, buf.String()); diff != "" {
		t.Error(diff)
	}
	b, err := document.State(st, nil, testVersions)
	if err != nil {
		t.Fatal(err)
	}
	var parsed tfjson.State
	if err := json.Unmarshal(b, &parsed); err != nil {
		t.Fatal(err)
	}
	rs := parsed.Values.RootModule.ChildModules[0].Resources
	if len(rs) != 2 || !rs[0].Tainted || rs[1].DeposedKey != "01234567" || rs[0].SchemaVersion != 3 || rs[0].DependsOn[0] != "a.b" ||
		rs[0].IdentityValues["id"] != "one" || string(rs[0].SensitiveValues) != `{"pw":true}` {
		t.Errorf("resources: got %s, want a tainted one with its identity, and a deposed one", b)
	}
	if err := StateInstance(&buf, st, fixture.Instance(t, "a.b"), nil, Options{}); err == nil {
		t.Error("a missing instance is an error")
	}
	buf.Reset()
	if err := State(&buf, state.New(), nil, Options{}); err != nil || !strings.Contains(buf.String(), "empty") {
		t.Errorf("empty state: %q, %v", buf.String(), err)
	}
}

func TestOutputs(t *testing.T) {
	outputs := map[string]*state.Output{
		"lst": {Value: fixture.Seal(t, cty.TupleVal([]cty.Value{
			cty.NumberIntVal(1), cty.StringVal("two"),
			cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.DynamicPseudoType), "b c": cty.True}),
			cty.SetVal([]cty.Value{cty.StringVal("x")}), cty.MapVal(map[string]cty.Value{"a": cty.StringVal("b")}),
			cty.ListVal([]cty.Value{cty.NumberIntVal(1)}), cty.ListValEmpty(cty.String),
		}))},
		"multi": {Value: fixture.Seal(t, cty.StringVal("a\nb\n\"q\""))},
		"nul":   {Value: fixture.Seal(t, cty.NullVal(cty.String))},
		"sec":   {Value: fixture.Seal(t, cty.StringVal("hunter2").Mark(value.Sensitive)), Sensitive: true},
		"part":  {Value: fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"p": cty.StringVal("hunter2").Mark(value.Sensitive)}))},
		"esc":   {Value: fixture.Seal(t, cty.StringVal("\x1b]0;x\a"))},
	}
	var buf bytes.Buffer
	if err := Outputs(&buf, outputs, Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "outputs.txt", buf.String())
	b, err := document.Outputs(outputs)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "outputs.json", string(b))
	for name, want := range map[string]string{"esc": "\x1b]0;x\a", "sec": "hunter2"} {
		if got, err := OutputRaw(outputs[name]); err != nil || got != want {
			t.Errorf("OutputRaw(%s): got %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"lst", "nul"} {
		if _, err := OutputRaw(outputs[name]); err == nil {
			t.Errorf("raw %s: no error", name)
		}
	}
	if got, err := document.Output(outputs["multi"]); err != nil || string(got) != `"a\nb\n\"q\""` {
		t.Errorf("document.Output(multi): got %s, %v, want %q with its quotes escaped", got, err, "a\nb\n\"q\"")
	}
}

func TestE23_FormatNull(t *testing.T) {
	for _, tc := range []struct {
		v    cty.Value
		want string
	}{
		{cty.NullVal(cty.String), "tostring(null)"},
		{cty.NullVal(cty.Number), "tonumber(null)"},
		{cty.NullVal(cty.DynamicPseudoType), "null"},
		{cty.StringVal("x").Mark(value.Ephemeral), "(ephemeral value)"},
		{cty.StringVal("x").Mark(value.Ephemeral).Mark(value.Sensitive), "(sensitive, ephemeral value)"},
		{cty.StringVal("x").Mark(value.Sensitive), "(sensitive value)"},
		{cty.UnknownVal(cty.String), "(known after apply)"},
		{cty.NilVal, "null"},
	} {
		if got := FormatValue(tc.v, Options{}); got != tc.want {
			t.Errorf("%#v: got %s, want %s", tc.v, got, tc.want)
		}
	}
	if got := FormatValue(cty.StringVal("x").Mark(value.Ephemeral), Options{ShowSensitive: true}); got != "(ephemeral value)" {
		t.Errorf("an ephemeral value was shown: got %s, want %s", got, "(ephemeral value)")
	}
}
