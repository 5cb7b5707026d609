package changed

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestCycle plans all blocks that lead to each other, whichever of their units is due.
func TestCycle(t *testing.T) {
	const ring = `
module "m" {
  source   = "./m"
  for_each = { x = 1, y = 2 }
  v        = try(module.m[each.key == "x" ? "none" : "x"].o, "n")
}
`
	for due, want := range map[string]string{
		`module.m["y"].t.i`: `module.m["x"].t.i module.m["y"].t.i / late module.m["x"].output.o module.m["x"].var.v module.m["y"].output.o module.m["y"].var.v gone module.m["x"].t.i module.m["y"].t.i`,
		`module.m["y"].t.j`: `module.m["y"].t.j / gone module.m["y"].t.j`,
	} {
		p := newPlanning(t, &ledger{due: []string{due}}, ring, strings.Replace(inner, "{ count = 1 }", "{}", 1))
		p.l.records = [][]string{{`module.m["x"].t.i`, "module.m.resource.t.i"}, {`module.m["y"].t.i`, "module.m.resource.t.i"}}
		p.plan()
		if got := p.outcome(); got != want {
			t.Errorf("%s: got %s, want %s", due, got, want)
		}
		wantRead := []string{`all module.m["x"].t.i`, `all module.m["y"].t.i`}
		if slices.Sort(p.read); strings.HasSuffix(due, "i") && !slices.Equal(p.read, wantRead) {
			t.Errorf("%s: got %q read, want %q", due, p.read, wantRead)
		}
	}
}

// TestCallInCycle gives up, and names the call, if the instances of a module follow from its own outputs.
func TestCallInCycle(t *testing.T) {
	const ring = `
module "m" {
  source   = "./m"
  for_each = { x = module.m["y"].o, y = 2 }
  v        = module.m["y"].o
}
`
	p := newPlanning(t, &ledger{due: []string{"repetition module.m"}}, ring, inner)
	p.plan()
	if got, want := p.outcome(), "full: module.m depends on itself through outputs of modules, and which of its objects have work is only known when all are planned"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTooLate gives up if an object is altered on which a planned one depends, as its record says.
func TestTooLate(t *testing.T) {
	p := newPlanning(t, &ledger{due: []string{"t.c"}, altered: []string{"t.c"}, records: [][]string{{"t.c", "resource.t.c"}, {"t.a", "resource.t.a", "t.c"}}}, root, inner)
	p.plan()
	const why = "t.a was evaluated last from objects that are planned after it now"
	if got, want := p.outcome(), "full: "+why; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.w.GiveUp(true, "another reason")
	p.w.GiveUp(false, "no reason")
	if got := p.w.Full(); got != why {
		t.Errorf("got the reason %s, want the first one", got)
	}
	if block := p.w.cfg.Modules[addr.RootModule].Resources[addr.Resource{Mode: addr.Managed, Type: "t", Name: "a"}]; !p.w.Plans(addr.Instance{}, block) {
		t.Error("got an instance without work in a full plan, want all to have work")
	}
}
