package eval

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestExpanded asks which dependencies are on instances that have been found, before and after something
// evaluates the keys of blocks and module calls.
func TestExpanded(t *testing.T) {
	const text = `resource "sim_thing" "one" {}
resource "sim_thing" "many" { count = 2 }
module "m" {
  source = "./m"
  count  = 2
}
output "o" { value = [sim_thing.one, sim_thing.many, module.m[*].out] }
output "two" { value = module.m[1].out }
-- m/main.tf --
resource "sim_thing" "in" { count = 1 }
resource "sim_thing" "fixed" {}
output "out" { value = sim_thing.in }
output "single" { value = sim_thing.fixed }`
	w, aside, other := planned(t, text), planned(t, text), planned(t, "") // to find dependencies evaluates keys
	deps := func(of string) (out []string) {
		for _, d := range w.run.Root.Output(of).In(aside.run).Deps(aside.task) {
			if !Expanded(w.run, d) {
				out = append(out, d.String())
			}
			if Expanded(other.run, d) == d.All {
				t.Errorf("%s: got %v where there is no such block, want %v", d, d.All, !d.All)
			}
		}
		slices.Sort(out)
		return out
	}
	check := func(of string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, deps(of)); diff != "" {
			t.Errorf("%s: what is not expanded (-want +got):\n%s", of, diff)
		}
	}
	check("two", "module.m[1].sim_thing.in")
	check("o", "module.m.sim_thing.fixed", "module.m.sim_thing.in", "sim_thing.many")
	w.run.Root.Resource(addr.Resource{Type: "sim_thing", Name: "many"}).Instances(w.task)
	check("o", "module.m.sim_thing.fixed", "module.m.sim_thing.in")
	w.run.Root.Call("m").In(w.run).Children(w.task, nil)
	check("o", "module.m.sim_thing.in")
	for _, m := range w.run.Root.Call("m").Children(w.task, nil) {
		m.Resource(addr.Resource{Type: "sim_thing", Name: "in"}).Instances(w.task)
	}
	check("o")
	check("two")
}

// TestIn finds a value and a call in another run of the configuration.
func TestIn(t *testing.T) {
	w := planned(t, `module "m" {
  source = "./m"
  count  = 2
  in     = 1
}
-- m/main.tf --
variable "in" {}
locals { in = 2 }
output "in" { value = 3 }`)
	run := NewRun(w.cfg, Options{Phase: Planning, Host: w.host})
	m, n := w.run.Root.Call("m").Child(addr.IntKey(1)), run.Root.Call("m").Child(addr.IntKey(1))
	for _, v := range []struct{ from, to *Value }{{m.variables["in"], n.variables["in"]}, {m.locals["in"], n.locals["in"]}, {m.outputs["in"], n.outputs["in"]}} {
		if got := v.from.In(run); got != v.to {
			t.Errorf("%s: got %p, want %p, of the other run", v.from, got, v.to)
		}
	}
	if got, want := w.run.Root.Call("m").In(run), run.Root.Call("m"); got != want {
		t.Errorf("got %p, want %p, of the other run", got, want)
	}
}
