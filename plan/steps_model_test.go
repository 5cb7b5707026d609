package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
)

func abs(n int) addr.AbsResource {
	r := addr.Resource{Type: "t", Name: fmt.Sprintf("r%d", n)}
	if n%4 == 3 {
		return addr.AbsResource{Module: addr.RootInstance.Child("m", addr.StringKey("k")), Resource: r}
	}
	return addr.AbsResource{Resource: r}
}

// drawPlan draws a plan as planning makes them: resources depend on those before them only, in the configuration and in the state.
func drawPlan(t *rapid.T) *Plan {
	p := &Plan{}
	n := rapid.IntRange(1, 7).Draw(t, "resources")
	for r := range n {
		for key := range rapid.IntRange(1, 3).Draw(t, "instances") {
			p.Changes = append(p.Changes, drawChange(t, p, r, abs(r).Instance(addr.IntKey(key))))
			if rapid.IntRange(0, 9).Draw(t, "deposed") == 0 {
				c := &Change{Addr: abs(r).Instance(addr.IntKey(key)), Deposed: "0badcafe", Action: Delete, StateDeps: drawStateDeps(t, r)}
				p.Changes = append(p.Changes, c)
			}
		}
	}
	return p
}

func drawChange(t *rapid.T, p *Plan, r int, at addr.Instance) *Change {
	c := &Change{Addr: at, CreateBeforeDestroy: rapid.IntRange(0, 3).Draw(t, "create first") == 0}
	c.Action = rapid.SampledFrom([]Action{NoOp, NoOp, Create, Update, Delete, Delete, DeleteThenCreate, DeleteThenCreate, Forget}).Draw(t, "action")
	if c.CreateBeforeDestroy && c.Action == DeleteThenCreate {
		c.Action = CreateThenDelete
	}
	if c.Action != Create {
		c.StateDeps = drawStateDeps(t, r)
	}
	if r == 0 || c.Action == Delete || c.Action == Forget {
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

func drawStateDeps(t *rapid.T, r int) []addr.ConfigResource {
	var deps []addr.ConfigResource
	for i := range r {
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

func (o *order) find(c *Change, leg Leg) int {
	return slices.IndexFunc(o.steps, func(s Step) bool { return s.Change == c && s.Leg == leg })
}

// want holds that a leg of one change comes before a leg of another, if both have one.
func (o *order) want(t *rapid.T, rule Rule, a *Change, legA Leg, b *Change, legB Leg) {
	i, j := o.find(a, legA), o.find(b, legB)
	if i >= 0 && j >= 0 && !o.before[i][j] {
		t.Fatalf("%s: %s doesn't come before %s", rule, &o.steps[i], &o.steps[j])
	}
}

func dependsInConfig(a, b *Change) bool {
	return b.Deposed == addr.Current && slices.ContainsFunc(a.Deps, func(d Dep) bool { return covers(d, b.Addr) })
}

// dependsInState is what the state tells beyond the configuration, which is more precise.
func dependsInState(a, b *Change) bool {
	if a.Addr.Config() == b.Addr.Config() || !slices.Contains(a.StateDeps, b.Addr.Config()) {
		return false
	}
	inConfig := slices.ContainsFunc(a.Deps, func(d Dep) bool { return d.Resource.Config() == b.Addr.Config() })
	return !inConfig || b.Action == Delete
}

// mustGoEarly is the oracle for deletions that cannot wait for updates.
func mustGoEarly(p *Plan, c *Change) bool {
	return slices.ContainsFunc(p.Changes, func(d *Change) bool {
		return dependsInState(c, d) && (d.Action == DeleteThenCreate || d.Action == Delete && mustGoEarly(p, d))
	})
}

// through calls f for everything that c depends on in the configuration, seeing through what doesn't change.
func through(p *Plan, c *Change, f func(*Change)) {
	for _, d := range p.Changes {
		if dependsInConfig(c, d) {
			f(d)
			if d.Action == NoOp {
				through(p, d, f)
			}
		}
	}
}

func checkRules(t *rapid.T, p *Plan, o *order) {
	for _, c := range p.Changes {
		switch c.Action {
		case DeleteThenCreate:
			o.want(t, RuleDestroyFirst, c, DestroyLeg, c, ApplyLeg)
		case CreateThenDelete:
			o.want(t, RuleCreateFirst, c, ApplyLeg, c, DestroyLeg)
		}
		through(p, c, func(d *Change) { o.want(t, RuleDependency, d, ApplyLeg, c, ApplyLeg) })
		for _, d := range p.Changes {
			if !dependsInConfig(c, d) && !dependsInState(c, d) {
				continue
			}
			o.want(t, RuleDependents, c, DestroyLeg, d, DestroyLeg)
			if d.Action == CreateThenDelete || d.Action == Delete && !mustGoEarly(p, d) {
				o.want(t, RuleUpdates, c, ApplyLeg, d, DestroyLeg)
			}
		}
	}
}

// legs lists the real steps with those that come before each, in an order that doesn't depend on the steps' numbers.
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

func TestStepsFollowTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		p.SpreadReplaceOrder()
		steps, diags := p.Steps()
		if diags.HasErrors() {
			t.Fatalf("no order although dependencies have one: %s", diags.Err())
		}
		o := newOrder(steps)
		checkRules(t, p, o)
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
				t.Fatalf("%s needs %d, has %d predecessors", &steps[i], steps[i].Needs, n)
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
		shuffled := &Plan{Changes: rapid.Permutation(p.Changes).Draw(t, "permutation")}
		other, _ := shuffled.Steps()
		if diff := cmp.Diff(newOrder(steps).legs(), newOrder(other).legs()); diff != "" {
			t.Fatalf("another order of changes gives other steps (-first +second)\n%s", diff)
		}
	})
}

// The size stays linear where many instances depend on all of many others.
func TestStepsAreLinear(t *testing.T) {
	for _, action := range []Action{Update, DeleteThenCreate, CreateThenDelete, Delete} {
		const n = 2000
		p := &Plan{}
		for i := range n {
			p.Changes = append(p.Changes, &Change{Addr: abs(0).Instance(addr.IntKey(i)), Action: action})
			p.Changes = append(p.Changes, &Change{
				Addr: abs(1).Instance(addr.IntKey(i)), Action: action,
				Deps: []Dep{{Resource: abs(0), All: true}}, StateDeps: []addr.ConfigResource{abs(0).Config()},
			})
		}
		steps, diags := p.Steps()
		edges := 0
		for i := range steps {
			edges += len(steps[i].Next)
		}
		if diags.HasErrors() || edges > 12*n {
			t.Errorf("%s: %d edges for %d changes, %v", action, edges, 2*n, diags)
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
