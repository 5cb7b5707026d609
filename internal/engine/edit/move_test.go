package edit

import (
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

func TestPlanMoves(t *testing.T) {
	sealed, err := value.Seal(cty.EmptyObjectVal, cty.EmptyObject, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(sealed)
	if err != nil {
		t.Fatal(err)
	}
	st := state.New()
	for _, s := range []string{"t.one", "t.many[0]", "t.many[1]", `module.m["a"].t.x`, `module.m["a"].module.n.t.y[0]`, `module.m["b"].t.x`, "module.k.t.z"} {
		i, err := addr.ParseInstance(s)
		if err != nil {
			t.Fatal(err)
		}
		st.SetObject(addr.Object{Instance: i}, o, addr.ProviderConfig{})
	}
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
				t.Fatalf("error %v", err)
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
