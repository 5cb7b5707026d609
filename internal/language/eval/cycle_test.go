package eval

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/base/future"
)

const waiting = `: These objects wait for each other, so none of them can be evaluated first:\n\n`

var cycleCases = []struct{ name, text, want string }{
	{"locals", `
locals {
  a = local.b
  b = local.c + 1
  c = [local.a]
}
output "o" { value = local.c }`, `error: main.tf:3,7-14: Cycle: local.a, local.b, local.c` + waiting + `  local.a waits for local.b (main.tf:3)\n  local.b waits for local.c (main.tf:4)\n  local.c waits for local.a (main.tf:5)\n\nRemove one of these references.`},
	{"itself", `
locals { a = local.a }
output "o" { value = local.a }`, `error: main.tf:2,14-21: Self-referential block: local.a refers to itself (main.tf:2), so it can never be evaluated.`},
	{"resource", `resource "sim_thing" "a" { name = sim_thing.a.id }`, `error: main.tf:1,35-49: Self-referential block: sim_thing.a refers to itself (main.tf:1), so it can never be evaluated.`},
	{"resources", `
resource "sim_thing" "a" { name = sim_thing.b.id }
resource "sim_thing" "b" { name = local.c }
locals { c = sim_thing.a.id }`, `error: main.tf:4,14-28: Cycle: local.c, sim_thing.a, sim_thing.b` + waiting + `  local.c waits for sim_thing.a (main.tf:4)\n  sim_thing.a waits for sim_thing.b (main.tf:2)\n  sim_thing.b waits for local.c (main.tf:3)\n\nRemove one of these references.`},
	{"count", `resource "sim_thing" "a" { count = length(sim_thing.a) }`, `error: main.tf:1,43-54: Cycle: count of sim_thing.a, sim_thing.a` + waiting + `  count of sim_thing.a waits for sim_thing.a (main.tf:1)\n  sim_thing.a waits for count of sim_thing.a (main.tf:1)\n\nRemove one of these references.`},
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
output "out" { value = var.in }`, `error: m/m.tf:2,24-30: Cycle: module.a.output.out, module.a.var.in, module.b.output.out, module.b.var.in` + waiting + `  module.a.output.out waits for module.a.var.in (m/m.tf:2)\n  module.a.var.in waits for module.b.output.out (main.tf:4)\n  module.b.output.out waits for module.b.var.in (m/m.tf:2)\n  module.b.var.in waits for module.a.output.out (main.tf:8)\n\nRemove one of these references.`},
	{"instances", `
resource "sim_thing" "a" {
  for_each = { x = "y", y = "x" }
  name     = sim_thing.a[each.value].id
}`, `error: main.tf:4,14-25: Cycle: sim_thing.a["x"], sim_thing.a["y"]` + waiting + `  sim_thing.a["x"] waits for sim_thing.a["y"] (main.tf:4)\n  sim_thing.a["y"] waits for sim_thing.a["x"] (main.tf:4)\n\nRemove one of these references.`},
	{"write-only through an ephemeral", `
ephemeral "sim_secret" "s" { name = sim_thing.a.id }
resource "sim_thing" "a" { password_wo = ephemeral.sim_secret.s.token }`, `error: main.tf:2,37-51: Cycle: ephemeral.sim_secret.s, sim_thing.a` + waiting + `  ephemeral.sim_secret.s waits for sim_thing.a (main.tf:2)\n  sim_thing.a waits for ephemeral.sim_secret.s (main.tf:3)\n\nRemove one of these references.`},
	{"depends_on of an ephemeral", `
ephemeral "sim_secret" "s" { depends_on = [sim_thing.a] }
resource "sim_thing" "a" { depends_on = [ephemeral.sim_secret.s] }`, `error: main.tf:2,44-55: Cycle: ephemeral.sim_secret.s, sim_thing.a` + waiting + `  ephemeral.sim_secret.s waits for sim_thing.a (main.tf:2)\n  sim_thing.a waits for ephemeral.sim_secret.s (main.tf:3)\n\nRemove one of these references.`},
	{"provider configuration", `
provider "sim" { key = sim_thing.a.id }
resource "sim_thing" "a" {}`, `error: main.tf:2,24-38: Cycle: provider["registry.opentofu.org/hashicorp/sim"], sim_thing.a` + waiting + `  provider["registry.opentofu.org/hashicorp/sim"] waits for sim_thing.a (main.tf:2)\n  sim_thing.a waits for provider["registry.opentofu.org/hashicorp/sim"]\n\nRemove one of these references.`},
	{"value that opens", `
locals { l = "${ephemeral.sim_secret.s.token}-${sim_thing.a.id}" }
ephemeral "sim_secret" "s" {}
resource "sim_thing" "a" { password_wo = local.l }`, `error: main.tf:2,49-63: Cycle: local.l, sim_thing.a` + waiting + `  local.l waits for sim_thing.a (main.tf:2)\n  sim_thing.a waits for local.l (main.tf:4)\n\nRemove one of these references.`},
}

// Cycles are reported as the ordered chain with positions, the same whichever task meets them first, and
// everything ends.
func TestCycles(t *testing.T) {
	for _, c := range cycleCases {
		for _, workers := range []int{1, 8} {
			t.Run(fmt.Sprintf("%s/%d", c.name, workers), func(t *testing.T) {
				for range 25 {
					w := planned(t, c.text)
					within(t, func() { w.concurrently(workers) })
					if diff := cmp.Diff(c.want, w.errors()); diff != "" {
						t.Fatalf("(-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}

// Cycles that hold for all instances are found by blocks, and others are not.
func TestBlockCycles(t *testing.T) {
	const twice = `resource "sim_thing" "b" {
  count = 2
  name  = `
	for _, c := range []struct {
		name, text string
		want       []string // the objects in the cycle; none for no cycle
	}{
		{"one instance of another", twice + `sim_thing.a[count.index].id
}
resource "sim_thing" "a" {
  count = 2
  name  = sim_thing.b[0].id
}`, nil},
		{"chain in one block", twice + `try(sim_thing.b[count.index - 1].id, "")
}`, nil},
		{"chain of modules", `
module "m" {
  source = "./m"
  count  = 2
  in     = count.index > 0 ? module.m[count.index - 1].out : ""
}
-- m/m.tf --
variable "in" {}
resource "sim_thing" "a" { name = var.in }
output "out" { value = sim_thing.a.id }`, nil},
		{"single instances", `
resource "sim_thing" "a" { name = sim_thing.b.id }
resource "sim_thing" "b" { name = sim_thing.a.id }`, nil},
		{"own address in a provisioner", twice + `"b"
  provisioner "local-exec" { command = sim_thing.b[count.index].id }
}`, nil},
		{"all instances", twice + `sim_thing.a.id
}
resource "sim_thing" "a" { name = join(",", sim_thing.b[*].id) }`, []string{"sim_thing.a", "sim_thing.b"}},
		{"itself", twice + `length(sim_thing.b)
}`, []string{"sim_thing.b"}},
		{"depends_on of an ephemeral", twice + `"b"
  depends_on = [ephemeral.sim_secret.s]
}
ephemeral "sim_secret" "s" {
  for_each   = toset(["x"])
  depends_on = [sim_thing.b]
}`, []string{"sim_thing.b", "ephemeral.sim_secret.s"}},
		{"depends_on of modules", `
module "m" {
  source     = "./m"
  count      = 2
  depends_on = [sim_thing.a]
}
resource "sim_thing" "a" { depends_on = [module.m] }
-- m/m.tf --
resource "sim_thing" "a" {}`, []string{"module.m.sim_thing.a", "module.m", "sim_thing.a", "module.m"}},
		{"through values and outputs", twice + `local.l
}
locals { l = module.m.out }
module "m" {
  source = "./m"
  in     = sim_thing.b
}
-- m/m.tf --
variable "in" {}
output "out" { value = var.in[0].id }`, []string{"sim_thing.b", "local.l", "module.m.output.out", "module.m.var.in"}},
		{"provider configuration", twice + `"b"
}
provider "sim" { key = join(",", sim_thing.b[*].id) }`, []string{"sim_thing.b", "provider.sim"}},
		{"function of a provider configuration", twice + `provider::sim::x::twice("b")
}
provider "sim" {
  alias = "x"
  key   = join(",", sim_thing.b[*].id)
}`, []string{"sim_thing.b", "provider.sim.x"}},
		{"function that needs no configuration", twice + `provider::sim::twice("b")
}
provider "sim" {
  alias = "x"
  key   = join(",", sim_thing.b[*].id)
}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := open(t, Validating, c.text, nil).run
			run.ReportBlockCycles()
			diags := run.Diags.List()
			if len(c.want) == 0 && len(diags) == 0 {
				return
			}
			if len(diags) != 1 || len(c.want) == 0 {
				t.Fatalf("got %d cycles, want 1: %v", len(diags), diags)
			}
			for i, name := range c.want {
				hop := "\n  " + name + " waits for " + c.want[(i+1)%len(c.want)]
				if len(c.want) == 1 {
					hop = name + " refers to itself"
				}
				if !strings.Contains(diags[0].Detail, hop) {
					t.Errorf("no %q in %s", hop, diags[0].Detail)
				}
			}
		})
	}
}

// Ephemeral blocks in a cycle would wait for each other's opening forever, so they are refused before.
func TestEphemeralCycles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"itself", `ephemeral "sim_secret" "a" { name = ephemeral.sim_secret.a.id }`,
			`error: main.tf:1,37-62: Self-referential block: ephemeral.sim_secret.a refers to itself (main.tf:1), so it can never be evaluated.`,
		},
		{
			"two", `
ephemeral "sim_secret" "a" { name = local.b }
ephemeral "sim_secret" "b" { name = ephemeral.sim_secret.a.id }
locals { b = ephemeral.sim_secret.b.id }`,
			`error: main.tf:2,37-44: Cycle: ephemeral.sim_secret.a, local.b, ephemeral.sim_secret.b` + waiting + `  ephemeral.sim_secret.a waits for local.b (main.tf:2)\n  local.b waits for ephemeral.sim_secret.b (main.tf:4)\n  ephemeral.sim_secret.b waits for ephemeral.sim_secret.a (main.tf:3)\n\nRemove one of these references.`,
		},
		{
			"its provider", `
provider "sim" { key = ephemeral.sim_secret.a.id }
ephemeral "sim_secret" "a" {}`,
			`error: main.tf:3,11-23: Cycle: ephemeral.sim_secret.a, provider.sim` + waiting + `  ephemeral.sim_secret.a waits for provider.sim (main.tf:3)\n  provider.sim waits for ephemeral.sim_secret.a (main.tf:2)\n\nRemove one of these references.`,
		},
		{
			"depends_on", `
ephemeral "sim_secret" "a" { depends_on = [ephemeral.sim_secret.b] }
ephemeral "sim_secret" "b" { name = ephemeral.sim_secret.a.id }`,
			`error: main.tf:2,44-66: Cycle: ephemeral.sim_secret.a, ephemeral.sim_secret.b` + waiting + `  ephemeral.sim_secret.a waits for ephemeral.sim_secret.b (main.tf:2)\n  ephemeral.sim_secret.b waits for ephemeral.sim_secret.a (main.tf:3)\n\nRemove one of these references.`,
		},
		{
			"values made from it", `
ephemeral "sim_secret" "a" {}
locals {
  x = "${ephemeral.sim_secret.a.id}${local.y}"
  y = local.x
}`,
			`error: main.tf:4,38-45: Cycle: local.x, local.y` + waiting + `  local.x waits for local.y (main.tf:4)\n  local.y waits for local.x (main.tf:5)\n\nRemove one of these references.`,
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
				if diff := cmp.Diff(c.want, lines(diags)); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
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

// concurrently demands every value and instance of the root module, each by a task of its own, and those of
// its modules.
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

// A long chain of references is not a cycle.
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
