package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/state"
)

// changedPlan plans a change of a configuration that has been applied, with the scope of the change and with
// all objects, which must be the same plan. It returns the evaluated objects, those that were read, the
// records that were read, and why the plan has become a full one.
func changedPlan(t *testing.T, before, after string, files map[string]string, edit func(*ledger), force ...addr.Instance) (evaluated, read, asked int, full string) {
	t.Helper()
	w := newWorld(t, before)
	w.virtual = true
	for name, text := range files {
		w.file(name, prelude+text)
	}
	w.ok(command{})
	l := newLedger(w)
	l.learn(l.moment(nil))
	w.config(after)
	if edit != nil {
		edit(l)
	}
	m := l.moment(nil)
	req := m.request()
	req.ForceReplace = force
	want, wantDiags := m.e.Plan(t.Context(), req)
	got, gotDiags, work, rows := l.plan(m, force...)
	w.newEntries()
	if diff := cmp.Diff(strings.Split(changesOf(want, wantDiags), "\n"), strings.Split(changesOf(got, gotDiags), "\n")); diff != "" {
		t.Errorf("want(-) got(+):\n%s%v", diff, gotDiags)
	}
	if !wantDiags.HasErrors() {
		some := orderOf(t, got, false)
		for pair := range orderOf(t, want, true) {
			if !some[pair] {
				t.Errorf("got no order %s", pair)
			}
		}
	}
	if some, all := failedChecks(gotDiags), failedChecks(wantDiags); some != all {
		t.Errorf("got %d failed checks, want %d", some, all)
	}
	adopted := map[addr.Object]bool{}
	for _, c := range want.Adopted {
		adopted[c.Object] = true
	}
	for _, c := range got.Adopted {
		if !adopted[c.Object] {
			t.Errorf("got %s changed before the plan, want it as the state has it", c.Object)
		}
	}
	if x := got.Extent; want.Extent != nil || x == nil || x.Full != work.Full() || x.Partial() != work.Partial() || x.Partial() && x.Evaluated+x.New < work.Evaluated() || !x.Partial() && x.Evaluated+x.New+x.Rows > 0 {
		t.Errorf("got the extents %+v and %+v, want the numbers of objects and rows of a plan of changes, or why it is a full one", want.Extent, x)
	}
	return work.Evaluated(), len(rows.read), l.asked, work.Full()
}

func failedChecks(diags diag.List) (n int) {
	for _, d := range diags {
		if _, is := d.Extra.(diag.CheckWarning); is {
			n++
		}
	}
	return n
}

// wide is a base object with twenty dependents, and n instances of a module that have nothing to do with it.
func wide(n, size int) string {
	return fmt.Sprintf(`
resource "sim_thing" "base" {
 name = "base"
 size = %[1]d
}
resource "sim_thing" "user" {
 count = 20
 name = "user-${count.index}"
 json = sim_thing.base.serial
}
resource "sim_thing" "one" {
 count = 4
 name = "one-${count.index}"
 size = count.index == 0 ? %[1]d : 1
}
resource "sim_thing" "keyed" {
 count = 40
 name = "keyed-${count.index}"
 json = sim_thing.one[count.index %% 4].serial
}
module "far" {
 source = "./far"
 for_each = toset([for i in range(%[2]d) : "k${i}"])
 name = each.key
}
`, size, n)
}

var far = map[string]string{"far/main.tf": "variable \"name\" {}\nresource \"sim_thing\" \"x\" { name = var.name }\nresource \"sim_thing\" \"y\" { name = sim_thing.x.label }\n"}

// TestChangedReads reads as much of a state as of one that is twice as large: nothing if nothing has changed,
// and the readers of a changed object.
func TestChangedReads(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2} {
		var counts [][3]int
		for _, n := range []int{10, 20} {
			evaluated, read, asked, full := changedPlan(t, wide(n, 1), wide(n, size), far, nil)
			if full != "" {
				t.Errorf("got a full plan, as %s, want none", full)
			}
			counts = append(counts, [3]int{evaluated, read, asked})
		}
		want := [3]int{}
		if size == 2 {
			want = [3]int{35, 35, 35} // the base object with 20 readers, and a block of 4 with 10 readers of one of these
		}
		if counts[0] != want || counts[1] != want {
			t.Errorf("size %d: evaluated, read, records: got %v, want %v each", size, counts, want)
		}
	}
}

// TestChangedCases plans changes of each kind, and says which of them take a full plan.
func TestChangedCases(t *testing.T) {
	t.Parallel()
	const a = "resource \"sim_thing\" \"a\" {\n name = \"a\"\n size = 1\n}\n"
	b := func(more string) string {
		return "resource \"sim_thing\" \"b\" {\n name = sim_thing.a.label\n" + more + "}\n"
	}
	const outs = "module \"m\" {\n source = \"./m\"\n for_each = toset([%s])\n}\nresource \"sim_thing\" \"u\" {\n name = \"u\"\n json = jsonencode([for m in module.m : m.o])\n}\n"
	chain := func(n int) string {
		return fmt.Sprintf("resource \"sim_thing\" \"a\" {\n count = %d\n name = \"a\"\n}\n", n) +
			"resource \"sim_thing\" \"b1\" {\n name = \"b1\"\n json = jsonencode(try(sim_thing.a[0].label, \"a\"))\n}\nresource \"sim_thing\" \"b2\" {\n name = \"b2\"\n json = jsonencode(sim_thing.b1.label)\n}\n" +
			fmt.Sprintf("resource \"sim_thing\" \"c\" {\n count = %d\n name = \"c\"\n json = jsonencode(sim_thing.b2.label)\n}\n", n)
	}
	awaited := func(size int) string {
		return fmt.Sprintf("locals {\n size = %d\n}\nresource \"sim_thing\" \"a\" {\n name = \"a\"\n size = local.size\n}\n", size) +
			"resource \"sim_thing\" \"u\" {\n name = \"u\"\n json = sim_thing.a.serial\n}\nmodule \"m\" {\n source = \"./m\"\n depends_on = [sim_thing.u]\n}\n"
	}
	waits := "module \"m\" {\n source = \"./m\"\n depends_on = [sim_thing.a]\n}\n"
	for _, c := range []struct {
		name, before, after string
		files               map[string]string
		edit                func(*ledger)
		force               string
		evaluated           int
		full                string // how the reason begins
	}{
		{name: "nothing", before: a + b(""), after: a + b("")},
		{name: "a literal", before: a + b(""), after: strings.Replace(a, "= 1", "= 2", 1) + b(""), evaluated: 2},
		{name: "a new block", before: a, after: a + b(""), evaluated: 1},
		{name: "a block that goes", before: a + b(""), after: a},
		{name: "a forced replacement", before: a + b(""), after: a + b(""), force: "sim_thing.a", evaluated: 2},
		{name: "an object that is gone", before: a + b(""), after: a + b(""), evaluated: 2, edit: func(l *ledger) { l.remove("sim_thing.a") }},
		{name: "a move", before: a, after: strings.Replace(a, `"a"`, `"z"`, 1) + "moved {\n from = sim_thing.a\n to = sim_thing.z\n}\n", full: "objects move"},
		{name: "an implied move", before: a, after: strings.Replace(a, "{", "{\n count = 1", 1), full: "objects move"},
		{name: "an import block", before: a, after: a + "import {\n to = sim_thing.a\n id = \"x\"\n}\n", full: "there are import blocks"},
		{name: "no record of all", before: a, after: a, full: "no full plan", edit: func(l *ledger) { l.hashes = nil }},
		{
			name: "a dependent that is created before it is destroyed", full: "an object is replaced", before: a + b(" lifecycle { create_before_destroy = true }\n"),
			after: strings.Replace(a, "= 1", "= 1\n replace_me = \"x\"", 1) + b(" lifecycle { create_before_destroy = true }\n"),
		},
		{name: "an update below one that is created first", before: a + b(" lifecycle { create_before_destroy = true }\n"), after: strings.Replace(a, "= 1", "= 2", 1) + b(" lifecycle { create_before_destroy = true }\n"), evaluated: 2},
		{
			name: "data in a module that waits", full: "data is read", before: a + waits, after: strings.Replace(a, "= 1", "= 2", 1) + waits,
			files: map[string]string{"m/main.tf": "data \"sim_lookup\" \"d\" { name = \"a\" }\n"},
		},
		{
			name: "data that waits for a module", full: "data is read", before: a + "module \"m\" { source = \"./m\" }\ndata \"sim_lookup\" \"d\" {\n name = \"y\"\n depends_on = [module.m]\n}\n",
			after: strings.Replace(a, "= 1", "= 2", 1) + "module \"m\" { source = \"./m\" }\ndata \"sim_lookup\" \"d\" {\n name = \"y\"\n depends_on = [module.m]\n}\n",
			files: map[string]string{"m/main.tf": "resource \"sim_thing\" \"y\" { name = \"y\" }\n"},
		},
		{name: "keys of a module without objects", before: fmt.Sprintf(outs, `"x"`), after: fmt.Sprintf(outs, `"x", "y"`), files: map[string]string{"m/main.tf": "output \"o\" { value = 1 }\n"}, evaluated: 1},
		{
			name: "an instance that goes, beside one that is read", before: counted(2), after: counted(1),
			edit: func(l *ledger) {
				l.mark("sim_thing.n[1]")
				m := l.moment(nil)
				maps.Copy(l.hashes, m.hashes()) // a run has begun to destroy it, and found all else right
				l.records[state.UnitOf(parseAll(t, []string{"sim_thing.n[1]"}, addr.ParseInstance)[0])] = state.Record{Unit: state.Unit{Kind: state.InstanceUnit, Addr: "sim_thing.n[1]"}, Block: state.Block{Name: "resource.sim_thing.n"}}
				l.mark("sim_thing.reader")
			},
			evaluated: 1,
		},
		{name: "ends of a chain that go", before: chain(1), after: chain(0), evaluated: 1},
		{
			name: "objects of a block that refer to each other", before: ring(1), after: ring(2), evaluated: 2,
			edit: func(l *ledger) { l.mark(`module.m["x"].sim_thing.y`) }, files: map[string]string{"m/main.tf": "variable \"in\" {}\nresource \"sim_thing\" \"y\" { name = var.in }\noutput \"o\" { value = sim_thing.y.label }\n"},
		},
		{
			name: "an object that a module with work waits for", before: awaited(1), after: awaited(2), evaluated: 3,
			edit: func(l *ledger) { l.mark("module.m.sim_thing.y") }, files: map[string]string{"m/main.tf": "resource \"sim_thing\" \"y\" { name = \"y\" }\n"},
		},
		{
			name: "another index", evaluated: 2, // no record has what is read now
			before: "resource \"sim_thing\" \"n\" {\n count = 2\n name = \"n${count.index}\"\n}\n" + strings.Replace(a, "= 1", "= 0", 1) + indexed, after: "resource \"sim_thing\" \"n\" {\n count = 2\n name = \"n${count.index}\"\n}\n" + a + indexed,
		},
		{
			name: "an instance that goes, and a dependent that is created before it is destroyed", full: "an object is replaced",
			before: counted(2) + cautious, after: counted(1) + cautious,
		},
		{
			name: "an instance of a module that goes, and such a dependent", full: "an object is replaced",
			before: strings.Replace(members, "[1]", "[1, 2]", 1) + strings.Replace(cautious, "sim_thing.n", "module.m", 1), after: members + strings.Replace(cautious, "sim_thing.n", "module.m", 1),
			files: map[string]string{"m/main.tf": "resource \"sim_thing\" \"y\" { name = \"y\" }\n"},
		},
		{
			name: "a block that goes, with a provider that is made from an object", before: configured + "resource \"sim_thing\" \"x\" {\n name = \"x\"\n provider = sim.o\n}\n", after: configured,
		},
		{
			name: "an instance that goes, with another name of its provider", before: strings.Replace(members, "[1]", "[1, 2]", 1), after: members,
			files: map[string]string{"m/main.tf": "resource \"sim_thing\" \"y\" { name = \"y\" }\n"},
			edit:  func(l *ledger) { l.replace(`test/sim\"]`, `test/sim\"].gone`) },
		},
		{name: "a row with more attributes that is read", before: tagged(1), after: tagged(2), evaluated: 2, edit: func(l *ledger) { l.replace(`"size": 1,`, `"size": 1, "old": 2,`) }},
		{
			name: "a row that is missing without a mark", before: a + b(" size = 1\n") + reading, after: a + b(" size = 2\n") + reading, full: "sim_thing.",
			edit: func(l *ledger) {
				l.remove("sim_thing.a")
				clear(l.marks)
			},
		},
		{
			name: "data with another result", before: found, after: found, evaluated: 1,
			edit: func(l *ledger) {
				l.replace(`"serial": 1`, `"serial": 7`)
				l.replace(`"value": 1`, `"value": 7`)
			},
		},
		{
			name: "an error at a level, and work at the next one", before: a + failing(1) + b(" depends_on = [sim_thing.f]\n"), after: a + failing(2) + b(" depends_on = [sim_thing.f]\n size = 2\n"),
		},
		{name: "a trigger of an action that reads another object", before: a + invoked("n", 1), after: a + invoked("n", 2), evaluated: 1},
		{name: "an action", before: a + invoked("n", 1), after: a + invoked("m", 1)},
		{name: "a check", before: a + check(1), after: a + check(2)},
		{name: "a variable with a condition", before: guarded("ok"), after: guarded("bad"), files: map[string]string{"m/main.tf": "variable \"in\" {\n validation {\n  condition = var.in == \"ok\"\n  error_message = \"Not ok.\"\n }\n}\n"}},
		{name: "an error in a value that nothing reads", before: a + "locals {\n x = 1\n}\n", after: a + "locals {\n x = regex(\"b\", sim_thing.a.name)\n}\n"},
		{name: "an output that goes", before: a + "output \"o\" { value = sim_thing.a.label }\n", after: a},
		{name: "an output", before: a + "output \"o\" { value = sim_thing.a.label }\n", after: a + "output \"o\" { value = [sim_thing.a.label] }\n"},
		{
			name: "an ephemeral resource with a condition", before: a + "ephemeral \"sim_token\" \"e\" {\n name = \"e\"\n lifecycle {\n  postcondition {\n   condition = self.name == \"e\"\n   error_message = \"No.\"\n  }\n }\n}\n",
			after: a + "ephemeral \"sim_token\" \"e\" {\n name = \"e\"\n lifecycle {\n  postcondition {\n   condition = self.name == \"f\"\n   error_message = \"No.\"\n  }\n }\n}\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var force []addr.Instance
			if c.force != "" {
				force = parseAll(t, []string{c.force}, addr.ParseInstance)
			}
			evaluated, _, _, full := changedPlan(t, c.before, c.after, c.files, c.edit, force...)
			if (c.full == "") != (full == "") || !strings.HasPrefix(full, c.full) || full == "" && evaluated != c.evaluated {
				t.Errorf("evaluated: got %d and a full plan as %q, want %d and %q", evaluated, full, c.evaluated, c.full)
			}
		})
	}
}

const (
	// indexed reads an instance that another object names.
	indexed = "resource \"sim_thing\" \"i\" { name = sim_thing.n[sim_thing.a.size].label }\n"
	// cautious depends on all instances of counted, and is created before it is destroyed.
	cautious = "resource \"sim_thing\" \"c\" {\n name = \"c\"\n depends_on = [sim_thing.n]\n lifecycle { create_before_destroy = true }\n}\n"
	// configured is a provider that is configured from an object.
	configured = "resource \"sim_thing\" \"k\" { name = \"k\" }\nprovider \"sim\" {}\nprovider \"sim\" {\n alias = \"o\"\n prefix = sim_thing.k.label\n}\n"
	members    = "module \"m\" {\n source = \"./m\"\n for_each = toset([for i in [1] : \"k${i}\"])\n}\n"
	reading    = "resource \"sim_thing\" \"r\" {\n name = \"r\"\n json = sim_thing.a.serial\n}\n"
	found      = "resource \"sim_thing\" \"a\" { name = \"a\" }\ndata \"sim_lookup\" \"d\" {\n name = sim_thing.a.name\n depends_on = [sim_thing.a]\n}\noutput \"o\" { value = data.sim_lookup.d.serial }\n"
)

// tagged is an object that reads the tags of another one.
func tagged(size int) string {
	return fmt.Sprintf("resource \"sim_thing\" \"t\" {\n name = \"t\"\n size = 1\n tags = { x = \"1\" }\n}\nresource \"sim_thing\" \"u\" {\n name = \"u\"\n json = jsonencode([sim_thing.t.tags, %d])\n}\n", size)
}

func failing(n int) string {
	return fmt.Sprintf("resource \"sim_thing\" \"f\" {\n name = \"f\"\n lifecycle {\n precondition {\n condition = sim_thing.a.size == %d\n error_message = \"No.\"\n }\n }\n}\n", n)
}

// invoked is an object whose changes invoke an action that reads another one.
func invoked(name string, size int) string {
	return fmt.Sprintf("action \"sim_note\" \"n\" {\n config {\n name = %q\n text = sim_thing.a.label\n }\n}\n", name) +
		fmt.Sprintf("resource \"sim_thing\" \"v\" {\n name = \"v\"\n size = %d\n lifecycle {\n action_trigger {\n events = [after_update]\n actions = [action.sim_note.n]\n }\n }\n}\n", size)
}

// ring is a module with an instance that uses another one.
func ring(n int) string {
	return fmt.Sprintf("module \"m\" {\n source = \"./m\"\n for_each = toset([\"x\", \"y\"])\n in = try(module.m[each.key == \"x\" ? \"none\" : \"x\"].o, \"n%d\")\n}\n", n)
}

func counted(n int) string {
	return fmt.Sprintf("resource \"sim_thing\" \"n\" {\n count = %d\n name = \"n${count.index}\"\n}\nresource \"sim_thing\" \"reader\" { name = sim_thing.n[0].label }\n", n)
}

func check(n int) string {
	return fmt.Sprintf("check \"c\" {\n assert {\n  condition = sim_thing.a.size == %d\n  error_message = \"Not so.\"\n }\n}\n", n)
}

func guarded(in string) string {
	return fmt.Sprintf("module \"m\" {\n source = \"./m\"\n in = %q\n}\n", in)
}

// TestChangedForm plans an object whose value is demanded and that the state has in an older form.
func TestChangedForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tagged(1))
	w.virtual = true
	w.ok(command{})
	l := newLedger(w)
	l.learn(l.moment(nil))
	w.config(tagged(2))
	l.replace(`"schema_version": 1`, `"schema_version": 0`)
	if p, diags, work, _ := l.plan(l.moment(nil)); diags.HasErrors() || !work.Partial() || len(p.Changes) != 2 || work.Evaluated() != 2 {
		t.Errorf("got %d changes and %d evaluated objects, %v, want both objects planned", len(p.Changes), work.Evaluated(), diags)
	}
}

// TestChangedValidates validates the resources that have changed, and all of them when they are needed.
func TestChangedValidates(t *testing.T) {
	t.Parallel()
	const text = "resource \"sim_thing\" \"a\" {\n name = \"a\"\n size = %d\n}\nresource \"sim_thing\" \"b\" {\n name = \"b\"\n}\n"
	w := newWorld(t, fmt.Sprintf(text, 1))
	w.virtual = true
	w.ok(command{})
	l := newLedger(w)
	l.learn(l.moment(nil))
	w.config(fmt.Sprintf(text, 2))
	w.newEntries()
	m := l.moment(nil)
	asked := func() (names []string) {
		for _, e := range w.newEntries() {
			if e.RPC == "ValidateResourceConfig" && e.Phase == simlog.Begin {
				names = append(names, e.Name)
			}
		}
		return names
	}
	if _, diags, work, _ := l.plan(m); diags.HasErrors() || !work.Partial() {
		t.Fatalf("got %v and the reason %q, want a plan of a change", diags, work.Full())
	}
	if got := asked(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("a plan of a change: got %q validated, want a", got)
	}
	for _, want := range [][]string{{"b"}, nil} { // a is known to be accepted
		if diags := m.e.Validate(t.Context(), m.cfg); len(diags) > 0 {
			t.Fatal(diags)
		}
		if got := asked(); !slices.Equal(got, want) {
			t.Errorf("all: got %q validated, want %q", got, want)
		}
	}
	before := m.e.Stats().Evaluations
	if m.e.Validate(t.Context(), m.cfg); m.e.Stats().Evaluations != before {
		t.Errorf("got %d evaluations, want none of what was validated", m.e.Stats().Evaluations-before)
	}
}
