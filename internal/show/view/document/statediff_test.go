package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/state"
)

// stateOf returns a state with an object for each line "ADDRESS ID NAME".
func stateOf(t *testing.T, lines ...string) *state.State {
	t.Helper()
	st := state.New()
	for _, line := range lines {
		f := strings.Fields(line)
		o, err := state.ObjectFrom(fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(f[1]), "name": cty.StringVal(f[2])})))
		if err != nil {
			t.Fatal(err)
		}
		o.Tainted = len(f) > 3
		st.SetObject(addr.Object{Instance: fixture.Instance(t, f[0])}, o, addr.ProviderConfig{Provider: addr.DefaultProvider("x")})
	}
	return st
}

func TestCompareStates(t *testing.T) {
	for name, test := range map[string]struct {
		before, after, want []string
	}{
		"same":            {[]string{"x_r.a 1 a"}, []string{"x_r.a 1 a"}, nil},
		"nothing":         {nil, nil, nil},
		"added":           {nil, []string{"x_r.a 1 a"}, []string{"create x_r.a"}},
		"gone":            {[]string{"x_r.a 1 a"}, nil, []string{"delete x_r.a"}},
		"changed":         {[]string{"x_r.a 1 a"}, []string{"x_r.a 1 b"}, []string{"update x_r.a"}},
		"tainted":         {[]string{"x_r.a 1 a"}, []string{"x_r.a 1 a tainted"}, []string{"update x_r.a tainted"}},
		"moved":           {[]string{"x_r.a 1 a"}, []string{"module.m.x_r.a[0] 1 a"}, []string{"no-op module.m.x_r.a[0] from x_r.a"}},
		"moved, changed":  {[]string{"x_r.a 1 a"}, []string{"x_r.b 1 b"}, []string{"update x_r.b from x_r.a"}},
		"another type":    {[]string{"x_r.a 1 a"}, []string{"x_q.a 1 a"}, []string{"create x_q.a", "delete x_r.a"}},
		"ambiguous":       {[]string{"x_r.a 1 a"}, []string{"x_r.b 1 a", "x_r.c 1 a"}, []string{"delete x_r.a", "create x_r.b", "create x_r.c"}},
		"swapped objects": {[]string{"x_r.a 1 a", "x_r.b 2 b"}, []string{"x_r.a 2 b", "x_r.b 1 a"}, []string{"update x_r.a", "update x_r.b"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := CompareStates(stateOf(t, test.before...), stateOf(t, test.after...), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range d.Objects {
				text := fmt.Sprintf("%s %s", o.Action, o.Addr())
				if o.Moved() {
					text += " from " + o.Before.Addr.String()
				}
				got = append(got, strings.Join(append([]string{text}, o.Records...), " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if d.Empty() != (len(test.want) == 0) {
				t.Errorf("empty: got %t, want %t", d.Empty(), (len(test.want) == 0))
			}
		})
	}
	if _, err := CompareStates(nil, nil, nil); err != nil {
		t.Error(err)
	}
}
