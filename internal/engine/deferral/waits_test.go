package deferral

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestWaits holds the answers about random plans against a search that looks at everything.
func TestWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t)
		var list []*plan.Deferral
		for _, c := range p.changes {
			if users := rapid.SliceOfN(rapid.SampledFrom(p.deferred), 0, 2).Draw(t, "users"); len(users) > 0 {
				later := &plan.Deferral{Change: c}
				for _, u := range users {
					later.WaitsFor = append(later.WaitsFor, on(u))
				}
				list = append(list, later)
			}
		}
		made := map[addr.Object]*plan.Change{}
		for _, c := range p.changes {
			made[c.Object()] = c
		}
		w := findWaits(p.set, made)
		for _, u := range p.deferred {
			for _, c := range p.changes {
				if got, want := w.leadTo(on(u), c.Addr), p.leadTo(on(u), c.Addr); got != want {
					t.Errorf("leadTo(%s, %s): got %v, want %v", u, c.Addr, got, want)
				}
			}
		}
		for _, d := range list { // each of which would wait too
			p.deps[d.Change.Addr] = append(slices.Clip(p.deps[d.Change.Addr]), d.WaitsFor...)
		}
		for i, got := range w.closing(list) {
			want := slices.IndexFunc(list[i].WaitsFor, func(d plan.Dep) bool { return p.leadTo(d, list[i].Change.Addr) })
			if got != want {
				t.Errorf("%s, used by %v: got %d, want %d", list[i].Change.Addr, list[i].WaitsFor, got, want)
			}
		}
	})
}

// waitingPlan is a plan with the dependencies of all its objects.
type waitingPlan struct {
	set      *Set
	deferred []addr.Instance
	changes  []*plan.Change
	deps     map[addr.Instance][]plan.Dep
}

// leadTo reports whether an object waits for another one. It looks at everything at each step.
func (p *waitingPlan) leadTo(from plan.Dep, to addr.Instance) bool {
	refers := func(d plan.Dep, a addr.Instance) bool {
		if a.Unkeyed() {
			return d.MayRefer(a)
		}
		var one plan.Instances
		one.Add(a)
		return one.Touched(d)
	}
	seen := map[addr.Instance]bool{}
	for left := []plan.Dep{from}; len(left) > 0; left = left[1:] {
		for a, deps := range p.deps {
			if seen[a] || !refers(left[0], a) {
				continue
			}
			if seen[a] = true; slices.ContainsFunc(deps, func(d plan.Dep) bool { return refers(d, to) }) {
				return true
			}
			left = append(left, deps...)
		}
	}
	return false
}

// randomPlan draws a plan with few objects, so that many wait for each other.
func randomPlan(t *rapid.T) *waitingPlan {
	modules := []addr.ModuleInstance{addr.RootInstance}
	for _, k := range []addr.Key{addr.StringKey("a"), addr.StringKey("b"), addr.AnyKey} {
		m := addr.RootInstance.Child("m", k)
		modules = append(modules, m, m.Child("n", addr.NoKey), m.Child("n", addr.AnyKey))
	}
	instance := rapid.Custom(func(t *rapid.T) addr.Instance {
		return addr.Instance{
			Module:   rapid.SampledFrom(modules).Draw(t, "module"),
			Resource: addr.Resource{Type: "t", Name: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name")},
			Key:      rapid.SampledFrom([]addr.Key{addr.IntKey(0), addr.IntKey(1), addr.AnyKey}).Draw(t, "key"),
		}
	})
	dep := rapid.Custom(func(t *rapid.T) plan.Dep {
		d := on(instance.Draw(t, "on"))
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			d.Key, d.All = addr.NoKey, true
		case 1:
			path := d.Resource.Module.Path()
			if len(path) > 0 {
				d.Within, _, _ = path[rapid.IntRange(0, len(path)-1).Draw(t, "within")].Parent()
			}
			d.Key, d.All, d.Modules = addr.NoKey, true, true
		case 2:
			d = plan.Dep{Resource: addr.AbsResource{Module: d.Resource.Module}, All: true}
		}
		return d
	})
	p := &waitingPlan{set: &Set{}, deps: map[addr.Instance][]plan.Dep{}}
	for i, a := range rapid.SliceOfNDistinct(instance, 2, 12, rapid.ID).Draw(t, "objects") {
		c := &plan.Change{Addr: a, Action: plan.Update}
		deps := rapid.SliceOfN(dep, 0, 3).Draw(t, "deps")
		if a.Unkeyed() || i == 0 || rapid.Bool().Draw(t, "deferred") {
			d := &plan.Deferral{Change: c, WaitsFor: deps}
			p.set.Add(d)
			p.deferred, p.deps[a] = append(p.deferred, a), p.set.named(d)
			continue
		}
		c.Deps = deps
		p.changes, p.deps[a] = append(p.changes, c), deps
	}
	return p
}

// BenchmarkWaits defers changes each of which makes a value for one of as many deferred objects. All of these
// wait for one change and the next object. The time per object must not depend on their number.
func BenchmarkWaits(b *testing.B) {
	for _, n := range []int{5000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := &Set{}
			at := func(name string, i int) addr.Instance {
				return addr.AbsResource{Resource: addr.Resource{Type: "t", Name: name}}.Instance(addr.IntKey(i))
			}
			first := &plan.Change{Addr: at("first", 0), Action: plan.Create}
			made, changes := map[addr.Object]*plan.Change{first.Object(): first}, []*plan.Change(nil)
			for i := range n {
				s.Add(&plan.Deferral{Change: &plan.Change{Addr: at("user", i)}, WaitsFor: []plan.Dep{on(first.Addr), on(at("user", i+1)), on(at("maker", i+1))}})
				c := &plan.Change{Addr: at("maker", i), Action: plan.Create}
				made[c.Object()], changes = c, append(changes, c)
			}
			for b.Loop() {
				p := &Producers{Set: s, Changes: made, Seeds: map[addr.Instance]*plan.Deferral{}, Users: func(c *plan.Change) []addr.Instance {
					return []addr.Instance{at("user", c.Addr.Key.Int())}
				}}
				if again, stuck := p.Defer(changes); !again || len(stuck) > 0 {
					b.Fatalf("got %v and %d stuck changes, want all deferred", again, len(stuck))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/object")
		})
	}
}
