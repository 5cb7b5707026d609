package scrub

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

var block = &schema.Block{Attributes: map[string]*schema.Attribute{
	"name":   {Type: cty.String, Optional: true},
	"secret": {Type: cty.String, Optional: true, WriteOnly: true},
}}

// stored returns an object as an engine that knows nothing of write-only attributes stores it.
func stored(t *testing.T, name string, secret cty.Value) *state.Object {
	t.Helper()
	v := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(name), "secret": secret})
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	o.SchemaVersion = 1
	return o
}

func instance(t *testing.T, text string) addr.Instance {
	t.Helper()
	a, err := addr.ParseInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func scrubber() *Scrubber {
	return New(Options{
		Schema: func(_ addr.Provider, typeName string) *schema.Schema {
			if typeName == "unknown" {
				return nil
			}
			return &schema.Schema{Block: block, Version: 1}
		},
		Absent: func(addr.Provider) []string { return nil },
	})
}

func TestState(t *testing.T) {
	leaky, secret := stored(t, "a", cty.StringVal("hunter2")), cty.StringVal("hunter2")
	clean := stored(t, `"secret":"x"`, cty.NullVal(cty.String)) // the value of another attribute looks like a leak
	older := stored(t, "a", secret)
	older.SchemaVersion = 0
	st := state.New()
	for text, o := range map[string]*state.Object{
		"t.leaky": leaky, "t.clean": clean, "t.older": older, "unknown.x": stored(t, "a", secret), "data.t.x": stored(t, "a", secret),
	} {
		st.SetObject(addr.Object{Instance: instance(t, text)}, o, addr.ProviderConfig{})
	}
	st.SetObject(addr.Object{Instance: instance(t, "t.leaky"), Deposed: "00000001"}, stored(t, "b", secret), addr.ProviderConfig{})
	var found []string
	s := scrubber()
	out := s.State(st, func(obj addr.Object, paths []cty.Path) {
		found = append(found, obj.String()+": "+schema.PathString(paths[0]))
		if w := Warning(obj, paths); len(w) != 1 || !strings.Contains(w[0].Detail, "secret of t.leaky") || strings.Contains(w[0].Detail, "hunter2") {
			t.Errorf("warning: got %v, want one about the secret of t.leaky, without it", w)
		}
	})
	slices.Sort(found)
	if len(found) != 2 || !strings.HasPrefix(found[0], "t.leaky") || !strings.HasPrefix(found[1], "t.leaky") {
		t.Errorf("found: got %q, want two of t.leaky", found)
	}
	for a, in := range out.AllInstances() {
		left := strings.Contains(string(in.Current.JSON()), "hunter2")
		if want := a.Resource.Name != "leaky" && a.Resource.Name != "clean"; left != want {
			t.Errorf("%s: has the secret: got %t, want %t", a, left, want)
		}
	}
	if got := out.Object(addr.Object{Instance: instance(t, "t.clean")}); got != clean {
		t.Error("an object without a secret was changed")
	}
	if st.Object(addr.Object{Instance: instance(t, "t.leaky")}) != leaky {
		t.Error("the state that was given was changed")
	}
	again := s.State(st, func(addr.Object, []cty.Path) {})
	a := addr.Object{Instance: instance(t, "t.leaky")}
	if again.Object(a) != out.Object(a) {
		t.Error("an object that two states share is not shared afterwards")
	}
	if s.State(out, func(addr.Object, []cty.Path) { t.Error("found something again") }) != out {
		t.Error("a state without secrets was copied")
	}
}
