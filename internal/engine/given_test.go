package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestGiven changes configurations that were applied and found right. The plan of what has changed is the one
// of all, and it asks the provider about objects that would be given something else, and about no others.
func TestGiven(t *testing.T) {
	t.Parallel()
	record := func(edit func(*state.Record)) func(*ledger) {
		return func(l *ledger) {
			u := state.Unit{Kind: state.InstanceUnit, Addr: "sim_thing.a"}
			r := l.records[u]
			edit(&r)
			l.records[u] = r
		}
	}
	const literal = "locals {\n n = %d\n}\n"
	thing := func(name, more string) string {
		return fmt.Sprintf("resource \"sim_thing\" %q {\n name = %q\n%s}\n", name, name, more)
	}
	// same is given the same whatever the literal is.
	const same = " size = local.n > 0 ? 1 : 0\n"
	with := func(n int, text string) string { return fmt.Sprintf(literal, n) + text }
	for _, c := range []struct {
		name  string
		first string // applied; "" for before
		// before was found right, and after is planned.
		before, after string
		files         map[string]string
		edit          func(*ledger)
		force         []string
		want          string // who is asked about
	}{
		{name: "a literal", before: with(1, thing("a", same)+thing("b", " size = local.n\n")), after: with(2, thing("a", same)+thing("b", " size = local.n\n")), want: "b"},
		{
			name: "a literal in a module", before: with(1, "module \"m\" {\n source = \"./m\"\n n = local.n\n}\n"), after: with(2, "module \"m\" {\n source = \"./m\"\n n = local.n\n}\n"),
			files: map[string]string{"m/main.tf": "variable \"n\" {}\nresource \"sim_thing\" \"same\" {\n count = 3\n name = \"same\"\n size = var.n > 0 ? 1 : 0\n}\nresource \"sim_thing\" \"other\" {\n name = \"other\"\n size = var.n\n}\n"},
			want:  "other",
		},
		{name: "an altered object", before: thing("a", " size = 1\n") + thing("b", " json = jsonencode(sim_thing.a.name)\n"), after: thing("a", " size = 2\n") + thing("b", " json = jsonencode(sim_thing.a.name)\n"), want: "a"},
		{name: "a value that is not known", before: thing("a", " size = 1\n") + thing("b", " json = sim_thing.a.serial\n"), after: thing("a", " size = 2\n") + thing("b", " json = sim_thing.a.serial\n"), want: "a b"},
		{
			name: "a trigger", want: "a b", before: thing("a", " size = 1\n") + thing("b", " lifecycle {\n replace_triggered_by = [sim_thing.a]\n }\n"),
			after: thing("a", " size = 2\n") + thing("b", " lifecycle {\n replace_triggered_by = [sim_thing.a]\n }\n"),
		},
		{
			name: "a trigger without another value", want: "a b", before: thing("a", " secret_wo = \"x\"\n secret_wo_version = 1\n") + thing("b", " lifecycle {\n replace_triggered_by = [sim_thing.a]\n }\n"),
			after: thing("a", " secret_wo = \"y\"\n secret_wo_version = 2\n") + thing("b", " lifecycle {\n replace_triggered_by = [sim_thing.a]\n }\n"),
		},
		{
			name: "changes are ignored no more", want: "a", first: thing("a", " size = 1\n"), before: thing("a", " size = 2\n lifecycle {\n ignore_changes = [size]\n }\n"),
			after: thing("a", " size = 2\n lifecycle {\n ignore_changes = [json]\n }\n"),
		},
		{
			name: "no changes are ignored", want: "a", first: thing("a", " size = 1\n"), before: thing("a", " size = 2\n lifecycle {\n ignore_changes = all\n }\n"),
			after: thing("a", " size = 2\n"),
		},
		{name: "the provider", want: "a b", before: "provider \"sim\" {\n region = \"x\"\n}\n" + thing("a", "") + thing("b", ""), after: "provider \"sim\" {\n region = \"y\"\n}\n" + thing("a", "") + thing("b", "")},
		{name: "the words of the provider", before: "provider \"sim\" {\n region = \"xy\"\n}\n" + thing("a", ""), after: "provider \"sim\" {\n region = join(\"\", [\"x\", \"y\"])\n}\n" + thing("a", "")},
		{name: "a sensitive argument of the provider", want: "a", before: "provider \"sim\" {\n token = \"x\"\n}\n" + thing("a", ""), after: "provider \"sim\" {\n token = \"y\"\n}\n" + thing("a", "")},
		{name: "a write-only argument", want: "a", before: with(1, thing("a", same+" secret_wo = \"x\"\n")), after: with(2, thing("a", same+" secret_wo = \"x\"\n"))},
		{name: "an ephemeral attribute", want: "a", before: with(1, thing("a", same+" json = jsonencode(\"x\")\n lifecycle {\n ephemeral_attributes = { json = 1 }\n }\n")), after: with(2, thing("a", same+" json = jsonencode(\"x\")\n lifecycle {\n ephemeral_attributes = { json = 1 }\n }\n"))},
		{name: "sensitive from now on", want: "a", before: thing("a", " json = jsonencode(\"x\")\n"), after: thing("a", " json = sensitive(jsonencode(\"x\"))\n")},
		{name: "the same secret", before: with(1, thing("a", same+" json = sensitive(jsonencode(\"x\"))\n")), after: with(2, thing("a", same+" json = sensitive(jsonencode(\"x\"))\n"))},
		{name: "another secret", want: "a", before: thing("a", " json = sensitive(jsonencode(\"x\"))\n"), after: thing("a", " json = sensitive(jsonencode(\"y\"))\n")},
		{name: "a requested replacement", want: "a", before: with(1, thing("a", same)), after: with(2, thing("a", same)), force: []string{"sim_thing.a"}},
		{name: "an object that was to be changed", want: "a", before: with(1, thing("a", same)), after: with(2, thing("a", same)), edit: func(l *ledger) { l.mark("sim_thing.a") }},
		{name: "a row with another version", want: "a", before: with(1, thing("a", same)), after: with(2, thing("a", same)), edit: record(func(r *state.Record) { r.Version[0]++ })},
		{
			name: "a record without a row", want: "a", before: with(1, thing("a", same)), after: with(2, thing("a", same)),
			edit: func(l *ledger) {
				u := state.Unit{Kind: state.InstanceUnit, Addr: "sim_thing.a"}
				r := l.records[u]
				l.remove("sim_thing.a")
				delete(l.marks, u)
				l.records[u] = r
			},
		},
		{name: "a row with more attributes", want: "a upgraded", before: with(1, thing("a", same)), after: with(2, thing("a", same)), edit: func(l *ledger) { l.replace(`"size": 1`, `"size": 1, "old": 2`) }},
		{name: "a row with a write-only value", want: "a", before: with(1, thing("a", same)), after: with(2, thing("a", same)), edit: func(l *ledger) { l.replace(`"secret_wo": null`, `"secret_wo": "x"`) }},
		{name: "a record without a hash", want: "a", before: with(1, thing("a", same)), after: with(2, thing("a", same)), edit: record(func(r *state.Record) { r.Given = state.Hash{} })},
		{
			name: "a condition that fails", before: with(1, thing("a", same+" lifecycle {\n precondition {\n condition = local.n == 1\n error_message = \"No.\"\n }\n }\n")),
			after: with(2, thing("a", same+" lifecycle {\n precondition {\n condition = local.n == 1\n error_message = \"No.\"\n }\n }\n")),
		},
		{
			name: "an error in a number of blocks", want: "a", before: thing("b", "") + thing("a", " dynamic \"rule\" {\n for_each = []\n content {\n port = 1\n }\n }\n"),
			after: thing("b", "") + thing("a", " dynamic \"rule\" {\n for_each = tolist([tonumber(sim_thing.b.name)])\n content {\n port = 1\n }\n }\n"),
		},
		{name: "a configuration with an error", want: "a b", before: thing("a", " size = 1\n") + thing("b", " json = jsonencode(sim_thing.a.name)\n"), after: thing("a", " size = 2\n") + thing("b", " json = tonumber(sim_thing.a.name)\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.first)
			if w.virtual = true; c.first == "" {
				w.config(c.before)
			}
			for name, text := range c.files {
				w.file(name, prelude+text)
			}
			w.ok(command{})
			w.config(c.before)
			l := newLedger(w)
			l.learn(l.moment(nil))
			w.config(c.after)
			if c.edit != nil {
				c.edit(l)
			}
			m := l.moment(nil)
			req, force := m.request(), parseAll(t, c.force, addr.ParseInstance)
			req.ForceReplace = force
			want, wantDiags := m.e.Plan(t.Context(), req)
			w.newEntries()
			got, gotDiags, work, _ := l.plan(m, force...)
			if diff := cmp.Diff(strings.Split(changesOf(want, wantDiags), "\n"), strings.Split(changesOf(got, gotDiags), "\n")); diff != "" || work.Full() != "" {
				t.Errorf("full %q, want(-) got(+):\n%s%v", work.Full(), diff, gotDiags)
			}
			for _, c := range want.Changes {
				if i := slices.IndexFunc(got.Changes, func(o *plan.Change) bool { return o.Addr == c.Addr }); c.Action == plan.NoOp && i >= 0 && !wantDiags.HasErrors() && got.Changes[i].Given != c.Given {
					t.Errorf("%s is given: got the hash %x, want %x", c.Addr, got.Changes[i].Given, c.Given)
				}
			}
			var asked []string
			for _, e := range w.newEntries() {
				if e.RPC == "PlanResourceChange" || e.RPC == "ReadResource" || e.RPC == "UpgradeResourceState" {
					name := e.Name
					if e.RPC == "UpgradeResourceState" { // a stored object in another form has no name yet
						name = "upgraded"
					}
					asked = append(asked, name)
				}
			}
			slices.Sort(asked)
			if got := strings.Join(slices.Compact(asked), " "); got != c.want {
				t.Errorf("asked about: got %q, want %q", got, c.want)
			}
		})
	}
}
