package eval

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/future"
)

const circle = `Cycle in references: These objects refer to each other in a circle, so none of them can be evaluated first:\n\n`

var cycleCases = []struct{ name, text, want string }{
	{"locals", `
locals {
  a = local.b
  b = local.c + 1
  c = [local.a]
}
output "o" { value = local.c }`, `error: main.tf:3,7-14: ` + circle + `  local.a refers to local.b at main.tf:3,7\n  local.b refers to local.c at main.tf:4,7\n  local.c refers to local.a at main.tf:5,8\n\nRemove one of these references.`},
	{"itself", `
locals { a = local.a }
output "o" { value = local.a }`, `error: main.tf:2,14-21: ` + circle + `  local.a refers to local.a at main.tf:2,14\n\nRemove one of these references.`},
	{"resource", `resource "sim_thing" "a" { name = sim_thing.a.id }`, `error: main.tf:1,35-49: ` + circle + `  sim_thing.a refers to sim_thing.a at main.tf:1,35\n\nRemove one of these references.`},
	{"resources", `
resource "sim_thing" "a" { name = sim_thing.b.id }
resource "sim_thing" "b" { name = local.c }
locals { c = sim_thing.a.id }`, `error: main.tf:4,14-28: ` + circle + `  local.c refers to sim_thing.a at main.tf:4,14\n  sim_thing.a refers to sim_thing.b at main.tf:2,35\n  sim_thing.b refers to local.c at main.tf:3,35\n\nRemove one of these references.`},
	{"count", `resource "sim_thing" "a" { count = length(sim_thing.a) }`, `error: main.tf:1,43-54: ` + circle + `  sim_thing.a refers to sim_thing.a (instances) at main.tf:1,43\n  sim_thing.a (instances) refers to sim_thing.a at main.tf:1,43\n\nRemove one of these references.`},
	{"modules", `
module "a" {
  source = "./m"
  in     = module.b.out
}
module "b" {
  source = "./m"
  in     = module.a.out
}
-- m/m.tf --
variable "in" {}
output "out" { value = var.in }`, `error: m/m.tf:2,24-30: ` + circle + `  module.a.output.out refers to module.a.var.in at m/m.tf:2,24\n  module.a.var.in refers to module.b.output.out at main.tf:4,12\n  module.b.output.out refers to module.b.var.in at m/m.tf:2,24\n  module.b.var.in refers to module.a.output.out at main.tf:8,12\n\nRemove one of these references.`},
	{"instances", `
resource "sim_thing" "a" {
  for_each = { x = "y", y = "x" }
  name     = sim_thing.a[each.value].id
}`, `error: main.tf:4,14-25: ` + circle + `  sim_thing.a["x"] refers to sim_thing.a["y"] at main.tf:4,14\n  sim_thing.a["y"] refers to sim_thing.a["x"] at main.tf:4,14\n\nRemove one of these references.`},
	{"write-only through an ephemeral", `
ephemeral "sim_secret" "s" { name = sim_thing.a.id }
resource "sim_thing" "a" { password_wo = ephemeral.sim_secret.s.token }`, `error: main.tf:2,37-51: ` + circle + `  sim_thing.a refers to sim_thing.a at main.tf:2,37\n\nRemove one of these references.`},
}

// Circles are told as the ordered chain with positions, the same whoever meets them first, and everything ends.
func TestCycles(t *testing.T) {
	for _, c := range cycleCases {
		for _, workers := range []int{1, 8} {
			t.Run(fmt.Sprintf("%s/%d", c.name, workers), func(t *testing.T) {
				for range 25 {
					w := planned(t, c.text)
					within(t, func() { w.concurrently(workers) })
					if d := cmp.Diff(c.want, w.errors()); d != "" {
						t.Fatalf("(-want +got):\n%s", d)
					}
				}
			})
		}
	}
}

// Ephemeral blocks in a circle would wait for each other's opening for ever, so they are refused before.
func TestEphemeralCycles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"itself", `ephemeral "sim_secret" "a" { name = ephemeral.sim_secret.a.id }`,
			`error: main.tf:1,37-62: ` + circle + `  ephemeral.sim_secret.a refers to ephemeral.sim_secret.a at main.tf:1,37\n\nRemove one of these references.`,
		},
		{
			"two", `
ephemeral "sim_secret" "a" { name = local.b }
ephemeral "sim_secret" "b" { name = ephemeral.sim_secret.a.id }
locals { b = ephemeral.sim_secret.b.id }`,
			`error: main.tf:2,37-44: ` + circle + `  ephemeral.sim_secret.a refers to local.b at main.tf:2,37\n  local.b refers to ephemeral.sim_secret.b at main.tf:4,14\n  ephemeral.sim_secret.b refers to ephemeral.sim_secret.a at main.tf:3,37\n\nRemove one of these references.`,
		},
		{
			"its provider", `
provider "sim" { key = ephemeral.sim_secret.a.id }
ephemeral "sim_secret" "a" {}`,
			`error: main.tf:3,11-23: ` + circle + `  ephemeral.sim_secret.a refers to provider.sim at main.tf:3,11\n  provider.sim refers to ephemeral.sim_secret.a at main.tf:2,24\n\nRemove one of these references.`,
		},
		{
			"depends_on", `
ephemeral "sim_secret" "a" { depends_on = [ephemeral.sim_secret.b] }
ephemeral "sim_secret" "b" { name = ephemeral.sim_secret.a.id }`,
			`error: main.tf:2,44-66: ` + circle + `  ephemeral.sim_secret.a refers to ephemeral.sim_secret.b at main.tf:2,44\n  ephemeral.sim_secret.b refers to ephemeral.sim_secret.a at main.tf:3,37\n\nRemove one of these references.`,
		},
		{
			"values made from it", `
ephemeral "sim_secret" "a" {}
locals {
  x = "${ephemeral.sim_secret.a.id}${local.y}"
  y = local.x
}`,
			`error: main.tf:4,38-45: ` + circle + `  local.x refers to local.y at main.tf:4,38\n  local.y refers to local.x at main.tf:5,7\n\nRemove one of these references.`,
		},
		{"own address in a postcondition", `
ephemeral "sim_secret" "a" {
  lifecycle {
    postcondition {
      condition     = ephemeral.sim_secret.a.id != "" && self.id != ""
      error_message = "x"
    }
  }
}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 50 {
				_, diags := compile(t, c.text)
				if d := cmp.Diff(c.want, lines(diags)); d != "" {
					t.Fatalf("(-want +got):\n%s", d)
				}
			}
		})
	}
}

func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("evaluation hangs")
	}
}

// concurrently demands every value and instance of the root module, each by a task of its own, and those of its modules.
func (w *world) concurrently(workers int) {
	p := future.NewPool(workers)
	var module func(t *future.Task, m *Module)
	module = func(t *future.Task, m *Module) {
		for _, group := range []map[string]*Value{m.outputs, m.locals, m.variables} {
			for _, v := range group {
				p.Go(func(t *future.Task) { w.value(t, v) })
			}
		}
		for _, r := range m.Resources() {
			p.Go(func(t *future.Task) {
				instances, _ := r.Instances(t)
				for _, in := range instances {
					p.Go(func(t *future.Task) { w.demand(t, in); in.Deps(t); in.Uses(t) })
				}
			})
		}
		for _, c := range m.Calls() {
			for _, child := range c.Children(t, nil) {
				module(t, child)
			}
		}
	}
	p.Go(func(t *future.Task) { module(t, w.run.Root) })
	p.Wait()
}

// A long chain of references is no circle and ends.
func TestLongChain(t *testing.T) {
	text := "locals {\n  a0 = 1\n"
	const n = 5000
	for i := range n {
		text += fmt.Sprintf("  a%d = local.a%d + 1\n", i+1, i)
	}
	text += fmt.Sprintf("}\noutput \"o\" { value = local.a%d }\nresource \"sim_thing\" \"r\" { n = local.a%d }", n, n)
	w := planned(t, text)
	if got := w.output("o"); got != fmt.Sprint(n+1) {
		t.Error(got)
	}
	w.demand(w.task, w.instance("sim_thing.r"))
	w.instance("sim_thing.r").Deps(w.task)
	w.clean()
}
