package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
)

// TestIgnoreChangesOfReplaced makes the new object as configured: ignore_changes is about objects that stay.
func TestIgnoreChangesOfReplaced(t *testing.T) {
	t.Parallel()
	text := func(size, replace string) string {
		return `resource "sim_thing" "x" {
  name       = "x"
  size       = ` + size + `
  replace_me = "` + replace + `"
  lifecycle { ignore_changes = [size] }
}`
	}
	w := newWorld(t, text("1", "a"))
	w.ok(command{})
	w.config(text("2", "a"))
	w.ok(command{planOnly: true}).plans()
	w.config(text("2", "b"))
	w.ok(command{})
	if got := w.attr("sim_thing.x", "size"); got != "2" {
		t.Errorf("the new object has size %s, want 2", got)
	}
}

// TestExcludeThroughWholeResource leaves alone what depends on all instances of a resource that is left
// alone.
func TestExcludeThroughWholeResource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
resource "sim_thing" "b" {
  for_each = toset(["p", "q"])
  name     = each.key
  tags     = { a = sim_thing.a.id }
}
resource "sim_thing" "c" {
  name = "c"
  tags = { for k, b in sim_thing.b : k => b.id }
}
data "sim_lookup" "d" { name = sim_thing.b["p"].name }
resource "sim_thing" "e" {
  name = "e"
  tags = { d = data.sim_lookup.d.id }
}`)
	w.ok(command{excludes: []string{"sim_thing.a"}}).plans()
}

// TestContradictingRefactoring refuses moved and import blocks that contradict each other or the
// configuration.
func TestContradictingRefactoring(t *testing.T) {
	t.Parallel()
	thing := "resource \"sim_thing\" \"x\" {\n count = 1\n name = \"x\"\n}\n"
	move := func(from, to string) string { return "moved {\n from = " + from + "\n to = " + to + "\n}\n" }
	imports := func(to string) string { return "import {\n to = " + to + "\n id = \"x-1\"\n}\n" }
	for _, row := range []struct{ name, text, want string }{
		{"one from, two to", move("sim_thing.a", "sim_thing.x") + move("sim_thing.a", "sim_thing.y"), "Ambiguous move statements"},
		{"two from, one to", move("sim_thing.a", "sim_thing.x") + move("sim_thing.b", "sim_thing.x"), "Ambiguous move statements"},
		{"imported twice", imports("sim_thing.x[0]") + imports("sim_thing.x[0]"), "Duplicate import configuration"},
		{"no such instance", imports("sim_thing.x[3]"), "Configuration for import target does not exist"},
		{"provider of an import", strings.Replace(imports("sim_thing.x[0]"), "}", " provider = sim\n}", 1), "Invalid import provider argument"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			newWorld(t, thing+row.text).fails(command{planOnly: true}, row.want)
		})
	}
}

// TestE3_ValidateKnowsOutputs finds the one ephemeral value among others without knowing the instances.
func TestE3_ValidateKnowsOutputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" {
  source   = "./m"
  for_each = toset(["x"])
}
module "one" { source = "./m" }
ephemeral "sim_secret" "s" {
  count = 2
  name  = "s"
}
locals { mixed = { name = module.one.name, secret = module.one.secret } }
resource "sim_thing" "a" {
  for_each = toset(["x"])
  name     = "a"
  tags     = {
    a = module.m[each.key].secret
    b = module.m["x"].secret
    c = ephemeral.sim_secret.s[1].value
    d = local.mixed.secret
    e = local.mixed.name
  }
}
resource "sim_thing" "b" {
  for_each = toset(["x"])
  name     = module.m[each.key].name
}`)
	w.file("m/main.tf", prelude+`
ephemeral "sim_secret" "s" { name = "m" }
output "name" { value = "m" }
output "secret" {
  value     = ephemeral.sim_secret.s.value
  ephemeral = true
}`)
	diags := w.validate()
	for _, attr := range []string{"a", "b", "c", "d"} {
		want := `"tags[\"` + attr + `\"]" cannot accept an ephemeral value`
		if !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return strings.HasPrefix(d.Detail, want) }) {
			t.Errorf("nothing about %s", attr)
		}
	}
	if len(diags) != 4 {
		t.Errorf("%d diagnostics: %s", len(diags), texts(diags))
	}
}

// TestValidateFindsCycles reports references in a cycle without a plan, and none where only instances refer
// to each other.
func TestValidateFindsCycles(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text, want string }{
		{"itself", `resource "sim_thing" "a" { name = sim_thing.a.id }`, "Self-referential block"},
		{"each other", `
resource "sim_thing" "a" { name = sim_thing.b.id }
resource "sim_thing" "b" { name = sim_thing.a.id }`, "Cycle: sim_thing.a, sim_thing.b"},
		{"instances", `
resource "sim_thing" "a" {
  count = 2
  name  = count.index == 0 ? "first" : sim_thing.a[0].id
}`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.text)
			diags := w.validate()
			if got := len(diags) > 0 && strings.Contains(diags[0].Summary, row.want); got != (row.want != "") {
				t.Errorf("want %q, got %v", row.want, diags)
			}
		})
	}
}
