package changed

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

const root = `
resource "t" "a" {}
resource "t" "b" { name = t.a.id }
resource "t" "c" { name = t.b.id }
resource "t" "many" {
  count = 2
  name  = t.a.id
}
module "m" {
  source   = "./m"
  for_each = { x = 1, y = 2 }
  v        = t.a.id
}
module "other" {
  source = "./m"
  v      = "v"
}
locals { all = [for m in module.m : m.o] }
resource "t" "through" { name = local.all }
resource "t" "apart" { name = module.other.o }
resource "t" "user" {
  name = module.m["x"].o
  lifecycle {
    postcondition {
      condition     = self.id != ""
      error_message = "No."
    }
  }
}
ephemeral "t" "plain" {}
ephemeral "t" "e" {
  name = t.b.id
  lifecycle {
    postcondition {
      condition     = self.id != ""
      error_message = "No."
    }
  }
}
output "o" { value = t.c.id }
output "p" { value = [for m in module.m : m.o] }
check "c" {
  assert {
    condition     = t.b.id != ""
    error_message = "No."
  }
}
`

const inner = `
variable "v" {}
resource "t" "i" { name = var.v }
resource "t" "j" { count = 1 }
output "o" { value = t.i.id }
`

// settled are the records of the configuration.
var settled = [][]string{
	{"t.a", "resource.t.a"},
	{"t.b", "resource.t.b", "t.a"},
	{"t.c", "resource.t.c", "t.b"},
	{"t.many[0]", "resource.t.many", "t.a"},
	{"t.many[1]", "resource.t.many", "t.a"},
	{`module.m["x"].t.i`, "module.m.resource.t.i", "t.a"},
	{`module.m["y"].t.i`, "module.m.resource.t.i", "t.a"},
	{`module.m["x"].t.j[0]`, "module.m.resource.t.j"},
	{`module.m["y"].t.j[0]`, "module.m.resource.t.j"},
	{"t.user", "resource.t.user", `module.m["x"].t.i`},
	{"output o", "output.o", "t.c"},
	{"output p", "output.p", "all module.m.t.i everywhere"},
	{"check check.c", "check.c", "t.b"},
}

func with(more ...[]string) [][]string { return append(slices.Clone(settled), more...) }

func without(units ...string) [][]string {
	return slices.DeleteFunc(slices.Clone(settled), func(r []string) bool { return slices.Contains(units, r[0]) })
}

// TestPlan has a ledger say what is due, and lists the instances that are planned, level by level, then the
// checks and outputs, and the resources whose objects may be gone.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name string
		l    ledger
		want string
	}{
		{"nothing", ledger{}, "ephemeral.t.e / gone ephemeral.t.e"},
		{"a mark", ledger{due: []string{"t.a"}}, "t.a / ephemeral.t.e / gone t.a ephemeral.t.e"},
		{"an altered object", ledger{due: []string{"t.a"}, altered: []string{"t.a"}}, `t.a / t.b t.many[0] t.many[1] / ephemeral.t.e module.m["x"].t.i module.m["y"].t.i / gone t.a t.b t.many ephemeral.t.e module.m["x"].t.i module.m["y"].t.i`},
		{"altered objects", ledger{due: []string{"t.a"}, altered: []string{"t.a", "t.b", `module.m["x"].t.i`, "t.c"}}, `t.a / t.b t.many[0] t.many[1] / t.c ephemeral.t.e module.m["x"].t.i module.m["y"].t.i / t.user / late check.c output.o output.p gone t.a t.b t.c t.many t.user ephemeral.t.e module.m["x"].t.i module.m["y"].t.i`},
		{"a block", ledger{blocks: []string{"resource.t.b"}}, "t.b / ephemeral.t.e / gone t.b ephemeral.t.e"},
		{"a block with units that are gone", ledger{blocks: []string{"resource.t.many"}, records: with([]string{"t.many[2]", "resource.t.many", "t.a"}, []string{"t.gone", "resource.t.gone"}, []string{"t.c", "resource.t.c", "t.many[2]"})}, "t.many[0] t.many[1] / t.c ephemeral.t.e / gone t.c t.many ephemeral.t.e"},
		{"records of a block can't be read", ledger{blocks: []string{"resource.t.b"}, fails: "records"}, "error: Lost."},
		{"a repetition in one of two modules", ledger{due: []string{`repetition module.m["x"].t.j`}, records: with([]string{`module.m["y"].t.j[1]`, "module.m.resource.t.j"}, []string{"t.c", "resource.t.c", `module.m["y"].t.j[1]`})}, `ephemeral.t.e module.m["x"].t.j[0] / gone ephemeral.t.e module.m["x"].t.j`},
		{"a call beside an instance without a record", ledger{due: []string{"repetition module.m", "t.many[1]"}, records: without("t.many[1]")}, "/ t.many[1] / ephemeral.t.e / t.user / t.through / late output.p gone t.many t.through t.user ephemeral.t.e"},
		{"a call with instances that are due", ledger{due: []string{"repetition module.m", `module.m["y"].t.i`, `module.m["y"].t.j[0]`}, records: without(`module.m["y"].t.i`, `module.m["y"].t.j[0]`)}, `/ ephemeral.t.e module.m["y"].t.i module.m["y"].t.j[0] / t.user / t.through / late output.p gone t.through t.user ephemeral.t.e module.m["y"].t.i module.m["y"].t.j`},
		{"values of two modules", ledger{due: []string{`check module.m["x"].output.o`, "output o"}}, `ephemeral.t.e / late output.o module.m["x"].output.o gone ephemeral.t.e`},
		{"a new module instance, and values of another one", ledger{due: []string{`check module.m["x"].var.v`}, blocks: []string{"module.m"}, records: without(`module.m["y"].t.i`, `module.m["y"].t.j[0]`)}, `/ ephemeral.t.e module.m["y"].t.i module.m["y"].t.j[0] / t.user / t.through / late output.p module.m["x"].var.v module.m["y"].check.c module.m["y"].output.o module.m["y"].output.p module.m["y"].var.v gone t.through t.user ephemeral.t.e module.m["y"].t.i module.m["y"].t.j`},
		{"a block that is gone", ledger{blocks: []string{"resource.t.gone"}, records: with([]string{"t.gone", "resource.t.gone"}, []string{"t.d", "resource.t.b", "t.gone"})}, "ephemeral.t.e / gone t.d t.gone ephemeral.t.e"},
		{"readers of one that is gone", ledger{blocks: []string{"resource.t.gone"}, records: with([]string{"t.gone", "resource.t.gone"}, []string{"t.more", "resource.t.more", "t.gone"}, []string{"t.c", "resource.t.c", "t.more"})}, "t.c ephemeral.t.e / gone t.c t.gone t.more ephemeral.t.e"},
		{"an instance that goes", ledger{due: []string{"t.many[2]"}, records: with([]string{"t.many[2]", "resource.t.many", "t.a"}, []string{"t.c", "resource.t.c", "all t.many"})}, "/ t.c ephemeral.t.e / gone t.c t.many ephemeral.t.e"},
		{"an instance without a record", ledger{due: []string{"t.many[1]", "t.many[7]"}, records: without("t.many[1]")}, "t.many[1] / ephemeral.t.e / gone t.many ephemeral.t.e"},
		{"a repetition", ledger{due: []string{"repetition t.many"}}, "t.many[0] t.many[1] / ephemeral.t.e / gone t.many ephemeral.t.e"},
		{"a repetition in a module", ledger{due: []string{`repetition module.m["x"].t.j`}}, `ephemeral.t.e module.m["x"].t.j[0] / gone ephemeral.t.e module.m["x"].t.j`},
		{"a call", ledger{due: []string{"repetition module.m"}}, "/ ephemeral.t.e / t.user / t.through / late output.p gone t.through t.user ephemeral.t.e"},
		{"a new module instance", ledger{blocks: []string{"module.m"}, records: without(`module.m["y"].t.i`, `module.m["y"].t.j[0]`)}, `/ ephemeral.t.e module.m["y"].t.i module.m["y"].t.j[0] / t.user / t.through / late output.p module.m["y"].check.c module.m["y"].output.o module.m["y"].output.p module.m["y"].var.v gone t.through t.user ephemeral.t.e module.m["y"].t.i module.m["y"].t.j`},
		{"a module instance that goes", ledger{blocks: []string{"module.m"}, records: with([]string{`module.m["z"].t.i`, "module.m.resource.t.i", "t.a"})}, `/ ephemeral.t.e / t.user / t.through / late output.p gone t.through t.user ephemeral.t.e module.m["z"].t.i`},
		{"an output", ledger{due: []string{"output o"}}, "ephemeral.t.e / late output.o gone ephemeral.t.e"},
		{"an output by its block", ledger{blocks: []string{"output.p"}}, "ephemeral.t.e / late output.p gone ephemeral.t.e"},
		{"a check", ledger{due: []string{"check check.c"}}, "ephemeral.t.e / late check.c gone ephemeral.t.e"},
		{"conditions of a resource", ledger{due: []string{"check t.many"}}, "t.many[0] t.many[1] / ephemeral.t.e / gone t.many ephemeral.t.e"},
		{"conditions of a variable", ledger{due: []string{`check module.m["x"].var.v`}}, `ephemeral.t.e / late module.m["x"].var.v gone ephemeral.t.e`},
		{"conditions of all", ledger{due: []string{"check module.m.var.v"}}, `ephemeral.t.e / late module.m["x"].var.v module.m["y"].var.v gone ephemeral.t.e`},
		{"values of a module instance without their record", ledger{due: []string{`values module.m["y"]`}}, `ephemeral.t.e / late module.m["y"].check.c module.m["y"].output.o module.m["y"].output.p module.m["y"].var.v gone ephemeral.t.e`},
		{"values", ledger{due: []string{`values module.m["y"]`}, records: with([]string{`values module.m["y"]`, "module.m.values"})}, `ephemeral.t.e / late module.m["y"].output.o module.m["y"].output.p module.m["y"].var.v gone ephemeral.t.e`},
		{"values of the root module", ledger{due: []string{"values "}}, "ephemeral.t.e / late output.o output.p var.v gone ephemeral.t.e"},
		{"values by their block", ledger{blocks: []string{"module.m.values"}}, `ephemeral.t.e / late module.m["x"].output.o module.m["x"].output.p module.m["x"].var.v module.m["y"].output.o module.m["y"].output.p module.m["y"].var.v gone ephemeral.t.e`},
		{"a forced replacement", ledger{force: []string{"t.c"}}, "t.c ephemeral.t.e / gone t.c ephemeral.t.e"},
		{"the ephemeral resource", ledger{blocks: []string{"ephemeral.t.e"}}, "ephemeral.t.e / gone ephemeral.t.e"},
		{"units that were planned already", ledger{blocks: []string{"resource.t.b"}, altered: []string{"t.b"}, records: [][]string{{"t.b", "resource.t.b", "t.b"}, {"check t.b", "resource.t.b", "t.b"}}}, "t.b / ephemeral.t.e / gone t.b ephemeral.t.e"},
		{"a block that is altered too late", ledger{due: []string{"t.c"}, altered: []string{"t.c"}, records: with([]string{"check t.a", "resource.t.a", "t.c"})}, "full: t.a was evaluated last from objects that are planned after it now"},
		{"a block in a module that is altered too late", ledger{due: []string{"t.user"}, altered: []string{"t.user"}, records: with([]string{`module.m["x"].t.j[0]`, "module.m.resource.t.j", "t.user"})}, "full: module.m.t.j was evaluated last from objects that are planned after it now"},
		{"a call that is altered too late", ledger{due: []string{"t.user"}, altered: []string{"t.user"}, records: with([]string{"repetition module.m", "module.m", "t.user"})}, "full: module.m was evaluated last from objects that are planned after it now"},
		{"planning fails", ledger{due: []string{"t.a"}, altered: []string{"t.a"}, fails: "planning"}, "failed"},
		{"records can't be read", ledger{blocks: []string{"resource.t.gone"}, fails: "records"}, "error: Lost."},
		{"rows can't be read", ledger{due: []string{"t.b"}, fails: "rows"}, "error: Lost."},
		{"an instance that can't be read", ledger{due: []string{"t.a[", "t.b"}}, "full: the record of t.a[ can't be read"},
		{"a repetition that can't be read", ledger{due: []string{"repetition t.a["}}, "full: the record of t.a[ can't be read"},
		{"a check that can't be read", ledger{due: []string{"check t.a["}}, "full: the record of t.a[ can't be read"},
		{"a check that names a module", ledger{due: []string{"check module.m"}}, "full: the record of module.m can't be read"},
		{"values that can't be read", ledger{due: []string{"values module.m["}}, "full: the record of module.m[ can't be read"},
		{"no full plan", ledger{incomplete: true}, "full: no full plan has been applied with this scope yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.l.records == nil {
				c.l.records = settled
			}
			p := newPlanning(t, &c.l, root, inner)
			p.plan()
			if got := p.outcome(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestFirstPart reads the units that are due, those of blocks that differ, and what is to be replaced by
// request; with a full plan, it reads all.
func TestFirstPart(t *testing.T) {
	keys := func(p *planning) string {
		var out []string
		for _, s := range p.first.Subjects {
			out = append(out, s.Key())
		}
		return strings.Join(out, ", ")
	}
	l := &ledger{due: []string{"t.a", "output o"}, blocks: []string{"module.m.resource.t.i", "output.o", "resource.t.gone", "ephemeral.t.e"}, force: []string{"t.c"}}
	p := newPlanning(t, l, root, inner)
	if got, want := keys(p), "t.a, all module.m.t.i everywhere, t.c"; got != want {
		t.Errorf("got %s read first, want %s", got, want)
	}
	p = newPlanning(t, l, root+"import {\n  to = t.a\n  id = \"a\"\n}\n", inner)
	if got, want := keys(p), ""; got != want || p.w.Full() != "there are import blocks" || p.w.Partial() {
		t.Errorf("got %q read first as %q, want all as there are import blocks", got, p.w.Full())
	}
	if p = newPlanning(t, l, root+"resource \"t\" \"mine\" {\n  lifecycle { ephemeral_attributes = [made] }\n}\n", inner); p.w.Full() != "which objects have values that are made of computed ones which are not stored takes all objects to find out" {
		t.Errorf("got a full plan as %q, want one as there are computed values", p.w.Full())
	}
	if p = newPlanning(t, l, root+"moved {\n  from = t.z\n  to = t.a\n}\n", inner); len(p.first.Targets) != 1 {
		t.Errorf("got the targets %v, want the former address", p.first.Targets)
	}
}

// TestReads reads what an instance was evaluated from, and what is gone.
func TestReads(t *testing.T) {
	l := &ledger{
		due: []string{"t.c", "t.many[2]", `repetition module.m["x"].t.j`}, blocks: []string{"resource.t.b"},
		records: with([]string{"t.c", "resource.t.c", "all t.many", "all module.m.t.i everywhere", `all t.i within module.m["x"]`, "output o", `t.u["a b"]`, "t.b"}, []string{"t.many[2]", "resource.t.many"}),
	}
	l.records = slices.DeleteFunc(l.records, func(r []string) bool { return r[0] == "t.c" && len(r) == 3 })
	p := newPlanning(t, l, root, inner)
	p.plan()
	slices.Sort(p.read)
	want := []string{"all module.m.t.i everywhere", `all module.m["x"].t.j`, `all t.i within module.m["x"]`, "all t.many", "t.a", `t.u["a b"]`}
	if !slices.Equal(p.read, want) {
		t.Errorf("got %q read, want %q", p.read, want)
	}
	if p.w.Rows() != 0 || p.w.Evaluated() != 4 {
		t.Errorf("got %d rows and %d evaluated, want 0 and 4", p.w.Rows(), p.w.Evaluated())
	}
}

// TestReadsLate reads at once the objects that values and checks refer to which are evaluated at the end.
func TestReadsLate(t *testing.T) {
	before, rest, _ := strings.Cut(root, "ephemeral") // these would be opened each time
	_, after, _ := strings.Cut(rest, "output \"o\"")
	plain := before + "output \"o\"" + after
	for _, c := range []struct{ due, want []string }{
		{[]string{"output o"}, []string{"t.c"}},
		{[]string{"check check.c"}, []string{"t.b"}},
		{[]string{"output o", "output p", "check check.c"}, []string{"all module.m.t.i everywhere", "t.b", "t.c"}},
		{[]string{`check module.m["x"].var.v`}, []string{"t.a"}},
	} {
		p := newPlanning(t, &ledger{due: c.due, records: settled}, plain, inner)
		p.plan()
		if slices.Sort(p.read); !slices.Equal(p.read, c.want) {
			t.Errorf("%q: got %q read, want %q", c.due, p.read, c.want)
		}
	}
	p := newPlanning(t, &ledger{due: []string{"output o"}, records: settled, fails: "rows"}, plain, inner)
	if p.plan(); p.ok || !p.run.Diags.HasErrors() {
		t.Errorf("got ok=%v and %v, want an error in reading the rows", p.ok, p.run.Diags.List())
	}
	p = newPlanning(t, &ledger{due: []string{"t.a", "output p"}, records: settled, fails: "planning"}, plain, inner)
	if p.plan(); len(p.read) > 0 {
		t.Errorf("got %q read by a plan that has failed, want nothing", p.read)
	}
}

// TestReadsGone reads objects of a module instance that is gone.
func TestReadsGone(t *testing.T) {
	p := newPlanning(t, &ledger{due: []string{"repetition module.m"}, records: with([]string{`module.m["z"].t.i`, "module.m.resource.t.i"})}, root, inner)
	p.plan()
	if !slices.Contains(p.read, `module.m["z"].t.i`) {
		t.Errorf("got %q read, want also the object that is gone", p.read)
	}
	if got := p.w.attempt.unread; len(got) > 0 {
		t.Errorf("got %v to be read, want none that was not read", got)
	}
}

// TestNested finds the instances in modules that a new module instance calls, and those that are gone.
func TestNested(t *testing.T) {
	calls := strings.Replace(inner, `"t" "j" { count = 1 }`, `"t" "d" { depends_on = [module.n] }`, 1) + "module \"n\" { source = \"./n\" }\n"
	records := [][]string{{`module.m["x"].t.i`, "module.m.resource.t.i"}, {`module.m["z"].module.n.t.k`, "module.m.module.n.resource.t.k"}}
	p := newPlanning(t, &ledger{due: []string{"repetition module.m"}, records: records}, root, calls)
	p.plan()
	if !slices.Contains(p.planned, `module.m["y"].module.n.t.k`) || slices.Contains(p.planned, `module.m["x"].module.n.t.k`) || !slices.Contains(p.gone, `module.m["z"].module.n.t.k`) {
		t.Errorf("got %v planned and %v gone, want the objects of a new and a former module instance", p.planned, p.gone)
	}
	p = newPlanning(t, &ledger{}, root, strings.Replace(calls, "resource \"t\" \"d\"", "data \"t\" \"d\"", 1))
	p.w.Settle(slices.Values([]*plan.Change{{Addr: instance(t, "t.a"), Action: plan.Update}, {Addr: instance(t, "t.b"), Action: plan.NoOp}}), state.New())
	if got := p.w.Full(); !strings.HasPrefix(got, "data is read") {
		t.Errorf("got a full plan as %q, want one as data is read when a change is made", got)
	}
}

// TestReadsOfReaders reads the objects of readers that are found later.
func TestReadsOfReaders(t *testing.T) {
	p := newPlanning(t, &ledger{due: []string{"t.a"}, altered: []string{"t.a"}, records: settled, stored: []string{"t.b"}}, root, inner)
	p.plan()
	if !slices.Contains(p.loaded, "t.b") {
		t.Errorf("got %q loaded, want also the reader that was read", p.loaded)
	}
	if !slices.Contains(p.read, "t.b") || !slices.Contains(p.read, "t.many[1]") {
		t.Errorf("got %q read, want also the readers of the altered object", p.read)
	}
}

// TestAsksForNothing asks for no records if nothing is due, and for the resource of an instance that is gone.
func TestAsksForNothing(t *testing.T) {
	p := newPlanning(t, &ledger{records: settled}, root, inner)
	if p.plan(); p.asked != 0 {
		t.Errorf("got %d queries for records, want none", p.asked)
	}
	p = newPlanning(t, &ledger{due: []string{"t.many[2]"}, records: settled}, root, inner)
	if p.plan(); !slices.Contains(p.resources, "t.many") {
		t.Errorf("got the resources %v, want also the one of the instance that is gone", p.resources)
	}
}

// TestValues evaluates values that are due, and finds the errors in them.
func TestValues(t *testing.T) {
	const faulty = `
variable "v" {
  validation {
    condition     = var.v == ""
    error_message = "Variable."
  }
}
locals { x = [1][length] }
locals { length = 5 }
output "o" {
  value = 1
  precondition {
    condition     = var.v == ""
    error_message = "Output."
  }
}
`
	const call = "module \"m\" {\n  source = \"./m\"\n  v      = \"v\"\n}\n"
	for due, want := range map[string]string{
		"output p":                "",
		"check module.m.var.v":    "Variable.",
		"check module.m.output.o": "Output.",
		"values module.m":         "Invalid index",
	} {
		p := newPlanning(t, &ledger{due: []string{due}}, call, strings.Replace(faulty, "[length]", "[local.length]", 1))
		p.plan()
		got := ""
		for _, d := range p.run.Diags.List() {
			got += d.Summary + ": " + d.Detail + " "
		}
		if !p.ok || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q and ok=%v, want %q", due, got, p.ok, want)
		}
	}
}

// TestErrors ends a plan when the instances of a resource are not known.
func TestErrors(t *testing.T) {
	p := newPlanning(t, &ledger{due: []string{"t.bad[0]"}, records: settled}, root+"locals { five = 5 }\nresource \"t\" \"bad\" { count = [1][local.five] }\n", inner)
	if p.plan(); p.ok || !p.run.Diags.HasErrors() || len(p.planned)+len(p.w.attempt.gone) > 0 {
		t.Errorf("got %v planned, %v gone, ok=%v and %v, want nothing but an error", p.planned, p.w.attempt.gone, p.ok, p.run.Diags.List())
	}
}

// TestSubjects reads the keys of records.
func TestSubjects(t *testing.T) {
	for key, want := range map[string]state.Subject{
		"t.a":                            {Kind: state.OneInstance, Addr: "t.a"},
		`t.a["x y within z everywhere"]`: {Kind: state.OneInstance, Addr: `t.a["x y within z everywhere"]`},
		`all module.m["a within b"].t.a`: {Kind: state.AllInstances, Addr: `module.m["a within b"].t.a`},
		"all t.a":                        {Kind: state.AllInstances, Addr: "t.a"},
		"all module.m.t.a everywhere":    {Kind: state.AllWithin, Addr: "module.m.t.a"},
		"all t.a within module.m[\"x\"]": {Kind: state.AllWithin, Addr: "t.a", Within: `module.m["x"]`},
	} {
		if got := subjects([]string{key, "output o"}); !slices.Equal(got, []state.Subject{want}) {
			t.Errorf("%s: got %+v, want %+v", key, got, want)
		}
	}
}

// TestJoin adds an instance to the work that nothing says is due, and finds its readers.
func TestJoin(t *testing.T) {
	l := &ledger{due: []string{"t.c"}, altered: []string{"t.b"}, records: [][]string{{"t.user", "resource.t.user", "t.b"}, {"t.c", "resource.t.c"}}}
	p := newPlanning(t, l, root, inner)
	p.joins = "t.b"
	p.plan()
	if got, want := p.outcome(), "t.c ephemeral.t.e / t.user / gone t.c t.user ephemeral.t.e"; got != want || p.w.Evaluated() != 4 {
		t.Errorf("got %s and %d evaluated, want %s and 4", got, p.w.Evaluated(), want)
	}
	if b := instance(t, "t.b"); !p.w.Plans(b, nil) || p.w.Idle(b, nil) {
		t.Error("got no work of an instance that has joined, want it to have some")
	}
	if a := instance(t, "t.a"); !p.w.Idle(a, nil) || (*Work)(nil).Idle(a, nil) {
		t.Errorf("got %v for an instance without work, and %v in a full plan, want true and false", p.w.Idle(a, nil), (*Work)(nil).Idle(a, nil))
	}
}

// TestUnchanged finds resources that have changed: with their repetition, and as all do in a full plan.
func TestUnchanged(t *testing.T) {
	p := newPlanning(t, &ledger{blocks: []string{"resource.t.b", "repetition.resource.t.many", "resource.t.gone"}}, root, inner)
	is := func(text string) bool {
		a := instance(t, text)
		return p.w.Unchanged(p.run.Module(a.Module).Resource(a.Resource).Block)
	}
	for text, want := range map[string]bool{"t.a": true, "t.b": false, "t.c": true, "t.many": false} {
		if got := is(text); got != want {
			t.Errorf("%s: got unchanged %v, want %v", text, got, want)
		}
	}
	var other *blocks.Resource
	if p.w.Unchanged(other) || (*Work)(nil).Unchanged(other) {
		t.Error("got a resource without a hash unchanged, want it to count as changed")
	}
	p.w.GiveUp(true, "so")
	if is("t.a") {
		t.Error("got a resource unchanged in a full plan, want all to count as changed")
	}
}

// TestFoundTooLate has planning read an object as the state has it. The plan becomes a full one if work is
// found for the object later, unless planning itself has found that.
func TestFoundTooLate(t *testing.T) {
	const late = "an object was read before it was found to have work"
	a := instance(t, "t.b")
	for _, c := range []struct {
		found func(w *Work)
		want  string
	}{
		{func(*Work) {}, ""},
		{func(w *Work) { w.addUnit(state.UnitOf(a), nil) }, late},
		{func(w *Work) { w.addBlock(state.BlockOf(a.Config()), addr.RootInstance) }, late},
		{func(w *Work) { w.Join(a) }, ""},
	} {
		p := newPlanning(t, &ledger{}, root, inner)
		p.w.begin()
		if p.w.Plans(a, p.run.Module(addr.RootInstance).Resource(a.Resource).Block) {
			t.Fatal("got work for an object that nothing has altered, want none")
		}
		c.found(p.w)
		p.w.Settle(slices.Values([]*plan.Change{}), state.New())
		if got := p.w.Full(); got != c.want {
			t.Errorf("got the reason %q, want %q", got, c.want)
		}
	}
}

// TestSettle gives up where the order of changes, or the time at which data is read, may depend on more.
func TestSettle(t *testing.T) {
	first := strings.Replace(root, `"c" { name = t.b.id }`, "\"c\" {\n  name = t.b.id\n  lifecycle { create_before_destroy = true }\n}", 1)
	waits := root + "data \"t\" \"d\" { depends_on = [module.m] }\n"
	around := strings.Replace(root, "v        = t.a.id", "v        = \"v\"\n  depends_on = [t.a]", 1)
	withData := inner + "data \"t\" \"d\" {}\n"
	const orders, reads = "an object is replaced on which others depend that are created before they are destroyed", "data is read, or something is opened, when all changes in a module are done"
	for _, c := range []struct {
		main, module string
		of           string
		action       plan.Action
		want         string
	}{
		{root, inner, "t.a", plan.Delete, ""},
		{root, inner, "t.gone", plan.Delete, ""},
		{first, inner, "t.a", plan.Update, ""},
		{first, inner, "t.a", plan.Delete, orders},
		{first, inner, "t.a", plan.DeleteThenCreate, orders},
		{first, inner, "t.user", plan.DeleteThenCreate, ""},
		{waits, inner, "t.a", plan.Update, reads},
		{waits, inner, "t.a", plan.NoOp, ""},
		{waits, inner, "data.t.d", plan.Read, ""},
		{around, withData, "t.a", plan.Update, reads},
		{around, inner, "t.a", plan.Update, ""},
		{root, withData, "t.a", plan.Update, ""},
	} {
		p := newPlanning(t, &ledger{}, c.main, c.module)
		p.w.Settle(slices.Values([]*plan.Change{{Addr: instance(t, c.of), Action: c.action}}), state.New())
		if got := p.w.Full(); got != c.want {
			t.Errorf("%s of %s: got a full plan as %q, want %q", c.action, c.of, got, c.want)
		}
	}
	var w *Work
	if w.Settle(nil, nil); w.Full() != "" || w.Partial() {
		t.Error("got work of a full plan, want none")
	}
	p := newPlanning(t, &ledger{}, root+"moved {\n  from = t.z\n  to = t.a\n}\n", inner)
	moved := state.New()
	moved.SetObject(addr.Object{Instance: instance(t, "t.z")}, &state.Object{}, addr.ProviderConfig{})
	if p.w.Settle(slices.Values([]*plan.Change{}), moved); p.w.Full() != "objects move, or have computed values that are not stored" {
		t.Errorf("got a full plan as %q, want one as objects move", p.w.Full())
	}
}

// TestActions plans nothing for an action: it is invoked for changes of objects.
func TestActions(t *testing.T) {
	p := newPlanning(t, &ledger{blocks: []string{"action.t.n", "repetition.action.t.n", "resource.t.a"}, records: [][]string{{"t.a", "resource.t.a"}}}, `
resource "t" "a" {
  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.t.n]
    }
  }
}
action "t" "n" {
  config {
    name = "n"
  }
}
`, "")
	if len(p.w.nodes) == 0 || p.w.nodes[state.ParseBlock("action.t.n")] == nil {
		t.Fatalf("got the blocks %v, want the action", p.w.nodes)
	}
	p.plan()
	if got, want := p.outcome(), "t.a / gone t.a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
