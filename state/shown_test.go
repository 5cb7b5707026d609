package state_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// shownOf returns the shown attributes of an object with a value, whose parts at some paths are sensitive.
func shownOf(t *testing.T, v cty.Value, ty cty.Type, hidden []cty.Path, marks ...cty.Path) string {
	t.Helper()
	d, err := value.Seal(value.MarkPaths(v, marks, value.Sensitive), ty, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	o.Hidden = hidden
	return string(o.Shown())
}

// TestShown leaves out each sensitive part, and more where its place is not certain.
func TestShown(t *testing.T) {
	secret, plain := cty.StringVal("canary"), cty.StringVal("plain")
	attr := func(name string) cty.Path { return cty.GetAttrPath(name) }
	for _, c := range []struct {
		name    string
		v       cty.Value
		dynamic bool
		hidden  []cty.Path
		marks   []cty.Path
		want    string
	}{
		{"nothing is sensitive", plain, false, []cty.Path{}, nil, `{"a":"plain","b":"plain"}`},
		{"the schema is not known", plain, false, nil, nil, ``},
		{"by a mark", secret, false, []cty.Path{}, []cty.Path{attr("a")}, `{"b":"plain"}`},
		{"by the schema", secret, false, []cty.Path{attr("a")}, nil, `{"b":"plain"}`},
		{"in an object", cty.ObjectVal(map[string]cty.Value{"x": secret, "y": plain}), false, []cty.Path{}, []cty.Path{attr("a").GetAttr("x")}, `{"a":{"y":"plain"},"b":"plain"}`},
		{"in a list", cty.TupleVal([]cty.Value{plain, secret}), false, []cty.Path{}, []cty.Path{attr("a").IndexInt(1)}, `{"a":["plain",null],"b":"plain"}`},
		{"in a map", cty.MapVal(map[string]cty.Value{"x": secret, "y": plain}), false, []cty.Path{}, []cty.Path{attr("a").IndexString("x")}, `{"a":{"y":"plain"},"b":"plain"}`},
		{"in a value of an open type", cty.ObjectVal(map[string]cty.Value{"type": secret, "y": plain}), true, []cty.Path{}, []cty.Path{attr("a").GetAttr("type")}, `{"b":"plain"}`},
		{"in an object that looks like one", cty.ObjectVal(map[string]cty.Value{"type": secret, "value": plain}), false, []cty.Path{}, []cty.Path{attr("a").GetAttr("type")}, `{"b":"plain"}`},
		{"at a place that is not there", secret, false, []cty.Path{attr("a").GetAttr("x")}, nil, `{"b":"plain"}`},
		{"as a whole", secret, false, []cty.Path{{}}, nil, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := cty.ObjectVal(map[string]cty.Value{"a": c.v, "b": plain})
			ty := v.Type()
			if c.dynamic {
				ty = cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType, "b": cty.String})
			}
			if got := shownOf(t, v, ty, c.hidden, c.marks...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestShownFitsADatabase replaces texts and numbers that PostgreSQL does not accept.
func TestShownFitsADatabase(t *testing.T) {
	huge, _, err := big.ParseFloat("1e4000", 10, 512, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	v := cty.ObjectVal(map[string]cty.Value{"nul": cty.StringVal("a\x00b"), "huge": cty.NumberVal(huge), "n": cty.NumberIntVal(7)})
	got := shownOf(t, v, v.Type(), []cty.Path{})
	var attrs map[string]any
	if err := json.Unmarshal([]byte(got), &attrs); err != nil {
		t.Fatal(err)
	}
	if _, text := attrs["huge"].(string); !text || attrs["nul"] != "a\uFFFDb" || attrs["n"] != 7.0 {
		t.Errorf("got %.200s, want a number that is a text, a text without NUL, and 7", got)
	}
}

// TestShownOutputs shows no output with a sensitive part.
func TestShownOutputs(t *testing.T) {
	secret := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("canary").Mark(value.Sensitive), "b": cty.StringVal("plain")})
	for _, c := range []struct {
		v         cty.Value
		sensitive bool
		want      string
	}{{cty.StringVal("plain"), false, `"plain"`}, {cty.StringVal("canary"), true, ""}, {secret, false, ""}, {cty.NullVal(cty.String), false, "null"}} {
		ty := c.v.Type()
		d, err := value.Seal(c.v, ty, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := string((&state.Output{Value: d, Sensitive: c.sensitive}).Shown())
		if got != c.want || strings.Contains(got, "canary") {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
