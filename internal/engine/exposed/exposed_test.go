package exposed_test

import (
	"bytes"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/exposed"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// TestConfiguration yields files and variables, each once, until the receiver wants no more.
func TestConfiguration(t *testing.T) {
	variables := map[string]*config.Variable{"a": {}, "b": {}, "s": {Sensitive: true}, "e": {Ephemeral: true}}
	given := map[string]cty.Value{}
	for name := range variables {
		variables[name].Type, given[name] = cty.String, cty.StringVal("text of "+name)
	}
	tree := &config.Tree{Root: &config.Module{Variables: variables}, Sources: map[string][]byte{"main.tf": []byte("file 1"), "more.tf": []byte("file 2")}}
	all := map[string]bool{"file 1": true, "file 2": true, "text of a": true, "text of b": true}
	for most := 1; most <= len(all)+1; most++ {
		got := map[string]bool{}
		exposed.Configuration(tree, given, func(text []byte) bool {
			if got[string(text)] || !all[string(text)] {
				t.Errorf("got the text %q, want each public one once", text)
			}
			got[string(text)] = true
			return len(got) < most
		})
		if want := min(most, len(all)); len(got) != want {
			t.Errorf("got %d texts, want %d", len(got), want)
		}
	}
}

// TestState yields stored objects until the receiver wants no more.
func TestState(t *testing.T) {
	st := state.New()
	for _, name := range []string{"one", "two"} {
		v := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("in-the-state")})
		d, err := value.Seal(v, v.Type(), nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := state.ObjectFrom(d)
		if err != nil {
			t.Fatal(err)
		}
		st.SetObject(addr.Object{Instance: addr.Instance{Resource: addr.Resource{Type: "t", Name: name}}}, o, addr.ProviderConfig{Provider: addr.BuiltinProvider})
	}
	for most := 1; most <= 3; most++ {
		n := 0
		exposed.State(st, func(doc []byte) bool { n += bytes.Count(doc, []byte("in-the-state")); return n < most })
		if want := min(most, 2); n != want {
			t.Errorf("got %d objects, want %d", n, want)
		}
	}
	exposed.State(nil, func([]byte) bool {
		t.Error("got an object, want none without a state")
		return false
	})
}
