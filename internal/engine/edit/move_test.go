package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

func target(t *testing.T, s string) addr.Target {
	t.Helper()
	x, err := addr.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// with returns a state with objects at the addresses.
func with(t *testing.T, addresses ...string) *state.State {
	t.Helper()
	sealed, err := value.Seal(cty.EmptyObjectVal, cty.EmptyObject, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(sealed)
	if err != nil {
		t.Fatal(err)
	}
	st := state.New()
	for _, s := range addresses {
		i, err := addr.ParseInstance(s)
		if err != nil {
			t.Fatal(err)
		}
		st.SetObject(addr.Object{Instance: i}, o, addr.ProviderConfig{})
	}
	return st
}

func TestPlanMoves(t *testing.T) {
	st := with(t, "t.one", "t.many[0]", "t.many[1]", `module.m["a"].t.x`, `module.m["a"].module.n.t.y[0]`, `module.m["b"].t.x`, "module.k.t.z")
	for name, test := range map[string]struct {
		from, to string
		want     map[string]string
		fails    bool
	}{
		"resource":             {from: "t.many", to: "t.lots", want: map[string]string{"t.many[0]": "t.lots[0]", "t.many[1]": "t.lots[1]"}},
		"to an instance":       {from: "t.one", to: "t.one[3]", want: map[string]string{"t.one": "t.one[3]"}},
		"many to an instance":  {from: "t.many", to: "t.x[3]", want: map[string]string{}},
		"from an instance":     {from: "t.many[1]", to: "t.x", want: map[string]string{"t.many[1]": "t.x"}},
		"into a module":        {from: "t.one", to: "module.k.t.one", want: map[string]string{"t.one": "module.k.t.one"}},
		"module call":          {from: "module.m", to: "module.q", want: map[string]string{`module.m["a"].t.x`: `module.q["a"].t.x`, `module.m["a"].module.n.t.y[0]`: `module.q["a"].module.n.t.y[0]`, `module.m["b"].t.x`: `module.q["b"].t.x`}},
		"module instance":      {from: `module.m["a"]`, to: "module.q[0]", want: map[string]string{`module.m["a"].t.x`: "module.q[0].t.x", `module.m["a"].module.n.t.y[0]`: "module.q[0].module.n.t.y[0]"}},
		"single module":        {from: "module.k", to: `module.k["x"]`, want: map[string]string{"module.k.t.z": `module.k["x"].t.z`}},
		"resource to a module": {from: "t.many[0]", to: "module.k", want: map[string]string{"t.many[0]": "module.k.t.many[0]"}},
		"module to a resource": {from: "module.k", to: "t.x", fails: true},
		"another type":         {from: "t.one", to: "u.one", fails: true},
		"another mode":         {from: "t.one", to: "data.t.one", fails: true},
		"nothing":              {from: "t.absent", to: "t.x", want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			moves, err := matches(st, target(t, test.from), target(t, test.to))
			if (err != nil) != test.fails {
				t.Fatalf("matches: got %v, %v, want an error: %t", moves, err, test.fails)
			}
			if test.fails {
				return
			}
			got := map[string]string{}
			for _, m := range moves {
				got[m.From.String()] = m.To.String()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOccupied moves to what is there already, in the same state and in another one.
func TestOccupied(t *testing.T) {
	st := with(t, "t.one", "t.many[0]", "t.many[1]", `t.each["x"]`, "t.x", "module.k.t.z", "module.k.t.each[0]", `module.m["a"].t.x`, `module.m["b"].t.x`, "module.m[\"b\"].module.n.t.y")
	for _, test := range []struct{ from, to, want string }{
		{"t.many", "t.each", `objects in t.each, such as t.each["x"]`},
		{"t.one", "t.each", `objects in t.each, such as t.each["x"]`},
		{"t.many", "t.x", "an object at t.x"},
		{"t.one", `t.each["y"]`, ""},
		{"t.one", `t.each["x"]`, `an object at t.each["x"]`},
		{"t.many[0]", "t.each", ""},
		{"t.many[0]", "t.many", ""},
		{"t.each", "module.k", "objects in module.k.t.each, such as module.k.t.each[0]"},
		{"t.one", "module.k", ""},
		{"module.k", `module.m["a"]`, `objects in module.m["a"], such as module.m["a"].t.x`},
		{"module.k", `module.m["c"]`, ""},
		{"module.k", "module.m", ""},
		{`module.m["a"]`, "module.k", "objects in module.k, such as module.k.t.each[0]"},
		{`module.m["a"]`, "module.m", ""},
		{`module.m["b"].module.n`, "module.k", "objects in module.k, such as module.k.t.each[0]"},
		{"module.k", "module.k.module.inner", ""},
	} {
		for name, to := range map[string]*state.State{"the same": st, "another": with(t, "t.x", `t.each["x"]`, "module.k.t.z", "module.k.t.each[0]", `module.m["a"].t.x`)} {
			_, err := PlanMoves(st, to, target(t, test.from), target(t, test.to))
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s to %s in %s state: %v, want %q", test.from, test.to, name, err, test.want)
			}
		}
	}
}
