package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// TestExcludedImport leaves out an object whose import block refers to one that is left out, also if the
// identifier is known. Once the state has the object, the import block makes no difference.
func TestExcludedImport(t *testing.T) {
	t.Parallel()
	const base = `
resource "sim_thing" "base" { name = "base" }
`
	for name, block := range map[string]string{
		"identifier": "to = sim_thing.x\n id = sim_thing.base.id",
		"repetition": "for_each = toset([sim_thing.base.name])\n to = sim_thing.x\n id = \"${each.key}-1\"",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, base)
			w.ok(command{})
			text := base + `
import {
 ` + block + `
}
resource "sim_thing" "x" {
  name = "base"
  size = SIZE
}`
			w.config(strings.ReplaceAll(text, "SIZE", "1"))
			w.ok(command{excludes: []string{"sim_thing.base"}}).did()
			w.has("sim_thing.base")
			w.ok(command{})
			w.has("sim_thing.base", "sim_thing.x")
			w.config(strings.ReplaceAll(text, "SIZE", "2"))
			w.ok(command{excludes: []string{"sim_thing.base"}}).did("update base")
		})
	}
}

// TestExcludedUnknownImport leaves out an object whose import block has an identifier that cannot be known,
// as it refers to an object that is left out. Neither a plan by itself nor one of several rounds reports it.
func TestExcludedUnknownImport(t *testing.T) {
	t.Parallel()
	for _, deferral := range []bool{false, true} {
		w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
import {
  to = sim_thing.x
  id = sim_thing.base.id
}
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "other" { name = "other" }`)
		w.ok(command{excludes: []string{"sim_thing.base"}, deferral: deferral}).defers()
		w.exists("other")
	}
}

// TestExcludedThroughAction leaves out an object whose action needs one that is left out because of something
// else, in whatever order they are planned. Its dependents and theirs are left out too.
func TestExcludedThroughAction(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]string{"known": "1", "unknown instances": "min(sim_thing.base.serial, 1)"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "out" { name = "out" }
resource "sim_thing" "slow" {
  name = "slow"
  json = jsonencode(sim_thing.out.id)
}
resource "sim_thing" "slower" {
  name = "slower"
  json = jsonencode(sim_thing.slow.id)
}
action "sim_note" "a" {
  count = `+count+`
  config {
    name = "a"
    text = sim_thing.slower.id
  }
}
resource "sim_thing" "acts" {
  name = "acts"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.a[0]]
    }
  }
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode(sim_thing.acts.id)
}
action "sim_note" "b" {
  config {
    name = "b"
    text = sim_thing.user.id
  }
}
resource "sim_thing" "last" {
  name = "last"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.b]
    }
  }
}`)
			r := w.ok(command{excludes: []string{"sim_thing.out"}, deferral: count != "1"}).defers()
			w.exists("base")
			if got := r.applyLog.Count(simlog.Filter{RPC: "InvokeAction"}); got != 0 {
				t.Errorf("actions: got %d, want none", got)
			}
		})
	}
}

// TestExcludedThroughActions leaves out objects each of which has an action that needs the next one, and
// others between them. They are planned in the opposite order. One more attempt leaves out all of them.
func TestExcludedThroughActions(t *testing.T) {
	t.Parallel()
	const n = 6
	var text strings.Builder
	text.WriteString("resource \"sim_thing\" \"out\" { name = \"out\" }\n")
	for i := range n {
		needed := fmt.Sprintf("sim_thing.user%d.id", i+1)
		if i == n-1 {
			needed = "sim_thing.out.id"
		}
		fmt.Fprintf(&text, `
action "sim_note" "a%[1]d" {
  config {
    name = "a%[1]d"
    text = %[2]s
  }
}
resource "sim_thing" "acts%[1]d" {
  name = "acts%[1]d"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.a%[1]d]
    }
  }
}
resource "sim_thing" "user%[1]d" {
  name = "user%[1]d"
  json = jsonencode(sim_thing.acts%[1]d.id)
}
`, i, needed)
	}
	w := newWorld(t, text.String())
	r := w.ok(command{excludes: []string{"sim_thing.out"}}).did()
	if got := r.planLog.Count(simlog.Filter{RPC: "PlanResourceChange"}); got > 2*n {
		t.Errorf("calls of PlanResourceChange: got %d, want at most %d", got, 2*n)
	}
}

// TestExcludedDeposed leaves the old object of an instance that is left out because of something that it
// depends on.
func TestExcludedDeposed(t *testing.T) {
	t.Parallel()
	text := func(replaceMe, failOn string) string {
		return `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "alone" { name = "alone" }
resource "sim_thing" "x" {
  name       = "x"
  replace_me = "` + replaceMe + `"
  fail_on    = ` + failOn + `
  json       = jsonencode(sim_thing.base.id)
  lifecycle { create_before_destroy = true }
}`
	}
	w := newWorld(t, text("1", `"delete"`))
	w.ok(command{})
	w.config(text("2", "null"))
	w.fails(command{}, "asked to fail on delete")
	o, err := simcloud.ReadObject(w.cloud, "x-1")
	if err != nil {
		t.Fatal(err)
	}
	o.Attrs["fail_on"] = []byte("null")
	if err := simcloud.WriteObject(w.cloud, o); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"sim_thing.base", "sim_thing.x"} {
		w.ok(command{excludes: []string{out}}).did()
	}
	w.ok(command{targets: []string{"sim_thing.base"}}).did()
	w.config("resource \"sim_thing\" \"alone\" { name = \"alone\" }\nresource \"sim_thing\" \"base\" { name = \"base\" }")
	if got := w.ok(command{excludes: []string{"sim_thing.base"}, planOnly: true}).actions(); len(got) != 2 {
		t.Errorf("without its block: got %q, want both objects deleted", got)
	}
	w.config(text("2", "null"))
	w.has("sim_thing.alone", "sim_thing.base", "sim_thing.x", "sim_thing.x deposed")
	w.ok(command{excludes: []string{"sim_thing.alone"}}).did("delete x")
	w.ok(command{}).did()
}

// TestTargetShowsUndecided plans a block with unknown instances that only a target refers to.
func TestTargetShowsUndecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "many" {
  for_each = toset([sim_thing.base.id])
  name     = "many"
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode(keys(sim_thing.many))
}`)
	w.ok(command{deferral: true, targets: []string{"sim_thing.user"}}).defers(
		`sim_thing.many["*"] create instance_count_unknown sim_thing.base`,
		"sim_thing.user create deferred_prereq sim_thing.many",
	)
}

// TestIdleUpdateInvokes has an update that turns out to change nothing, since a value that the plan did not
// know is as before: its actions are invoked, as the plan shows.
func TestIdleUpdateInvokes(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"before_update", "after_update"} {
		text := func(size string) string {
			return `
resource "sim_thing" "base" {
  name = "base"
  size = ` + size + `
}
data "sim_lookup" "l" {
  name       = "base"
  depends_on = [sim_thing.base]
}
action "sim_note" "a" {
  config { name = "a" }
}
resource "sim_thing" "x" {
  name = "x"
  json = jsonencode(data.sim_lookup.l.id)
  lifecycle {
    action_trigger {
      events  = [` + event + `]
      actions = [action.sim_note.a]
    }
  }
}`
		}
		w := newWorld(t, text("1"))
		w.ok(command{})
		w.config(text("2"))
		r := w.ok(command{}).did("update base")
		if got := r.applyLog.Count(simlog.Filter{RPC: "InvokeAction"}); len(r.plan.Invocations) != 1 || got != 1 {
			t.Errorf("%s: got %d actions, want the one that the plan has", event, got)
		}
	}
}

// TestExcludedKeyIsGone leaves an object whose key has left its block, if the block depends on what -exclude
// names, directly or through others. Another object of the same kind goes.
func TestExcludedKeyIsGone(t *testing.T) {
	t.Parallel()
	const base = `
resource "sim_thing" "base" {
  count = 2
  name  = "base${count.index}"
}
resource "sim_thing" "mid" {
  name = "mid"
  json = jsonencode(sim_thing.base[0].id)
}
resource "sim_thing" "alone" {
  for_each = toset(KEYS)
  name     = "alone${each.key}"
  json     = jsonencode(sim_thing.base[1].id)
}`
	each := func(json string) string {
		return `
resource "sim_thing" "x" {
  for_each = toset(KEYS)
  name     = "x${each.key}"
  json     = jsonencode(` + json + `)
}`
	}
	for name, c := range map[string]struct{ block, without string }{
		"directly":          {each("sim_thing.base[0].id"), "sim_thing.base[0]"},
		"all instances":     {each("sim_thing.base[*].id"), "sim_thing.base[0]"},
		"another":           {each("sim_thing.mid.id"), "sim_thing.base[0]"},
		"all through a key": {each(`{ "1" = sim_thing.mid.id, "2" = sim_thing.base[1].id }[each.key]`), "sim_thing.mid"},
		"depends_on":        {strings.Replace(each("0"), "name ", "depends_on = [sim_thing.mid]\n  name ", 1), "sim_thing.base[0]"},
		"module": {`
module "m" {
  source   = "./m"
  for_each = toset(KEYS)
  name     = "x${each.key}"
  json     = jsonencode(sim_thing.mid.id)
}`, "sim_thing.base[0]"},
		"count": {`
resource "sim_thing" "x" {
  count = length(KEYS)
  name  = "x${count.index + 1}"
  json  = jsonencode(sim_thing.mid.id)
}`, "sim_thing.base[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(keys string) string { return strings.ReplaceAll(base+c.block, "KEYS", keys) }
			w := newWorld(t, with(`["1", "2"]`))
			w.file("m/main.tf", `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
variable "name" {}
variable "json" {}
resource "sim_thing" "x" {
  name = var.name
  json = var.json
}`)
			w.ok(command{})
			w.config(with(`["1"]`))
			w.ok(command{excludes: []string{c.without}}).did("delete alone2")
			w.ok(command{}).did("delete x2")
		})
	}
}

// TestExcludedDependencyOfWhatStays keeps an object that has no block any more for one whose key is gone, but
// which stays, and which was made of it.
func TestExcludedDependencyOfWhatStays(t *testing.T) {
	t.Parallel()
	text := func(first, keys, json string) string {
		return `
resource "sim_thing" "base" { name = "base" }
` + first + `
resource "sim_thing" "x" {
  for_each = toset(` + keys + `)
  name     = "x${each.key}"
  json     = jsonencode(` + json + `)
}`
	}
	w := newWorld(t, text(`resource "sim_thing" "first" { name = "first" }`, `["1"]`, "[sim_thing.base.id, sim_thing.first.id]"))
	w.ok(command{})
	w.config(text("", `[]`, "sim_thing.base.id"))
	w.ok(command{excludes: []string{"sim_thing.base"}}).did()
	w.ok(command{}).did("delete x1", "delete first")
}

// TestExcludedKeyIsGoneWithItsBlock destroys an object that has no block, whatever it was made of.
func TestExcludedKeyIsGoneWithItsBlock(t *testing.T) {
	t.Parallel()
	const base = `resource "sim_thing" "base" { name = "base" }`
	w := newWorld(t, base+"\nresource \"sim_thing\" \"x\" {\n name = \"x\"\n json = jsonencode(sim_thing.base.id)\n}")
	w.ok(command{})
	w.config(base)
	w.ok(command{excludes: []string{"sim_thing.base"}}).did("delete x")
}
