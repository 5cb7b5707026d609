package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/plan"
)

const three = `
resource "sim_thing" "base" {
  count = 2
  name  = "base${count.index}"
}
resource "sim_thing" "mid" {
  count = 2
  name  = "mid${count.index}"
  json  = jsonencode(sim_thing.base[count.index].id)
}
resource "sim_thing" "all" {
  name = "all"
  json = jsonencode(sim_thing.base[*].id)
}
resource "sim_thing" "alone" { name = "alone" }
`

func TestTargetAndExclude(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		cmd  command
		want []string
	}{
		{"one instance drags in its own upstream only", command{targets: []string{"sim_thing.mid[1]"}}, []string{"base1", "mid1"}},
		{"a whole resource", command{targets: []string{"sim_thing.mid"}}, []string{"base0", "base1", "mid0", "mid1"}},
		{"a splat needs all", command{targets: []string{"sim_thing.all"}}, []string{"all", "base0", "base1"}},
		{"exclude takes dependents", command{excludes: []string{"sim_thing.base[0]"}}, []string{"alone", "base1", "mid1"}},
		{"exclude a leaf", command{excludes: []string{"sim_thing.all"}}, []string{"alone", "base0", "base1", "mid0", "mid1"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, three)
			w.ok(row.cmd)
			w.exists(row.want...)
		})
	}
}

// TestExcludeUndecided leaves out blocks whose instances cannot be known yet, with what depends on them, so
// that what they depend on can be applied first.
func TestExcludeUndecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "each" {
  for_each = toset([sim_thing.base.id])
  name     = "each"
}
module "m" {
  source = "./m"
  count  = length(sim_thing.base.id)
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode([sim_thing.each, module.m[*].id])
}
output "o" { value = module.m[*].id }`)
	w.file("m/main.tf", prelude+`
resource "sim_thing" "in" { name = "in" }
output "id" { value = sim_thing.in.id }`)
	w.fails(command{}, "Invalid count argument", "apply -exclude=sim_thing.each -exclude=module.m")
	w.fails(command{excludes: []string{"sim_thing.each"}}, "Invalid count argument", "apply -exclude=module.m")
	w.ok(command{excludes: []string{"sim_thing.each", "module.m"}})
	w.exists("base")
	w.ok(command{excludes: []string{"module.m"}})
	w.exists("base", "each")
}

func TestTargetedDestroy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, three)
	w.ok(command{})
	r := w.ok(command{mode: plan.Destroy, targets: []string{"sim_thing.base[0]"}})
	got := w.live()
	if slices.Contains(got, "base0") {
		t.Errorf("base0 is still there: %q", got)
	}
	for _, name := range []string{"alone", "base1", "mid1"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s was destroyed although nothing asked for it; left are %q", name, got)
		}
	}
	for _, name := range []string{"mid0", "all"} {
		if slices.Contains(got, name) {
			t.Errorf("%s was left without what it depends on (%q)", name, r.actions())
		}
	}
}

// TestExcludedFromDestroy keeps also what the excluded object depends on.
func TestExcludedFromDestroy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, three)
	w.ok(command{})
	w.ok(command{mode: plan.Destroy, excludes: []string{"sim_thing.mid[0]"}})
	w.exists("base0", "mid0")
}

// TestTargetedDestroyOfRemoved knows the dependents from the state alone.
func TestTargetedDestroyOfRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain)
	w.ok(command{})
	w.config("")
	w.ok(command{targets: []string{"sim_thing.b"}}).did("delete c", "delete b")
	w.has("sim_thing.a")
}

func TestForceReplace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, three)
	w.ok(command{})
	w.ok(command{replace: []string{"sim_thing.base[1]"}}).plans(
		"sim_thing.all update", "sim_thing.base[1] delete-create replace_by_request", "sim_thing.mid[1] update")
	r := w.fails(command{replace: []string{"sim_thing.bas[1]"}}, "Nothing matches -replace", "Did you mean sim_thing.base[1]?")
	if !r.plan.Errored {
		t.Error("a plan that lacks what was asked for can be applied")
	}
	r = w.fails(command{targets: []string{"sim_thing.bas"}, replace: []string{"sim_thing.base[1]"}}, "Nothing matches -target")
	for _, d := range r.diags() {
		if d.Summary == "Nothing matches -replace" {
			t.Errorf("a follow-up: %s", d)
		}
	}
}

func TestModuleTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" {
  source   = "./m"
  for_each = toset(["a", "b"])
  name     = each.key
}
resource "sim_thing" "alone" { name = "alone" }`)
	w.file("m/main.tf", prelude+`
variable "name" {}
resource "sim_thing" "x" { name = var.name }
`)
	w.ok(command{targets: []string{`module.m["a"]`}})
	w.exists("a")
	w.ok(command{targets: []string{`module.m`}})
	w.exists("a", "b")
}

func TestIgnoreChanges(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, ignore, is string
		want             []string
	}{
		{"attribute", "[size]", "size = 2\n tags = { a = \"1\" }", nil},
		{"attribute, another changes", "[size]", "size = 2\n tags = { a = \"2\" }", []string{"sim_thing.x update"}},
		{"map key", `[tags["a"]]`, "size = 1\n tags = { a = \"other\" }", nil},
		{"map key removed", `[tags["a"]]`, "size = 1", nil},
		{"other map key", `[tags["a"]]`, "size = 1\n tags = { a = \"1\", b = \"2\" }", []string{"sim_thing.x update"}},
		{"nested block attribute", `[rule[0].note]`, "size = 1\n tags = { a = \"1\" }\n rule {\n port = 1\n note = \"other\"\n}", nil},
		{"nested attribute", `[nested["k"].value]`, "size = 1\n tags = { a = \"1\" }\n nested = { k = { value = \"other\" } }", nil},
		{"all", "all", "size = 5", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			text := func(attrs string) string {
				return "resource \"sim_thing\" \"x\" {\n name = \"x\"\n" + attrs + "\n lifecycle { ignore_changes = " + row.ignore + " }\n}"
			}
			extra := ""
			switch row.name {
			case "nested block attribute":
				extra = "\n rule {\n port = 1\n note = \"n\"\n}"
			case "nested attribute":
				extra = "\n nested = { k = { value = \"v\" } }"
			}
			w := newWorld(t, text("size = 1\n tags = { a = \"1\" }"+extra))
			w.ok(command{})
			w.config(text(row.is))
			w.ok(command{}).plans(row.want...)
			if row.name == "attribute, another changes" && (w.attr("sim_thing.x", "size") != "1" || w.attr("sim_thing.x", "tags") != `{"a":"2"}`) {
				t.Errorf("got size %s, tags %s, want 1, {\"a\":\"2\"}", w.attr("sim_thing.x", "size"), w.attr("sim_thing.x", "tags"))
			}
			w.ok(command{planOnly: true}).plans()
		})
	}
}

// Errors in the keys of replace_triggered_by are reported, by validation if the keys are known there.
func TestKeysOfTriggers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trigger, want string
		late          bool
	}{
		"unknown function":          {trigger: `sim_thing.a[nothing(1)]`, want: "Call to unknown function"},
		"of an attribute":           {trigger: `sim_thing.a[0].tags[nothing(each.key)]`, want: "Call to unknown function"},
		"not a key":                 {trigger: `sim_thing.a[tolist([1])]`, want: "Invalid index"},
		"only a key of an instance": {trigger: `sim_thing.a[tonumber(each.key)]`, want: "Invalid function argument", late: true},
		"a key without an instance": {trigger: `sim_thing.a[length(each.key) + 5]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `
resource "sim_thing" "a" {
  count = 1
  name  = "a"
}
resource "sim_thing" "x" {
  for_each = toset(["k"])
  name     = "x"
  lifecycle { replace_triggered_by = [TRIGGER] }
}`
			w := newWorld(t, strings.Replace(text, "TRIGGER", "sim_thing.a[0]", 1))
			w.ok(command{})
			w.config(strings.Replace(text, "TRIGGER", c.trigger, 1))
			if got := w.validate().HasErrors(); got != (c.want != "" && !c.late) {
				t.Errorf("validation reports errors: got %t, want %t", got, (c.want != "" && !c.late))
			}
			if c.want == "" {
				w.ok(command{})
				return
			}
			if n := w.fails(command{}, c.want).errors(); n != 1 {
				t.Errorf("got %d errors, want 1", n)
			}
		})
	}
}

func TestReplaceTriggeredBy(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, trigger string
		want          []string
	}{
		{"resource", "[sim_thing.a]", []string{"sim_thing.a update", "sim_thing.x delete-create replace_by_triggers"}},
		{"attribute that changes", "[sim_thing.a.size]", []string{"sim_thing.a update", "sim_thing.x delete-create replace_by_triggers"}},
		{"attribute that stays", "[sim_thing.a.tags]", []string{"sim_thing.a update"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			text := func(size string) string {
				return `
resource "sim_thing" "a" {
  name = "a"
  size = ` + size + `
}
resource "sim_thing" "x" {
  name = "x"
  lifecycle { replace_triggered_by = ` + row.trigger + ` }
}`
			}
			w := newWorld(t, text("1"))
			w.ok(command{})
			w.config(text("2"))
			w.ok(command{}).plans(row.want...)
		})
	}
}
