package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/state"
)

// TestSettlingRows finds the rows that units may be settled with: of the objects and results that were found
// to be right, and of what these were evaluated from. An object that has work is none of them, unless another
// unit reads it.
func TestSettlingRows(t *testing.T) {
	t.Parallel()
	mark := func(units ...string) func(*ledger, *engine.PlanRequest) {
		return func(l *ledger, _ *engine.PlanRequest) {
			for _, key := range units {
				l.marks[state.ParseUnit(key)] = true
			}
		}
	}
	full := func(units ...string) func(*ledger, *engine.PlanRequest) {
		return func(l *ledger, r *engine.PlanRequest) {
			l.hashes = nil
			mark(units...)(l, r)
		}
	}
	for name, c := range map[string]struct {
		after string
		edit  func(*ledger, *engine.PlanRequest)
		want  string
	}{
		"an object":                             {unitsOfAllKinds, mark("sim_thing.n[0]"), "check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, sim_thing.base, sim_thing.n[0]"},
		"an object that moves":                  {strings.Replace(unitsOfAllKinds, `"sim_thing" "n"`, `"sim_thing" "renamed"`, 1) + "moved {\n from = sim_thing.n\n to = sim_thing.renamed\n}\n", full("sim_thing.n[0]"), `check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, module.m["a"].sim_thing.x[0], module.m["a"].sim_thing.y, output o, sim_thing.base, sim_thing.renamed[0], sim_thing.two[0], sim_thing.two[1], unit values  reads sim_thing.two[1]`},
		"an object that changes":                {strings.Replace(unitsOfAllKinds, `name = "n"`, "name = \"n\"\n size = 5", 1), nil, "check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, sim_thing.base"},
		"an object that goes":                   {strings.Replace(unitsOfAllKinds, "resource \"sim_thing\" \"n\" {\n count = sim_thing.base.size\n name = \"n\"\n}\n", "", 1), mark("sim_thing.n[0]"), "check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, sim_thing.base, gone repetition sim_thing.n"},
		"an output":                             {unitsOfAllKinds, mark("output o"), "check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, output o, sim_thing.base, sim_thing.two[1], unit values  reads sim_thing.two[1]"},
		"data that waits for what was not read": {strings.Replace(unitsOfAllKinds, "{ name = sim_thing.base.name }", "{\n name = \"base\"\n depends_on = [sim_thing.two]\n}", 1), nil, "all sim_thing.two 2 rows, check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d"},
		"data that goes":                        {strings.Replace(unitsOfAllKinds, "data \"sim_lookup\" \"d\" { name = sim_thing.base.name }\n", "", 1), full(), `check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, module.m["a"].sim_thing.x[0], module.m["a"].sim_thing.y, output o, sim_thing.base, sim_thing.n[0], sim_thing.two[0], sim_thing.two[1], gone data.sim_lookup.d, unit values  reads sim_thing.two[1]`},
		"results that go":                       {unitsOfAllKinds, mark("output gone", "check check.gone", "sim_thing.two[7]"), "check check.c, check check.gone, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, output gone, sim_thing.base, sim_thing.two[1], sim_thing.two[7], gone check check.gone, gone sim_thing.two[7] of resource.sim_thing.two, gone output gone of output.gone, unit values  reads sim_thing.two[1]"},
		"conditions of an object":               {strings.Replace(unitsOfAllKinds, "size = 1\n", "size = 1\n lifecycle {\n  precondition {\n   condition = var.v > 0\n   error_message = \"It is not.\"\n  }\n }\n", 1), nil, "check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, sim_thing.base"},
		"an object that comes to wait":          {strings.Replace(unitsOfAllKinds, "count = sim_thing.base.size\n", "count = sim_thing.base.size\n depends_on = [sim_thing.two]\n", 1), nil, "all sim_thing.two 2 rows, check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, sim_thing.base, sim_thing.n[0]"},
		"ephemeral":                             {unitsOfAllKinds + "ephemeral \"sim_secret\" \"e\" {\n count = sim_thing.base.size\n name = \"e\"\n}\nlocals { opens = [ephemeral.sim_secret.e, sim_thing.n] }\n", full(), `check check.c, check module.m.check.c, check output.o, check var.v, data.sim_lookup.d, module.m["a"].sim_thing.x[0], module.m["a"].sim_thing.y, output o, sim_thing.base, sim_thing.n[0], sim_thing.two[0], sim_thing.two[1], unit values  reads sim_thing.two[1]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, got := settling(t, c.after, c.edit)
			if p.Settling != nil {
				var keys []string
				for s, rows := range p.Settling.Relied {
					key := s.Key()
					if s.Kind == state.AllInstances {
						key += fmt.Sprintf(" %d rows", len(rows))
					}
					keys = append(keys, key)
				}
				slices.Sort(keys)
				got = strings.Join(keys, ", ")
				for _, u := range p.Settling.Units {
					switch {
					case u.Gone:
						got += ", gone " + u.Unit.Key()
						if b := u.Block.String(); !strings.HasSuffix(u.Unit.Key(), b) {
							got += " of " + b
						}
					case strings.Contains(u.Unit.Addr, "ephemeral."), u.Unit.Key() == "values ":
						got += ", unit " + u.Unit.Key()
						for _, s := range u.Reads {
							got += " reads " + s.Key()
						}
					}
				}
			}
			if got != c.want {
				t.Errorf("got the rows\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
