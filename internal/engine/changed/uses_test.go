package changed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/state"
)

// chained has a module whose values go through others, and one whose instances are made of them.
const chained = `
resource "t" "a" {}
module "m" {
  source   = "./m"
  for_each = { x = 1 }
  v        = t.a.id
}
module "through" {
  source = "./m"
  v      = module.m["x"].o
}
module "made" {
  source   = "./m"
  for_each = { k = module.m["x"].o }
  v        = "v"
}
locals { all = module.through }
resource "t" "end" { name = local.all }
resource "t" "beside" { name = t.a.id }
`

const passing = `
variable "v" {}
resource "t" "i" { name = var.v }
output "o" { value = var.v }
`

// TestUses evaluates all that is made of the outputs of a call with work, also through other modules. Another
// call that is made of them has the same instances as before, so nothing in these has work.
func TestUses(t *testing.T) {
	l := &ledger{due: []string{"repetition module.m"}, records: [][]string{
		{`module.m["x"].t.i`, "module.m.resource.t.i", "t.a"},
		{"module.through.t.i", "module.through.resource.t.i", "t.a"},
		{`module.made["k"].t.i`, "module.made.resource.t.i"},
		{"t.end", "resource.t.end", "t.a"},
		{"t.beside", "resource.t.beside", "t.a"},
	}}
	p := newPlanning(t, l, chained, passing)
	p.plan()
	slices.Sort(p.planned)
	if got, want := slices.Compact(p.planned), []string{"/", "module.through.t.i", "t.end"}; !slices.Equal(got, want) {
		t.Errorf("got %v planned, want %v", got, want)
	}
}

// TestUsesOfNoOutputs evaluates what refers to the instances of a module that has no outputs.
func TestUsesOfNoOutputs(t *testing.T) {
	main := "module \"bare\" {\n  source   = \"./m/n\"\n  for_each = { x = 1 }\n}\nresource \"t\" \"counts\" { name = length(module.bare) }\n"
	l := &ledger{due: []string{"repetition module.bare"}, records: [][]string{{`module.bare["x"].t.k`, "module.bare.resource.t.k"}}}
	p := newPlanning(t, l, main, inner)
	p.plan()
	if got, want := p.outcome(), "/ t.counts / gone t.counts"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUnitsOf finds each instance of a block once, and nothing else that records name with the block.
func TestUnitsOf(t *testing.T) {
	l := &ledger{due: []string{"t.many[0]", "t.many[7]"}, records: with([]string{"check t.many", "resource.t.many"}, []string{"t.other", "resource.t.many"})}
	p := newPlanning(t, l, root, inner)
	p.w.begin()
	s := &session{Work: p.w, ctx: t.Context()}
	units, err := s.unitsOf(state.ParseBlock("resource.t.many"))
	var got []string
	for _, a := range units {
		got = append(got, a.String())
	}
	slices.Sort(got)
	if want := []string{"t.many[0]", "t.many[1]", "t.many[7]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
}

// TestCallWithoutModule leaves out a call whose module could not be loaded.
func TestCallWithoutModule(t *testing.T) {
	p := newPlanning(t, &ledger{}, root, inner)
	p.w.begin()
	before := len(p.w.attempt.levels)
	p.w.addNode(&node{block: &blocks.Call{}, level: 50}, addr.RootInstance)
	if got := len(p.w.attempt.levels); got != before {
		t.Errorf("got %d levels with work, want %d", got, before)
	}
}

// TestManyWays has 60 pairs of locals, each of which refers to both of the pair before: there are more ways
// through them than can be followed.
func TestManyWays(t *testing.T) {
	main := "module \"m\" {\n  source = \"./m\"\n  v      = \"v\"\n}\nlocals {\n  a0 = module.m.o\n  b0 = module.m.o\n}\noutput \"end\" { value = local.a60 }\n"
	for i := range 60 {
		main += strings.NewReplacer("#", fmt.Sprint(i+1), "@", fmt.Sprint(i)).Replace("locals {\n  a# = [local.a@, local.b@]\n  b# = [local.a@, local.b@]\n}\n")
	}
	p := newPlanning(t, &ledger{}, main, passing)
	p.w.begin()
	p.w.addUsers(p.w.cfg.Modules[addr.RootModule.Child("m")])
	if !p.w.attempt.isLate(addr.RootInstance, "output.end") {
		t.Error("got an output that has no work, want it to have some")
	}
}

// TestUsesOfGroups has many blocks refer to all outputs of a module, of which there are many: each output is
// linked to the group once.
func TestUsesOfGroups(t *testing.T) {
	links := func(n int) (count int) {
		main, module := "module \"m\" {\n  source = \"./m\"\n  v      = \"v\"\n}\n", passing
		for i := range n {
			main += fmt.Sprintf("locals { a%d = module.m }\n", i)
			module += fmt.Sprintf("output \"o%d\" { value = 1 }\n", i)
		}
		cfg, _ := compile(t, main, module)
		u := usesOf(cfg)
		if got := u.outputs[nil]; len(got) > 0 {
			t.Errorf("got %d users of the outputs of no module, want none", len(got))
		}
		for _, users := range u.of {
			count += len(users)
		}
		for _, users := range u.outputs {
			count += len(users)
		}
		return count
	}
	if one, two := links(100), links(200); 10*two > 21*one {
		t.Errorf("got %d links for 100 outputs and users, and %d for 200; want linear growth", one, two)
	}
}
