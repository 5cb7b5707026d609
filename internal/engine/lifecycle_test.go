package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

var chain = chainWith("size = 1")

func TestCreateUpdateDestroy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain)
	r := w.ok(command{})
	r.plans("sim_thing.a create", "sim_thing.b create", "sim_thing.c create").did("create a", "create b", "create c")
	if r.applied.Counts != (plan.Counts{Add: 3}) {
		t.Errorf("counts: got %+v, want %+v", r.applied.Counts, (plan.Counts{Add: 3}))
	}
	if got := w.output("c"); got != "c-1" {
		t.Errorf("output c: got %q, want %q", got, "c-1")
	}
	w.ok(command{planOnly: true}).plans()

	w.config(chainWith("size = 2"))
	r = w.ok(command{})
	r.plans("sim_thing.a update").did("update a")
	if r.applied.Counts != (plan.Counts{Change: 1}) || w.attr("sim_thing.a", "serial") != "2" {
		t.Errorf("got counts %+v, serial %s, want one change, serial 2", r.applied.Counts, w.attr("sim_thing.a", "serial"))
	}

	r = w.ok(command{mode: plan.Destroy})
	r.plans("sim_thing.a delete", "sim_thing.b delete", "sim_thing.c delete").did("delete c", "delete b", "delete a")
	if r.applied.Counts != (plan.Counts{Destroy: 3}) || w.output("c") != "" {
		t.Errorf("got counts %+v, output %q, want 3 destroyed, no output", r.applied.Counts, w.output("c"))
	}
	w.has()
	w.exists()
}

func chainWith(size string) string {
	return `
resource "sim_thing" "a" {
  name = "a"
  ` + size + `
}
resource "sim_thing" "b" {
  name = "b"
  json = jsonencode(sim_thing.a.id)
}
resource "sim_thing" "c" {
  name = "c"
  json = jsonencode(sim_thing.b.id)
}
output "c" { value = sim_thing.c.id }
`
}

// TestDestroyOrderFromState removes resources whose order only the state still knows.
func TestDestroyOrderFromState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain)
	w.ok(command{})
	w.config("")
	r := w.ok(command{})
	r.plans("sim_thing.a delete delete_because_no_resource_config", "sim_thing.b delete delete_because_no_resource_config",
		"sim_thing.c delete delete_because_no_resource_config")
	r.did("delete c", "delete b", "delete a")
	w.has()
	if w.output("c") != "" {
		t.Error("the output of the removed block is still there")
	}
}

func TestReplaceInBothOrders(t *testing.T) {
	t.Parallel()
	text := func(lifecycle, replaceMe string) string {
		return `
resource "sim_thing" "base" {
  name       = "base"
  replace_me = "` + replaceMe + `"
}
resource "sim_thing" "top" {
  name = "top"
  replace_me = sim_thing.base.id
  ` + lifecycle + `
}
`
	}
	t.Run("destroy first", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("", "1"))
		w.ok(command{})
		w.config(text("", "2"))
		r := w.ok(command{})
		r.plans("sim_thing.base delete-create replace_because_cannot_update", "sim_thing.top delete-create replace_because_cannot_update")
		r.did("delete top", "delete base", "create base", "create top")
		if r.applied.Counts != (plan.Counts{Add: 2, Destroy: 2}) {
			t.Errorf("counts: got %+v, want %+v", r.applied.Counts, (plan.Counts{Add: 2, Destroy: 2}))
		}
		w.has("sim_thing.base", "sim_thing.top")
		w.exists("base", "top")
	})
	t.Run("create first, spread to dependencies", func(t *testing.T) {
		t.Parallel()
		cbd := "lifecycle { create_before_destroy = true }"
		w := newWorld(t, text(cbd, "1"))
		w.ok(command{})
		for _, a := range []string{"sim_thing.base", "sim_thing.top"} {
			if !w.object(a).CreateBeforeDestroy {
				t.Errorf("%s: the replace order is not remembered in the state", a)
			}
		}
		w.config(text(cbd, "2"))
		r := w.ok(command{})
		r.plans("sim_thing.base create-delete replace_because_cannot_update", "sim_thing.top create-delete replace_because_cannot_update")
		r.did("create base", "create top", "delete top", "delete base")
		w.has("sim_thing.base", "sim_thing.top")
		w.exists("base", "top")
	})
}

// TestReplaceOrderIsRemembered removes the dependent that asked for create-before-destroy: the dependent's
// object must still go before what it used.
func TestReplaceOrderIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "top" {
  name = "top"
  json = jsonencode(sim_thing.base.id)
  lifecycle { create_before_destroy = true }
}`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "base" {
  name       = "base"
  replace_me = "now"
}`)
	r := w.ok(command{})
	got := applied(r.applyLog)
	if slices.Index(got, "delete top") > slices.Index(got, "delete base") || len(got) != 3 {
		t.Errorf("applied: got %q, want 3, top deleted before base", got)
	}
	w.has("sim_thing.base")
}

func TestUpdateOfDependentBeforeDestroy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "old" { name = "old" }
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode(sim_thing.old.id)
}`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "new" { name = "new" }
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode(sim_thing.new.id)
}`)
	w.ok(command{}).did("create new", "update user", "delete old")
	w.has("sim_thing.new", "sim_thing.user")
}

// TestOrderOfDestruction lets the first of two steps fail that must come one after the other: the second is
// not carried out then.
func TestOrderOfDestruction(t *testing.T) {
	t.Parallel()
	thing := func(name string, arguments ...string) string {
		return `resource "sim_thing" "` + name + "\" {\n  name = \"" + name + "\"\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
	}
	const createFirst = "lifecycle { create_before_destroy = true }"
	uses := func(ref string) string { return "json = jsonencode(" + ref + ")" }
	for _, test := range []struct {
		name          string
		before, after string
		did           []string
	}{
		{
			"what is attached goes before a change",
			thing("a", "size = 1") + thing("m", uses("sim_thing.a.name")) + thing("b", uses("sim_thing.m.name"), `fail_on = "delete"`),
			thing("a", "size = 2") + thing("m", uses("sim_thing.a.name")),
			[]string{"delete b"},
		},
		{
			"what is attached and replaced goes before a change",
			thing("a", "size = 1") + thing("b", uses("sim_thing.a.name"), `fail_on = "delete"`),
			thing("a", "size = 2") + thing("b", uses("sim_thing.a.name"), `replace_me = "x"`),
			[]string{"delete b"},
		},
		{
			"a replaced object goes after all have moved off it",
			thing("c", `replace_me = "1"`, createFirst) + thing("b", uses("sim_thing.c.id")) + thing("a", uses("sim_thing.b.json")),
			thing("c", `replace_me = "2"`, createFirst) + thing("b", uses("sim_thing.c.id")) + thing("a", uses("sim_thing.b.json"), `fail_on = "update"`),
			[]string{"create c", "update b", "update a"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.before)
			w.ok(command{})
			w.config(test.after)
			w.fails(command{}, "asked to fail").did(test.did...)
		})
	}
}

// TestDeposed fails the destruction of the old object of a replacement that creates first.
func TestDeposed(t *testing.T) {
	t.Parallel()
	text := func(replaceMe, failOn string) string {
		return `
resource "sim_thing" "x" {
  name       = "x"
  replace_me = "` + replaceMe + `"
  fail_on    = ` + failOn + `
  lifecycle { create_before_destroy = true }
}`
	}
	w := newWorld(t, text("1", `"delete"`))
	w.ok(command{})
	w.config(text("2", "null"))
	r := w.fails(command{}, "sim_thing.x", "asked to fail on delete")
	r.plans("sim_thing.x create-delete replace_because_cannot_update").did("create x", "delete x")
	w.has("sim_thing.x", "sim_thing.x deposed")
	w.exists("x", "x")

	o, err := simcloud.ReadObject(w.cloud, "x-1")
	if err != nil {
		t.Fatal(err)
	}
	o.Attrs["fail_on"] = []byte("null")
	if err := simcloud.WriteObject(w.cloud, o); err != nil {
		t.Fatal(err)
	}
	r = w.ok(command{})
	if got := r.actions(); len(got) != 1 {
		t.Errorf("planned %q, want the deposed object's deletion alone", got)
	}
	r.did("delete x")
	w.has("sim_thing.x")
	if w.attr("sim_thing.x", "id") != `"x-2"` {
		t.Errorf("the new object is not the one that was kept: got %s, want %s", w.attr("sim_thing.x", "id"), `"x-2"`)
	}
	w.exists("x")
}

// TestFailedCreateOfReplacement puts the old object back.
func TestFailedCreateOfReplacement(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  name = "x"
  lifecycle { create_before_destroy = true }
}`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "x" {
  name       = "x"
  replace_me = "1"
  fail_on    = "create"
  lifecycle { create_before_destroy = true }
}`)
	w.fails(command{}, "sim_thing.x", "asked to fail on create")
	w.has("sim_thing.x")
	if w.attr("sim_thing.x", "id") != `"x-1"` {
		t.Errorf("id: got %s, want the old object's", w.attr("sim_thing.x", "id"))
	}
}

func TestTaintByPartialCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  name    = "x"
  fail_on = "create-partial"
}`)
	w.fails(command{}, "sim_thing.x", "asked to fail on create-partial")
	w.has("sim_thing.x tainted")
	w.config(`resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{}).plans("sim_thing.x delete-create replace_because_tainted").did("delete x", "create x")
	w.has("sim_thing.x")
	w.exists("x")
}

func TestPartialUpdateKeepsWhatWasMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "x" {
  name    = "x"
  size    = 7
  fail_on = "update-partial"
}`)
	w.fails(command{}, "asked to fail on update-partial")
	w.has("sim_thing.x")
	if w.attr("sim_thing.x", "size") != "7" {
		t.Errorf("size: got %s, want %s: the answer that came with the error was not kept", w.attr("sim_thing.x", "size"), "7")
	}
}

func TestDriftAndDeletionOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain)
	w.ok(command{})
	w.drift("a-1", "size", "99")
	r := w.ok(command{planOnly: true}).plans("sim_thing.a update")
	if len(r.plan.Drift) != 1 || r.plan.Drift[0].Addr.String() != "sim_thing.a" {
		t.Errorf("drift: got %+v, want that of sim_thing.a", r.plan.Drift)
	}
	r = w.ok(command{planOnly: true, skipRefresh: true}).plans()
	if n := r.planLog.Count(simlog.Filter{RPC: "ReadResource"}); n != 0 {
		t.Errorf("%d reads without refresh, want 0", n)
	}
	r = w.ok(command{mode: plan.RefreshOnly})
	r.plans().did()
	if w.attr("sim_thing.a", "size") != "99" {
		t.Errorf("size: got %s after refresh-only, want %s", w.attr("sim_thing.a", "size"), "99")
	}
	if err := os.Remove(simcloud.ObjectPath(w.cloud, "b-1")); err != nil {
		t.Fatal(err)
	}
	r = w.ok(command{})
	r.plans("sim_thing.a update", "sim_thing.b create", "sim_thing.c update").did("update a", "create b", "update c")
	w.exists("a", "b", "c")
}

func TestDestroyOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{})
	if err := os.Remove(simcloud.ObjectPath(w.cloud, "x-1")); err != nil {
		t.Fatal(err)
	}
	w.ok(command{mode: plan.Destroy}).plans().did()
	w.has()
}

func TestRepetitionChanges(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, was, is string
		want          []string
	}{
		{"count shrinks", "count = 3", "count = 1", []string{
			`sim_thing.x[1] delete delete_because_count_index`, `sim_thing.x[2] delete delete_because_count_index`,
		}},
		{"key gone", `for_each = toset(["a", "b"])`, `for_each = toset(["b", "c"])`, []string{
			`sim_thing.x["a"] delete delete_because_each_key`, `sim_thing.x["c"] create`,
		}},
		{"count to for_each", "count = 1", `for_each = toset(["a"])`, []string{
			`sim_thing.x[0] delete delete_because_wrong_repetition`, `sim_thing.x["a"] create`,
		}},
		{"single to count", "", "count = 2", []string{"sim_thing.x[0] no-op from sim_thing.x", "sim_thing.x[1] create"}},
		{"count to single", "count = 2", "", []string{
			"sim_thing.x no-op from sim_thing.x[0]", "sim_thing.x[1] delete delete_because_wrong_repetition",
		}},
		{"zero", "count = 1", "count = 0", []string{"sim_thing.x[0] delete delete_because_count_index"}},
		{"disabled", "lifecycle { enabled = true }", "lifecycle { enabled = false }", []string{"sim_thing.x delete delete_because_enabled_false"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			text := func(repeat string) string {
				return "resource \"sim_thing\" \"x\" {\n name = \"x\"\n" + repeat + "\n}"
			}
			w := newWorld(t, text(row.was))
			w.ok(command{})
			w.config(text(row.is))
			w.ok(command{}).plans(row.want...)
			w.ok(command{planOnly: true}).plans()
		})
	}
}

func TestModuleRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" {
  source   = "./m"
  for_each = toset(["a", "b"])
  name     = each.key
}`)
	w.file("m/main.tf", prelude+`
variable "name" {}
resource "sim_thing" "x" { name = var.name }
`)
	w.ok(command{})
	w.has(`module.m["a"].sim_thing.x`, `module.m["b"].sim_thing.x`)
	w.config(`
module "m" {
  source   = "./m"
  for_each = toset(["a"])
  name     = each.key
}`)
	w.ok(command{}).plans(`module.m["b"].sim_thing.x delete delete_because_no_module`)
	w.config("")
	w.ok(command{}).plans(`module.m["a"].sim_thing.x delete delete_because_no_resource_config`)
	w.has()
}
