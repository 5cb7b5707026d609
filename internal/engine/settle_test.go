package engine_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// settling plans a change of a configuration that has been applied, and returns the units that an apply of
// the plan may settle, with the keys that they read. edit may change the ledger, and the request.
func settling(t *testing.T, after string, edit func(*ledger, *engine.PlanRequest)) (*plan.Plan, string) {
	t.Helper()
	w := newWorld(t, unitsOfAllKinds)
	w.virtual = true
	w.file("m/main.tf", prelude+"variable \"n\" {}\nresource \"sim_thing\" \"x\" {\n count = var.n\n name = \"x\"\n}\nresource \"sim_thing\" \"y\" { name = \"y\" }\nlocals { unread = sim_thing.y.label }\noutput \"o\" { value = sim_thing.y.label }\ncheck \"c\" {\n assert {\n  condition = sim_thing.y.label != \"\"\n  error_message = \"It is empty.\"\n }\n}\n")
	w.ok(command{})
	l := newLedger(w)
	l.learn(l.moment(nil))
	w.config(after)
	m := l.moment(nil)
	req := m.request()
	req.Scoped, req.Hashes = true, m.blockHashes()
	if edit != nil {
		edit(l, &req)
	}
	whole := &shelf{whole: m.file.State, read: map[addr.Instance]bool{}}
	work, first := changed.New(m.cfg, m.set.Components(), changed.Source{Found: l.changes(m), Records: l.answer, Fetch: whole.fetch, Rows: &atomic.Int64{}}, changed.Asked{})
	if work.Partial() {
		st, err := whole.fetch(t.Context(), first, func(addr.Instance) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		st.Outputs, st.Checks, st.Salts = m.file.State.Outputs, m.file.State.Checks, m.file.State.Salts
		req.State, req.Part, req.SkipRefresh = st, work.Part, false
	}
	req.Changed = work
	p, diags := m.e.Plan(t.Context(), req)
	w.newEntries()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if p.Settling == nil {
		return p, "nothing"
	}
	var out []string
	for _, u := range p.Settling.Units {
		line := u.Unit.Key()
		if u.Gone {
			line += " is gone"
		}
		for _, s := range u.Reads {
			line += ", " + s.Key()
			if _, is := p.Settling.Relied[s]; !is {
				t.Errorf("rows of %s: got none, want those that the plan has read", s.Key())
			}
		}
		out = append(out, line)
	}
	return p, strings.Join(out, "\n")
}

const unitsOfAllKinds = `
variable "v" {
 default = 1
 validation {
  condition = var.v > 0
  error_message = "It is not positive."
 }
}
resource "sim_thing" "base" {
 name = "base"
 size = 1
}
resource "sim_thing" "n" {
 count = sim_thing.base.size
 name = "n"
}
resource "sim_thing" "two" {
 count = 2
 name = "two-${count.index}"
}
data "sim_lookup" "d" { name = sim_thing.base.name }
locals {
 read = sim_thing.two[0].label
 unread = sim_thing.two[1].label
 plain = "x"
}
module "m" {
 source = "./m"
 for_each = sim_thing.base.size > 0 ? toset(["a"]) : toset([])
 n = sim_thing.base.size
}
check "c" {
 assert {
  condition = local.read != ""
  error_message = "It is empty."
 }
}
output "o" {
 value = sim_thing.base.label
 precondition {
  condition = sim_thing.base.size == 1
  error_message = "It is not 1."
 }
}
`

// TestSettling finds the units that a plan has evaluated: all of a full one, and those with work of another.
func TestSettling(t *testing.T) {
	t.Parallel()
	unhashed := func(l *ledger, _ *engine.PlanRequest) { l.hashes = nil }
	without := func(from string, parts ...string) string {
		for _, part := range parts {
			if !strings.Contains(from, part) {
				t.Fatalf("the configuration lacks %q", part)
			}
			from = strings.Replace(from, part, "", 1)
		}
		return from
	}
	for name, c := range map[string]struct {
		after string
		edit  func(*ledger, *engine.PlanRequest)
		want  string
	}{
		"all": {unitsOfAllKinds, func(l *ledger, r *engine.PlanRequest) {
			unhashed(l, r)
			l.marks[state.ParseUnit("check module.m")] = true
		}, `check check.c, sim_thing.two[0]
check module.m["a"].check.c, module.m["a"].sim_thing.y
check output.o, sim_thing.base
data.sim_lookup.d, sim_thing.base
repetition module.m, sim_thing.base
repetition module.m["a"].sim_thing.x, sim_thing.base
repetition sim_thing.n, sim_thing.base
values , sim_thing.two[1]
values module.m["a"], module.m["a"].sim_thing.y`},
		"nothing": {unitsOfAllKinds, nil, `data.sim_lookup.d, sim_thing.base`},
		"a value that nothing reads": {strings.Replace(unitsOfAllKinds, "unread = sim_thing.two[1]", "unread = sim_thing.two[0]", 1), nil, `data.sim_lookup.d, sim_thing.base
values , sim_thing.two[0]`},
		"a repetition": {strings.Replace(unitsOfAllKinds, "count = sim_thing.base.size", "count = sim_thing.base.size + 0", 1), nil, `data.sim_lookup.d, sim_thing.base
repetition sim_thing.n, sim_thing.base`},
		"a repetition that comes to read": {strings.Replace(unitsOfAllKinds, "count = 2\n", "count = 2 * sim_thing.base.size\n", 1), nil, `data.sim_lookup.d, sim_thing.base
repetition sim_thing.two, sim_thing.base`},
		"data that is read later": {strings.Replace(strings.Replace(unitsOfAllKinds, "{ name = sim_thing.base.name }", "{\n name = \"base\"\n hint = sim_thing.base.label\n}", 1), "size = 1\n", "size = 1\n tags = { a = \"b\" }\n", 1), func(l *ledger, r *engine.PlanRequest) { unhashed(l, r) }, `check check.c, sim_thing.two[0]
check module.m["a"].check.c, module.m["a"].sim_thing.y
check output.o, sim_thing.base
repetition module.m, sim_thing.base
repetition module.m["a"].sim_thing.x, sim_thing.base
repetition sim_thing.n, sim_thing.base
values , sim_thing.two[1]
values module.m["a"], module.m["a"].sim_thing.y`},
		"conditions of an object": {strings.Replace(unitsOfAllKinds, "size = 1\n", "size = 1\n lifecycle {\n  precondition {\n   condition = var.v > 0\n   error_message = \"It is not.\"\n  }\n }\n", 1), nil, `data.sim_lookup.d, sim_thing.base`},
		"marks on conditions of an object": {strings.Replace(unitsOfAllKinds, "size = 1\n", "size = 1\n lifecycle {\n  precondition {\n   condition = var.v > 0\n   error_message = \"It is not.\"\n  }\n }\n", 1), func(l *ledger, _ *engine.PlanRequest) {
			l.marks[state.ParseUnit("check sim_thing.base")] = true
		}, `data.sim_lookup.d, sim_thing.base`},
		"a call": {strings.Replace(unitsOfAllKinds, "n = sim_thing.base.size", "n = sim_thing.base.size + 0", 1), nil, `data.sim_lookup.d, sim_thing.base
repetition module.m["a"].sim_thing.x, sim_thing.base
values module.m["a"], module.m["a"].sim_thing.y`},
		"a new module instance": {strings.Replace(unitsOfAllKinds, `toset(["a"])`, `toset(["a", "b"])`, 1), nil, `check module.m["b"].check.c, module.m["b"].sim_thing.y
data.sim_lookup.d, sim_thing.base
repetition module.m, sim_thing.base
repetition module.m["b"].sim_thing.x, sim_thing.base
values module.m["b"], module.m["b"].sim_thing.y`},
		"a mark on a repetition": {unitsOfAllKinds, func(l *ledger, _ *engine.PlanRequest) {
			l.marks[state.Unit{Kind: state.RepetitionUnit, Addr: "sim_thing.n"}] = true
			l.marks[state.Unit{Kind: state.RepetitionUnit, Addr: "sim_thing.two"}] = true
		}, `data.sim_lookup.d, sim_thing.base
repetition sim_thing.n, sim_thing.base
repetition sim_thing.two`},
		"units that are gone": {without(unitsOfAllKinds, "output \"o\" {\n value = sim_thing.base.label\n precondition {\n  condition = sim_thing.base.size == 1\n  error_message = \"It is not 1.\"\n }\n}\n"), func(l *ledger, _ *engine.PlanRequest) {
			for _, key := range []string{
				"sim_thing.two[7]", `module.m["z"].sim_thing.y`, "repetition sim_thing.none", `repetition module.m["z"].sim_thing.x`, "repetition module.none", "output gone", "check check.gone", "check check.c", "check output.o",
				`check module.m["z"].check.c`, "check module.m.check.c", "check sim_thing.base", "check sim_thing.gone", `values module.m["z"]`, `values module.m["a"]`, "values ",
			} {
				l.marks[state.ParseUnit(key)] = true
			}
		}, `check check.c, sim_thing.two[0]
check check.gone is gone
check module.m["a"].check.c, module.m["a"].sim_thing.y
check module.m["z"].check.c is gone
check output.o is gone
check sim_thing.base is gone
check sim_thing.gone is gone
data.sim_lookup.d, sim_thing.base
module.m["z"].sim_thing.y is gone
sim_thing.two[7] is gone
output gone is gone
output o is gone
repetition module.m["a"].sim_thing.x, sim_thing.base
repetition module.m["z"].sim_thing.x is gone
repetition module.none is gone
repetition sim_thing.none is gone
values , sim_thing.two[1]
values module.m["a"], module.m["a"].sim_thing.y
values module.m["z"] is gone`},
		"a check of a module that had one instance": {unitsOfAllKinds, func(l *ledger, _ *engine.PlanRequest) {
			u := state.ParseUnit("check module.m.check.c")
			l.marks[u], l.records[u] = true, state.Record{Unit: u, Block: state.CheckBlock(u.Addr)}
		}, `check module.m.check.c is gone
check module.m["a"].check.c, module.m["a"].sim_thing.y
data.sim_lookup.d, sim_thing.base`},
		"targets": {unitsOfAllKinds, func(l *ledger, r *engine.PlanRequest) {
			unhashed(l, r)
			r.Targets = parseAll(t, []string{"sim_thing.base"}, addr.ParseTarget)
		}, "nothing"},
		"only refreshing": {unitsOfAllKinds, func(l *ledger, r *engine.PlanRequest) {
			unhashed(l, r)
			r.Mode, r.SkipRefresh = plan.RefreshOnly, false
		}, "nothing"},
		"hashes are not known": {unitsOfAllKinds, func(l *ledger, r *engine.PlanRequest) { unhashed(l, r); r.Hashes = nil }, "nothing"},
		"no scope":             {unitsOfAllKinds, func(l *ledger, r *engine.PlanRequest) { unhashed(l, r); r.Scoped = false }, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, got := settling(t, c.after, c.edit)
			if got != c.want {
				t.Errorf("got the units\n%s\nwant\n%s", got, c.want)
			}
			if p.Settling != nil && p.Settling.Full != slices.Contains([]string{"all", "data that is read later"}, name) {
				t.Errorf("got a plan with full=%v, want the other", p.Settling.Full)
			}
			if p.Settling != nil && !slices.EqualFunc(p.Scope.Hashes, p.Settling.Hashes, func(a, b state.ModuleHashes) bool { return slices.Equal(a.Blocks, b.Blocks) }) {
				t.Error("hashes of the claims: got others, want those of the configuration")
			}
		})
	}
}
