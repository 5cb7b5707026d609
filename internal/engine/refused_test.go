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
		t.Errorf("the new object has size: got %s, want 2", got)
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
		t.Errorf("got %d diagnostics, want 4: %s", len(diags), texts(diags))
	}
}
