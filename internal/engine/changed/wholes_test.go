package changed

import (
	"maps"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// TestWholes counts the objects of sets, deposed ones too, and those of several sets once in the sum.
func TestWholes(t *testing.T) {
	read := state.New()
	for _, text := range []string{"t.a[0]", "t.a[1]", "t.ab", `module.m["x"].t.b`, `module.m["x"].module.n[0].t.k`, `module.m["x"].module.n[1].t.k`, `module.m["y"].module.n[0].t.k`} {
		read.SetObject(addr.Object{Instance: instance(t, text)}, &state.Object{}, addr.ProviderConfig{})
	}
	read.SetObject(addr.Object{Instance: instance(t, "t.a[1]"), Deposed: "00000001"}, &state.Object{}, addr.ProviderConfig{})
	for _, test := range []struct {
		name string
		sets []state.Subject
		want map[string]int
		all  int
	}{
		{"none", []state.Subject{{Kind: state.OneInstance, Addr: "t.ab"}}, nil, 0},
		{"a resource", []state.Subject{{Kind: state.AllInstances, Addr: "t.a"}}, map[string]int{"t.a": 3}, 3},
		{"one without objects", []state.Subject{{Kind: state.AllInstances, Addr: "t.none"}}, map[string]int{}, 0},
		{"a block in all modules", []state.Subject{{Kind: state.AllWithin, Addr: "module.m.module.n.t.k"}}, map[string]int{"module.m.module.n.t.k": 3}, 3},
		{"a block within a module", []state.Subject{{Kind: state.AllWithin, Addr: "module.m.module.n.t.k", Within: `module.m["x"]`}}, map[string]int{`module.m["x"].module.n.t.k`: 2}, 2},
		{"sets with objects in common", []state.Subject{
			{Kind: state.AllWithin, Addr: "module.m.module.n.t.k"}, {Kind: state.AllInstances, Addr: `module.m["x"].module.n[0].t.k`}, {Kind: state.AllInstances, Addr: "t.ab"},
		}, map[string]int{"module.m.module.n.t.k": 3, `module.m["x"].module.n[0].t.k`: 1, "t.ab": 1}, 4},
	} {
		w := wholes{}
		w.add(slices.Values(test.sets))
		if got, all := w.count(read); !maps.Equal(got, test.want) || all != test.all {
			t.Errorf("%s: count(…): got %v and %d, want %v and %d", test.name, got, all, test.want, test.all)
		}
	}
}
