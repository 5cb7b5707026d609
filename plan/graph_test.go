package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// edgeLines are the edges of a graph that are about neither providers nor the root.
func edgeLines(g *Graph) []string {
	var out []string
	for _, n := range g.Nodes() {
		for _, d := range g.Dependencies(n) {
			if !strings.Contains(n+d, "provider[") && n != rootNode {
				out = append(out, n+" -> "+d)
			}
		}
	}
	return out
}

func instance(t *testing.T, s string) addr.Instance {
	t.Helper()
	i, err := addr.ParseInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func config(t *testing.T) addr.ProviderConfig {
	t.Helper()
	p, err := addr.ParseProvider("example.com/a/t")
	if err != nil {
		t.Fatal(err)
	}
	return addr.ProviderConfig{Provider: p}
}

func TestPlanGraph(t *testing.T) {
	p := &Plan{}
	add := func(address string, action Action, deps ...string) *Change {
		c := &Change{Addr: instance(t, address), Action: action, Provider: config(t)}
		for _, d := range deps {
			i := instance(t, strings.TrimSuffix(d, "[*]"))
			c.Deps = append(c.Deps, Dep{Resource: i.Abs(), Key: i.Key, All: strings.HasSuffix(d, "[*]")})
		}
		p.Changes = append(p.Changes, c)
		return c
	}
	for i := range 3 {
		add(fmt.Sprintf("t.a[%d]", i), Create)
		add(fmt.Sprintf("module.m[%d].t.x", i), Create, "t.a[*]")
	}
	add("t.b", Update, "t.a[0]")
	add("t.old", Forget)
	gone := add("t.gone", Delete)
	gone.StateDeps = []addr.ConfigResource{instance(t, "t.b").Config()}
	g, err := p.Graph()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"module.m.t.x (expand) -> t.a (expand)", "t.a (expand) -> t.gone (destroy)", "t.b (expand) -> t.a (expand)", "t.b (expand) -> t.gone (destroy)",
	}
	if diff := cmp.Diff(want, edgeLines(g)); diff != "" {
		t.Error(diff)
	}
	if g.Kind("t.old (forget)") != ResourceNode || g.Kind("t.gone (destroy)") != ResourceNode || g.Kind("t.gone (expand)") != StepNode {
		t.Errorf("nodes: got %v, want t.old and t.gone as resources, and the expansion as a step", g.Nodes())
	}
	if len(g.Cycles()) > 0 {
		t.Errorf("cycles: %v", g.Cycles())
	}
}

func TestDestroyGraph(t *testing.T) {
	st := state.New()
	put := func(address string, deps ...string) {
		o := &state.Object{}
		for _, d := range deps {
			o.Dependencies = append(o.Dependencies, instance(t, d).Config())
		}
		st.SetObject(addr.Object{Instance: instance(t, address)}, o, config(t))
	}
	put("t.a[0]")
	put("t.a[1]")
	put("module.m.t.b", "t.a", "data.t.d")
	put("data.t.d", "t.a")
	g := DestroyGraph(st)
	if diff := cmp.Diff([]string{"t.a (destroy) -> module.m.t.b (destroy)"}, edgeLines(g)); diff != "" {
		t.Error(diff)
	}
	if empty := DestroyGraph(state.New()); len(empty.Nodes()) > 0 {
		t.Errorf("nothing to destroy: %v", empty.Nodes())
	}
}

// TestCycles compares with what reaches itself, found the slow way.
func TestCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Graph{}
		const nodes = 8
		reach := map[[2]string]bool{}
		for range rapid.IntRange(0, 16).Draw(t, "edges") {
			a, b := fmt.Sprint(rapid.IntRange(0, nodes).Draw(t, "from")), fmt.Sprint(rapid.IntRange(0, nodes).Draw(t, "to"))
			g.Depend(a, b)
			if a != b {
				reach[[2]string{a, b}] = true
			}
		}
		for _, via := range g.Nodes() {
			for _, a := range g.Nodes() {
				for _, b := range g.Nodes() {
					if reach[[2]string{a, via}] && reach[[2]string{via, b}] {
						reach[[2]string{a, b}] = true
					}
				}
			}
		}
		member := map[string]int{}
		for i, c := range g.Cycles() {
			for _, n := range c {
				member[n] = i + 1
			}
		}
		for _, a := range g.Nodes() {
			for _, b := range g.Nodes() {
				if a != b && (reach[[2]string{a, b}] && reach[[2]string{b, a}]) != (member[a] != 0 && member[a] == member[b]) {
					t.Fatalf("%s and %s: got the cycles %v, want both in one if each reaches the other", a, b, g.Cycles())
				}
			}
		}
	})
}
