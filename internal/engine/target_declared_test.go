package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/plan"
)

// usersOfEach has dependents of sim_thing.each, of several forms.
const usersOfEach = `
resource "sim_thing" "each" {
  for_each = toset(KEYS)
  name     = each.key
}
resource "sim_thing" "plain" {
  name = "plain"
  json = jsonencode([for e in sim_thing.each : e.id])
}
resource "sim_thing" "many" {
  for_each = { for k in KEYS : "m-${k}" => sim_thing.each[k].id }
  name     = each.key
  json     = jsonencode(each.value)
}
module "n" {
  source = "./n"
  count  = length(KEYS)
  ids    = [for e in sim_thing.each : e.id]
}
module "once" {
  source = "./n"
  ids    = [for e in sim_thing.each : e.id]
}
`

// moduleN is the module in usersOfEach.
const moduleN = prelude + `
variable "ids" {}
resource "sim_thing" "db" {
  name = "db"
  json = jsonencode(var.ids)
}`

// TestTargetLeavesDeclared destroys selected objects on which others depend. The ones that the configuration
// declares stay, and the others go along.
func TestTargetLeavesDeclared(t *testing.T) {
	t.Parallel()
	keys := func(keys string) string { return strings.ReplaceAll(usersOfEach, "KEYS", keys) }
	ownKeys := strings.Replace(keys(`["a", "b"]`), `toset(["a", "b"])`, `toset(["b"])`, 1)
	deleteA := `sim_thing.each["a"] delete delete_because_each_key`
	for name, c := range map[string]struct {
		after string
		cmd   command
		want  []string
	}{
		"a key is removed":      {ownKeys, command{targets: []string{"sim_thing.each"}}, []string{deleteA}},
		"that key":              {ownKeys, command{targets: []string{`sim_thing.each["a"]`}}, []string{deleteA}},
		"only refreshed":        {ownKeys, command{targets: []string{"sim_thing.each"}, mode: plan.RefreshOnly}, nil},
		"others are not chosen": {keys(`["b"]`), command{targets: []string{`sim_thing.each["b"]`}}, nil},
		"keys of others are removed": {keys(`["b"]`), command{targets: []string{"sim_thing.each"}}, []string{
			deleteA, `sim_thing.many["m-a"] delete delete_because_each_key`, "module.n[1].sim_thing.db delete delete_because_no_module",
		}},
		"one of them is left out": {keys(`["b"]`), command{targets: []string{"sim_thing.each"}, excludes: []string{"module.n"}}, nil},
		"keys of others cannot be found": {
			strings.Replace(keys(`["b"]`), "length([\"b\"])", `length(file(sim_thing.each["b"].id))`, 1),
			command{targets: []string{"sim_thing.each"}},
			[]string{deleteA, `sim_thing.many["m-a"] delete delete_because_each_key`},
		},
		"the block is removed": {
			"resource \"sim_thing\" \"plain\" { name = \"plain\" }", command{targets: []string{"sim_thing.each"}}, []string{
				`sim_thing.each["a"] delete delete_because_no_resource_config`, `sim_thing.each["b"] delete delete_because_no_resource_config`,
				`sim_thing.many["m-a"] delete delete_because_no_resource_config`, `sim_thing.many["m-b"] delete delete_because_no_resource_config`,
				"module.n[0].sim_thing.db delete delete_because_no_resource_config", "module.n[1].sim_thing.db delete delete_because_no_resource_config",
				"module.once.sim_thing.db delete delete_because_no_resource_config",
			},
		},
		"destroying": {keys(`["a", "b"]`), command{targets: []string{`sim_thing.many["m-a"]`, "module.n[1]"}, mode: plan.Destroy}, []string{
			`sim_thing.many["m-a"] delete`, "module.n[1].sim_thing.db delete",
		}},
		"destroying with dependents": {keys(`["a", "b"]`), command{targets: []string{`sim_thing.each["a"]`}, mode: plan.Destroy}, []string{
			`sim_thing.each["a"] delete`, `sim_thing.many["m-a"] delete`, `sim_thing.many["m-b"] delete`, "sim_thing.plain delete",
			"module.n[0].sim_thing.db delete", "module.n[1].sim_thing.db delete", "module.once.sim_thing.db delete",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, keys(`["a", "b"]`))
			w.file("n/main.tf", moduleN)
			w.ok(command{})
			w.config(c.after)
			c.cmd.planOnly = true
			w.ok(c.cmd).plans(c.want...)
		})
	}
}

// TestTargetEvaluatesNothingElse plans an object whose change makes the instances of others unknown.
func TestTargetEvaluatesNothingElse(t *testing.T) {
	t.Parallel()
	text := func(base, each string) string {
		return `
resource "sim_thing" "base" {
  name       = "base"
  replace_me = "` + base + `"
  lifecycle { create_before_destroy = true }
}
resource "sim_thing" "each" {
  for_each = toset(` + each + `)
  name     = each.key
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode([for e in sim_thing.each : e.id])
}
resource "sim_thing" "old" {
  name = "old"
  json = jsonencode([for e in sim_thing.each : e.id])
}`
	}
	const unknown = `[sim_thing.base.id != "" ? "k" : "l"]`
	w := newWorld(t, text("1", unknown))
	w.ok(command{targets: []string{"sim_thing.base"}})
	w.ok(command{})
	w.config(text("2", unknown))
	w.ok(command{targets: []string{"sim_thing.base"}, planOnly: true}).plans("sim_thing.base create-delete replace_because_cannot_update")
	w.ok(command{targets: []string{"sim_thing.base"}, deferral: true}).did("create base", "delete base")
	w.config(strings.Split(text("3", unknown), `resource "sim_thing" "old"`)[0])
	// Nothing is destroyed for the sake of objects that are only read.
	w.ok(command{targets: []string{"sim_thing.each"}, deferral: true}).did("create base")
	w.has("sim_thing.base", "sim_thing.base deposed", `sim_thing.each["k"]`, "sim_thing.old", "sim_thing.user")
	// Nor is anything refused because of objects that do not exist.
	w.config(text("3", `[sim_thing.fresh.id]`) + "\nresource \"sim_thing\" \"fresh\" { name = \"fresh\" }")
	w.ok(command{targets: []string{"sim_thing.user"}, mode: plan.Destroy, planOnly: true}).plans("sim_thing.user delete")
}

// TestTargetFinishesReplacement destroys in a later round of a run the object that the first one has replaced
// and left, although -target does not select it: it was replaced for the sake of a selected one.
func TestTargetFinishesReplacement(t *testing.T) {
	t.Parallel()
	text := func(base string) string {
		return `
resource "sim_thing" "base" {
  name       = "base"
  replace_me = "` + base + `"
  lifecycle { create_before_destroy = true }
}
resource "sim_thing" "each" {
  for_each = toset([sim_thing.base.id])
  name     = "each-${each.key}"
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode([for e in sim_thing.each : e.id])
}
resource "sim_thing" "alone" {
  name = "alone"
  json = jsonencode(sim_thing.base.id)
}`
	}
	w := newWorld(t, text("1"))
	w.ok(command{deferral: true})
	w.ok(command{})
	w.config(text("2"))
	c := command{targets: []string{"sim_thing.user"}, deferral: true, memory: rounds.New(time.Now())}
	w.ok(c).did("create base")
	w.ok(c).didInAnyOrder("create each-base-2", "update user", "delete each-base-1", "delete base")
	w.has("sim_thing.alone", "sim_thing.base", `sim_thing.each["base-2"]`, "sim_thing.user")
}

// TestTargetDestroysWhatAllDestroys holds for any configuration and target: an object that a plan of
// everything leaves alone stays, and the plan succeeds.
func TestTargetDestroysWhatAllDestroys(t *testing.T) {
	t.Parallel()
	const blocks = 3
	text := func(rt *rapid.T, refs []int, removable bool) string {
		var out strings.Builder
		for i, ref := range refs {
			if removable && rapid.IntRange(0, 4).Draw(rt, "removed") == 0 {
				break // with all that depends on it
			}
			json := "null"
			if ref >= 0 {
				json = fmt.Sprintf("jsonencode(values(sim_thing.r%d)[*].id)", ref)
			}
			keys := rapid.SampledFrom([]string{`["a", "b"]`, `["a"]`, `["b"]`}).Draw(rt, "keys")
			if ref >= 0 && rapid.Bool().Draw(rt, "same keys") {
				keys = fmt.Sprintf("keys(sim_thing.r%d)", ref)
			}
			fmt.Fprintf(&out, "resource \"sim_thing\" \"r%d\" {\n  for_each = toset(%s)\n  name = \"r%d-${each.key}\"\n  json = %s\n}\n", i, keys, i, json)
		}
		return out.String()
	}
	rapid.Check(t, func(rt *rapid.T) {
		refs := make([]int, blocks)
		for i := range refs {
			refs[i] = rapid.IntRange(-1, i-1).Draw(rt, "ref")
		}
		w := newWorld(t, text(rt, refs, false))
		w.ok(command{})
		w.config(text(rt, refs, true))
		deletes := func(c command) (out []string) {
			c.planOnly = true
			for _, line := range w.ok(c).actions() {
				if strings.Contains(line, " delete") {
					out = append(out, line)
				}
			}
			return out
		}
		all := deletes(command{})
		target := fmt.Sprintf("sim_thing.r%d", rapid.IntRange(0, blocks-1).Draw(rt, "target"))
		for _, line := range deletes(command{targets: []string{target}}) {
			if !slices.Contains(all, line) {
				rt.Errorf("with -target=%s, got %q, want one of %q", target, line, all)
			}
		}
	})
}

// TestTargetPlansNothingElse has outputs and conditions whose dependencies follow from objects that the plan
// leaves out: which instances a block has that they refer to, and which one of them. To find that out must
// not plan these objects.
func TestTargetPlansNothingElse(t *testing.T) {
	t.Parallel()
	const objects = `
resource "sim_thing" "base" {
  name = "base"
  size = SIZE
}
resource "sim_thing" "user" {
  name = "user"
  size = SIZE
}
resource "sim_thing" "key" {
  name = "key"
  json = jsonencode(sim_thing.base.size)
}
resource "sim_thing" "each" {
  for_each = toset(["1", "2", "3"])
  name     = "each-${each.key}"
}
resource "sim_thing" "counted" {
  count = sim_thing.user.size
  name  = "counted-${count.index}"
}
resource "sim_thing" "none" {
  count = sim_thing.user.size > 5 ? 1 : 0
  name  = "none"
}
`
	const module = prelude + `
variable "key" {
  validation {
    condition     = var.key != ""
    error_message = "No key."
  }
}
resource "sim_thing" "free" {
  name = "free"
}
resource "sim_thing" "in" {
  for_each = toset([var.key])
  name     = "in"
}
output "names" {
  value = [for i in sim_thing.in : i.name]
  precondition {
    condition     = length(sim_thing.in) > 0
    error_message = "No names."
  }
}`
	base := []string{"sim_thing.base update"}
	for name, c := range map[string]struct {
		text, target string
		want         []string
	}{
		"instances of a block":       {`output "o" { value = [sim_thing.base.name, sim_thing.counted[*].name] }`, "sim_thing.base", base},
		"no instances of a block":    {`output "o" { value = [sim_thing.base.name, sim_thing.none[*].name] }`, "sim_thing.base", base},
		"an index":                   {`output "o" { value = [sim_thing.base.name, sim_thing.each[sim_thing.user.size].name] }`, "sim_thing.base", base},
		"an index of planned blocks": {`output "o" { value = sim_thing.each[sim_thing.user.size].name }`, "sim_thing.each", nil},
		"instances of a module": {`
module "m" {
  source = "./m"
  count  = sim_thing.user.size
  key    = "k"
}
output "o" { value = module.m[*].names }`, "sim_thing.base", base},
		"conditions in a module": {`
module "m" {
  source = "./m"
  key    = "k${sim_thing.user.size}"
}`, "sim_thing.base", base},
		"a variable of a module": {`
module "m" {
  source = "./m"
  key    = sim_thing.each[sim_thing.user.size].name
}`, "module.m.sim_thing.free", nil},
		"what is planned": {`output "o" { value = sim_thing.each[sim_thing.key.json].name }`, "sim_thing.key", append(base, "sim_thing.key update")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(objects+c.text, "SIZE", "1"))
			w.file("m/main.tf", module)
			w.ok(command{})
			w.config(strings.ReplaceAll(objects+c.text, "SIZE", "2"))
			w.ok(command{targets: []string{c.target}, planOnly: true}).plans(c.want...)
			w.ok(command{targets: []string{c.target}, planOnly: true, mode: plan.RefreshOnly}).plans()
		})
	}
}

// TestTargetLeavesImports has import blocks for objects that the plan leaves out, and for one that a selected
// object depends on.
func TestTargetLeavesImports(t *testing.T) {
	t.Parallel()
	objects := func(size string) string {
		return `
resource "sim_thing" "base" {
  name = "base"
  size = ` + size + `
}
resource "sim_thing" "user" {
  name = "user"
  size = ` + size + `
}
`
	}
	w := newWorld(t, objects("1"))
	w.ok(command{})
	w.config(objects("2") + `
resource "sim_thing" "old" { name = "user" }
resource "sim_thing" "new" {
  name = "new"
  json = jsonencode(sim_thing.old.id)
}
import {
  to = sim_thing.old
  id = sim_thing.user.id
}
import {
  for_each = { k = sim_thing.user.id }
  to       = sim_thing.missing[each.key]
  id       = each.value
}`)
	w.ok(command{targets: []string{"sim_thing.base"}, planOnly: true}).plans("sim_thing.base update")
	w.ok(command{targets: []string{"sim_thing.new"}, planOnly: true}).plans("sim_thing.new create", "sim_thing.old update import", "sim_thing.user update")
}

// TestTargetOpensOnce keeps an ephemeral instance open for the objects that a selected one depends on.
func TestTargetOpensOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
provider "sim" {
  alias = "s"
  token = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "each" {
  provider = sim.s
  for_each = toset(["a", "b", "c"])
  name     = "each-${each.key}"
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode([for e in sim_thing.each : e.name])
}`)
	w.ok(command{})
	r := w.ok(command{targets: []string{"sim_thing.user"}, planOnly: true})
	if got := opens(r.planLog, "s"); got != 1 {
		t.Errorf("got %d openings, want 1", got)
	}
}

// TestTargetPlansOutputs plans the outputs of which all is planned that they depend on, by the new values.
func TestTargetPlansOutputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, byKey("1"))
	w.ok(command{})
	w.config(byKey("2"))
	p := w.ok(command{targets: []string{"sim_thing.key", `sim_thing.each["2"]`}, planOnly: true})
	p.plans("sim_thing.key update")
	var got []string
	for _, o := range p.plan.Outputs {
		got = append(got, fmt.Sprint(o.Name, " ", o.Action))
	}
	if want := []string{"name update"}; !slices.Equal(got, want) {
		t.Errorf("outputs: got %q, want %q", got, want)
	}
}

// TestDeferredOutput leaves alone an output that by its new key depends on something deferred.
func TestDeferredOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, byKey("1"))
	w.ok(command{})
	w.config(byKey("2"))
	w.rules = `[{"rpc":"PlanResourceChange","name":"each-2","do":"deferred"}]`
	r := w.ok(command{deferral: true, planOnly: true}).plans("sim_thing.key update")
	if len(r.plan.Outputs) > 0 {
		t.Errorf("outputs: got %q, want none", r.plan.Outputs[0].Name)
	}
}

// byKey has an output of the instance that another object names.
func byKey(size string) string {
	return `
resource "sim_thing" "key" {
  name = "key"
  size = ` + size + `
}
resource "sim_thing" "each" {
  for_each = toset(["1", "2"])
  name     = "each-${each.key}"
}
output "name" { value = sim_thing.each[sim_thing.key.size].name }
output "names" { value = [for e in sim_thing.each : e.name] }
`
}
