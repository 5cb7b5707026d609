package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/plan"
)

// graph is a random configuration: node i may depend on nodes before it.
type graph struct {
	rng   *rand.Rand
	nodes map[string]*node
	next  int
}

type node struct {
	deps      []string
	cbd, wo   bool
	replaceMe int
	size      int
	failOn    string
}

func (g *graph) names() []string {
	var out []string
	for n := range g.nodes {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (g *graph) grow() {
	n := &node{cbd: g.rng.IntN(4) == 0, wo: g.rng.IntN(3) == 0}
	for _, d := range g.names() {
		if g.rng.IntN(3) == 0 {
			n.deps = append(n.deps, d)
		}
	}
	g.nodes[fmt.Sprintf("n%02d", g.next)] = n
	g.next++
}

// mutate changes some nodes and removes or adds some.
func (g *graph) mutate() {
	for _, name := range g.names() {
		n := g.nodes[name]
		switch g.rng.IntN(6) {
		case 0:
			n.size++
		case 1:
			n.replaceMe++
		case 2:
			n.failOn = []string{"create", "update", "create-partial", "update-partial"}[g.rng.IntN(4)]
		case 3:
			delete(g.nodes, name)
			for _, other := range g.nodes {
				other.deps = slices.DeleteFunc(other.deps, func(d string) bool { return d == name })
			}
		case 4:
			n.cbd = !n.cbd
		}
	}
	for range g.rng.IntN(4) {
		g.grow()
	}
}

// text renders the configuration, with or without the failures.
func (g *graph) text(failing bool) string {
	var sb strings.Builder
	sb.WriteString("ephemeral \"sim_secret\" \"s\" { name = \"s\" }\n")
	for _, name := range g.names() {
		n := g.nodes[name]
		fmt.Fprintf(&sb, "resource \"sim_thing\" %q {\n name = %q\n size = %d\n replace_me = \"%d\"\n", name, name, n.size, n.replaceMe)
		var refs []string
		for _, d := range n.deps {
			refs = append(refs, "sim_thing."+d+".id")
		}
		fmt.Fprintf(&sb, " json = jsonencode([%s])\n", strings.Join(refs, ", "))
		if n.wo {
			sb.WriteString(" secret_wo = ephemeral.sim_secret.s.lease\n secret_wo_version = 1\n")
		}
		if failing && n.failOn != "" {
			fmt.Fprintf(&sb, " fail_on = %q\n", n.failOn)
		}
		fmt.Fprintf(&sb, " lifecycle { create_before_destroy = %t }\n}\n", n.cbd)
	}
	return sb.String()
}

// TestRandomGraphs applies random changes with random failures. Each failing run is followed by one that
// converges: the plan after it is empty, the cloud holds exactly what the state says, and what the state says
// is what the configuration wants.
func TestRandomGraphs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := &graph{rng: rand.New(rand.NewPCG(seed, 1)), nodes: map[string]*node{}}
			for range 10 {
				g.grow()
			}
			w := newWorld(t, g.text(false))
			w.ok(command{})
			for range 2 {
				g.mutate()
				w.config(g.text(true))
				w.run(command{})
				w.agrees()
				for _, n := range g.nodes {
					n.failOn = ""
				}
				w.config(g.text(false))
				w.ok(command{})
				if w.ok(command{planOnly: true}).plans(); t.Failed() {
					t.Fatalf("the configuration:\n%s", g.text(false))
				}
				w.exists(g.names()...)
				w.agrees()
			}
			w.ok(command{mode: plan.Destroy})
			w.exists()
			w.has()
		})
	}
}

// agrees checks that the state and the cloud hold the same objects.
func (w *world) agrees() {
	w.t.Helper()
	var stored, real []string
	for a, in := range w.state().AllInstances() {
		n := len(in.Deposed)
		if in.Current != nil {
			n++
		}
		for range n {
			stored = append(stored, a.Resource.Name)
		}
	}
	objects, err := simcloud.Objects(w.cloud)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range objects {
		real = append(real, o.Name)
	}
	slices.Sort(stored)
	if slices.Sort(real); !slices.Equal(stored, real) {
		w.t.Errorf("state: got %q, want as in the cloud: %q", stored, real)
	}
}
