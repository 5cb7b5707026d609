package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

func abs(n int) addr.AbsResource {
	r := addr.Resource{Type: "t", Name: fmt.Sprintf("r%d", n)}
	if n%4 == 3 {
		return addr.AbsResource{Module: addr.RootInstance.Child("m", addr.StringKey("k")), Resource: r}
	}
	return addr.AbsResource{Resource: r}
}

// drawPlan draws a plan as planning makes them: in the configuration resources depend on those before them
// only. What was recorded may be anything, and some objects of the state have no change.
func drawPlan(t *rapid.T) *Plan {
	p := &Plan{Prior: state.New()}
	n := rapid.IntRange(1, 7).Draw(t, "resources")
	turned := rapid.IntRange(0, 3).Draw(t, "dependencies were turned round") == 0
	for r := range n {
		for key := range rapid.IntRange(1, 3).Draw(t, "instances") {
			at, known := abs(r).Instance(addr.IntKey(key)), r
			if turned {
				known = n
			}
			if rapid.IntRange(0, 9).Draw(t, "left out") == 0 {
				p.Prior.SetObject(addr.Object{Instance: at}, &state.Object{Dependencies: drawStateDeps(t, known)}, addr.ProviderConfig{})
				continue
			}
			p.Changes = append(p.Changes, drawChange(t, p, r, known, at))
			if rapid.IntRange(0, 9).Draw(t, "deposed") == 0 {
				c := &Change{Addr: at, Deposed: "0badcafe", Action: Delete, StateDeps: drawStateDeps(t, known)}
				p.Changes = append(p.Changes, c)
			}
		}
	}
	return p
}

func drawChange(t *rapid.T, p *Plan, r, known int, at addr.Instance) *Change {
	c := &Change{Addr: at, CreateBeforeDestroy: rapid.IntRange(0, 3).Draw(t, "create first") == 0}
	c.Action = rapid.SampledFrom([]Action{NoOp, NoOp, Create, Update, Delete, Delete, DeleteThenCreate, DeleteThenCreate, Forget}).Draw(t, "action")
	if c.CreateBeforeDestroy && c.Action == DeleteThenCreate {
		c.Action = CreateThenDelete
	}
	if c.Action != Create {
		c.StateDeps = drawStateDeps(t, known)
	}
	if few := rapid.IntRange(0, 9).Draw(t, "destroyed with others' help") > 0; r == 0 || c.Action == Delete && few || c.Action == Forget {
		return c
	}
	for range rapid.IntRange(0, 2).Draw(t, "deps") {
		dep := Dep{Resource: abs(rapid.IntRange(0, r-1).Draw(t, "dependency")), Key: addr.IntKey(rapid.IntRange(0, 2).Draw(t, "key"))}
		if rapid.Bool().Draw(t, "all") {
			dep = Dep{Resource: dep.Resource, All: true, Modules: rapid.Bool().Draw(t, "modules")}
		}
		gone := slices.ContainsFunc(p.Changes, func(o *Change) bool { return !dep.All && covers(dep, o.Addr) && o.Action == Delete })
		if !gone { // nothing can refer to what the configuration no longer has
			c.Deps = append(c.Deps, dep)
		}
	}
	return c
}

func drawStateDeps(t *rapid.T, known int) []addr.ConfigResource {
	var deps []addr.ConfigResource
	for i := range known {
		if rapid.IntRange(0, 2).Draw(t, "state dependency") == 0 {
			deps = append(deps, abs(i).Config())
		}
	}
	return deps
}

// order knows which steps come before which.
type order struct {
	steps  []Step
	before [][]bool
}

func newOrder(steps []Step) *order {
	o := &order{steps: steps, before: make([][]bool, len(steps))}
	for i := range steps {
		o.before[i] = make([]bool, len(steps))
		o.reach(i, i)
	}
	return o
}

func (o *order) reach(from, at int) {
	for _, e := range o.steps[at].Next {
		if !o.before[from][e.To] {
			o.before[from][e.To] = true
			o.reach(from, int(e.To))
		}
	}
}

// legs lists the real steps with those that come before each, in an order that doesn't depend on the steps'
// numbers.
func (o *order) legs() []string {
	var all []string
	for i := range o.steps {
		if o.steps[i].Leg == Gate {
			continue
		}
		var before []string
		for j := range o.steps {
			if o.before[j][i] && o.steps[j].Leg != Gate {
				before = append(before, o.steps[j].String())
			}
		}
		slices.Sort(before)
		all = append(all, fmt.Sprint(&o.steps[i], " after ", before))
	}
	slices.Sort(all)
	return all
}

func dump(steps []Step) string {
	s := ""
	for i := range steps {
		s += fmt.Sprintf("%d %s needs %d: %v\n", i, &steps[i], steps[i].Needs, steps[i].Next)
	}
	return s
}

// TestStepsFollowTheRules holds the steps against the rules, carried out by a model that looks at every pair
// of objects: nothing is missing from the order, and nothing else is in it.
func TestStepsFollowTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		p.SpreadReplaceOrder()
		steps, diags := p.Steps()
		if diags.HasErrors() {
			t.Fatalf("no order although dependencies have one: %s", diags.Err())
		}
		if diff := cmp.Diff(newModel(p).legs(), newOrder(steps).legs()); diff != "" {
			t.Fatalf("order (-model +steps)\n%s", diff)
		}
		needs, edges := make([]int32, len(steps)), 0
		for i := range steps {
			for _, e := range steps[i].Next {
				needs[e.To]++
				edges++
			}
		}
		size := len(p.Changes)
		for _, c := range p.Changes {
			size += len(c.Deps) + len(c.StateDeps)
		}
		if edges > 4*size || len(steps) > 3*size {
			t.Fatalf("%d edges and %d steps for a plan of size %d", edges, len(steps), size)
		}
		for i, n := range needs {
			if steps[i].Needs != n {
				t.Fatalf("%s: got a need of %d, want its %d predecessors", &steps[i], steps[i].Needs, n)
			}
		}
	})
}

func TestStepsAreDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		p.SpreadReplaceOrder()
		steps, _ := p.Steps()
		for range 3 {
			again, _ := p.Steps()
			if diff := cmp.Diff(dump(steps), dump(again)); diff != "" {
				t.Fatalf("a second call differs (-first +second)\n%s", diff)
			}
		}
		shuffled := &Plan{Changes: rapid.Permutation(p.Changes).Draw(t, "permutation"), Prior: p.Prior}
		other, _ := shuffled.Steps()
		if diff := cmp.Diff(newOrder(steps).legs(), newOrder(other).legs()); diff != "" {
			t.Fatalf("another order of changes gives other steps (-first +second)\n%s", diff)
		}
	})
}

// The size stays linear where many instances depend on all of many others, directly and through many that
// don't change.
func TestStepsAreLinear(t *testing.T) {
	actions := []Action{NoOp, Update, DeleteThenCreate, CreateThenDelete, Delete}
	for i := range len(actions) * len(actions) {
		below, above := actions[i%len(actions)], actions[i/len(actions)]
		const n = 300
		p := &Plan{}
		for i := range n {
			add := func(r int, action Action) {
				c := &Change{Addr: abs(r).Instance(addr.IntKey(i)), Action: action}
				if r > 0 {
					c.StateDeps = []addr.ConfigResource{abs(r - 1).Config()}
				}
				if r > 0 && action != Delete {
					c.Deps = []Dep{{Resource: abs(r - 1), All: true}}
				}
				p.Changes = append(p.Changes, c)
			}
			add(0, below)
			add(1, NoOp)
			add(2, above)
		}
		steps, diags := p.Steps()
		edges := 0
		for i := range steps {
			edges += len(steps[i].Next)
		}
		if diags.HasErrors() || edges > 20*n {
			t.Errorf("%s over %s: %d edges for %d changes, %v", above, below, edges, 3*n, diags)
		}
	}
}

// covers reports whether d is a dependency on the instance.
func covers(d Dep, i addr.Instance) bool {
	if d.Modules {
		return d.Resource.Config() == i.Config() && d.Within.Contains(i.Module)
	}
	return d.Resource == i.Abs() && (d.All || d.Key == i.Key)
}

func dependsInConfig(a, b *Change) bool {
	return b.Deposed == addr.Current && slices.ContainsFunc(a.Deps, func(d Dep) bool { return covers(d, b.Addr) })
}
