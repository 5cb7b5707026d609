package eval

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestForgetful checks that a run keeps the objects of instances that something may still refer to, with one
// type for all, and no others.
func TestForgetful(t *testing.T) {
	const three = " {\n  for_each = toset([\"a\", \"b\", \"c\"])\n  name     = each.key\n}\n"
	w := planned(t, `resource "sim_thing" "read"`+three+`resource "sim_thing" "once"`+three+`resource "sim_thing" "unread"`+three+`
output "ids" { value = [for r in sim_thing.read : r.id] }
output "names" { value = [for r in sim_thing.read : r.name] }
output "once" { value = [for r in sim_thing.once : r.id] }`)
	opt := w.run.opt
	opt.Forgetful = true
	w.run = NewRun(w.cfg, opt)
	types := map[uintptr]struct{}{}
	kept := func(name string) (n int) {
		instances, _ := w.run.Root.resources[addr.Resource{Type: "sim_thing", Name: name}].Instances(w.task)
		for _, in := range instances {
			if v := in.Value(w.task, nil); v != cty.DynamicVal {
				if got := show(v.GetAttr("id")); got != show(cty.StringVal("id:"+in.String())) {
					t.Errorf("the id of %s: got %s, want %s", in, got, show(cty.StringVal("id:"+in.String())))
				}
				types[reflect.ValueOf(v.Type().AttributeTypes()).Pointer()] = struct{}{}
				n++
			}
		}
		return n
	}
	want := map[string][2]int{"read": {3, 3}, "once": {3, 0}, "unread": {0, 0}} // before and after the outputs are evaluated
	for name, n := range want {
		if got := kept(name); got != n[0] {
			t.Errorf("%s: %d objects are kept before anything refers to them, want %d", name, got, n[0])
		}
	}
	if len(types) != 2 {
		t.Errorf("the objects of 2 resources have %d types in memory, want 2", len(types))
	}
	for name, n := range map[string]string{"ids": "read", "names": "", "once": "once"} {
		if got := w.output(name); !strings.Contains(got, n) {
			t.Errorf("output %s: %s", name, got)
		}
	}
	for name, n := range want {
		if got := kept(name); got != n[1] {
			t.Errorf("%s: %d objects are kept in the end, want %d", name, got, n[1])
		}
	}
	w.clean()
}

// shapes are configurations of N instances per block.
var shapes = []struct{ name, text string }{
	{"ChainedBlocks", `
variable "n" { type = number }
variable "keys" { type = list(string) }
resource "sim_thing" "a" { count = var.n }
resource "sim_thing" "b" {
  count = var.n
  name  = sim_thing.a[count.index].id
}
resource "sim_thing" "c" {
  count = length(sim_thing.b)
  name  = "${sim_thing.b[count.index].name}-${sim_thing.a[count.index].id}"
}`},
	{"ForEachOverForEach", `
variable "n" { type = number }
variable "keys" { type = list(string) }
resource "sim_thing" "a" { for_each = { for i, k in var.keys : k => i } }
resource "sim_thing" "b" {
  for_each = sim_thing.a
  name     = each.value.id
}
resource "sim_thing" "c" {
  for_each = sim_thing.b
  name     = sim_thing.b[each.key].name
  tags     = { key = each.key }
}`},
	{"CountWithIndex", `
variable "n" { type = number }
variable "keys" { type = list(string) }
locals { names = [for k in var.keys : "name-${k}"] }
resource "sim_thing" "a" {
  count = length(local.names)
  name  = local.names[count.index]
  list  = [local.names[(count.index + 1) % var.n]]
}`},
	{"CountChain", `
variable "n" { type = number }
variable "keys" { type = list(string) }
resource "sim_thing" "a" {
  count = var.n
  name  = count.index % 50 == 0 ? "start" : sim_thing.a[count.index - 1].id
}`},
	{"ModulesWithMapOutputs", `
variable "n" { type = number }
variable "keys" { type = list(string) }
module "m" {
  source   = "./m"
  for_each = toset(var.keys)
  in       = each.key
}
resource "sim_thing" "a" {
  for_each = toset(var.keys)
  name     = module.m[each.key].out["id"]
}
locals { ids = { for k, m in module.m : k => m.out.id } }
resource "sim_thing" "b" {
  for_each = toset(var.keys)
  name     = local.hosts[each.key]
}
locals { hosts = { for k, a in sim_thing.a : k => a.id } }
output "ids" { value = length(local.ids) }
-- m/m.tf --
variable "in" {}
resource "sim_thing" "r" { name = var.in }
output "out" { value = { id = sim_thing.r.id, name = sim_thing.r.name } }`},
	{"WholeModules", `
variable "n" { type = number }
variable "keys" { type = list(string) }
module "m" {
  source   = "./m"
  for_each = toset(var.keys)
  in       = each.key
}
resource "sim_thing" "a" {
  for_each = toset(var.keys)
  name     = "${length(module.m)}"
}
-- m/m.tf --
variable "in" {}
resource "sim_thing" "r" { name = var.in }
output "out" { value = sim_thing.r.id }`},
	{"NestedModules", `
variable "n" { type = number }
variable "keys" { type = list(string) }
module "m" {
  source = "./m"
  count  = 4
  n      = var.n
}
resource "sim_thing" "a" {
  count = var.n
  name  = "${length(module.m)}"
}
resource "sim_thing" "b" {
  count      = var.n
  depends_on = [module.m]
}
-- m/m.tf --
variable "n" {}
module "m" {
  source = "../deep"
  count  = var.n
}
resource "sim_thing" "c" {
  count = var.n
  name  = "${length(module.m)}"
}
output "all" { value = module.m[*].out }
-- deep/m.tf --
resource "sim_thing" "r" {}
output "out" { value = sim_thing.r.id }`},
	{"DataAndEphemerals", `
variable "n" { type = number }
variable "keys" { type = list(string) }
resource "sim_thing" "under" { count = var.n }
data "sim_data" "d" {
  count = var.n
  name  = sim_thing.under[count.index].id
}
ephemeral "sim_secret" "s" {
  count = var.n
  name  = data.sim_data.d[count.index].id
}
resource "sim_thing" "a" {
  count       = var.n
  name        = data.sim_data.d[count.index].id
  password_wo = ephemeral.sim_secret.s[count.index].token
  list        = [one(data.sim_data.single[*].id)]
  depends_on  = [data.sim_data.d]
}
data "sim_data" "single" { name = "one" }`},
	{"ForEachOverOneAttribute", `
variable "n" { type = number }
variable "keys" { type = list(string) }
locals { all = { for i, k in var.keys : k => { name = "n${i}", sub = { x = i } } } }
resource "sim_thing" "a" {
  for_each = local.all
  name     = local.all[each.key].name
  n        = each.value.sub.x
}
resource "sim_thing" "b" {
  for_each = local.all
  tags     = { n = local.total }
}
locals { total = length(sim_thing.a) }`},
}

// walkAll demands everything, with dependencies and uses, and returns how much was evaluated and asked for.
func walkAll(w *world) int64 {
	w.everything(w.task, w.run.Root)
	var deps int64
	var module func(m *Module)
	module = func(m *Module) {
		for _, r := range m.Resources() {
			instances, _ := r.Instances(w.task)
			for _, in := range instances {
				deps += int64(len(in.Deps(w.task)) + len(in.Uses(w.task)))
			}
		}
		for _, c := range m.Calls() {
			for _, child := range c.Children(w.task, nil) {
				module(child)
			}
		}
	}
	module(w.run.Root)
	return w.run.Stats.Evaluations.Load() + int64(len(w.host.log)) + deps
}

func size(n int) map[string]cty.Value {
	keys := make([]cty.Value, n)
	for i := range keys {
		keys[i] = cty.StringVal(fmt.Sprintf("k%d", i))
	}
	return map[string]cty.Value{"n": cty.NumberIntVal(int64(n)), "keys": cty.ListVal(keys)}
}

// Twice the instances are twice the work, in evaluations, demands, dependencies and memory.
func TestWorkIsLinear(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			cfg, diags := compile(t, shape.text)
			if diags.HasErrors() {
				t.Fatal(lines(diags))
			}
			const n = 400
			measure := func(n int) (int64, int64) {
				w := cfgWorld(t, cfg, Planning, size(n))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				ops := walkAll(w)
				runtime.ReadMemStats(&after)
				w.clean()
				return ops, int64(after.TotalAlloc - before.TotalAlloc)
			}
			measure(10)
			ops, bytes := measure(n)
			ops2, bytes2 := measure(2 * n)
			t.Logf("%.1f operations and %d bytes an instance; ratios %.2f and %.2f", float64(ops)/n, bytes/n, float64(ops2)/float64(ops), float64(bytes2)/float64(bytes))
			if float64(ops2) > 2.2*float64(ops) {
				t.Errorf("%d operations for %d instances, %d for twice as many", ops, n, ops2)
			}
			if float64(bytes2) > 2.3*float64(bytes) {
				t.Errorf("%d bytes for %d instances, %d for twice as many", bytes, n, bytes2)
			}
		})
	}
}

// TestChainsOfValuesAreLinear has many blocks read values of one long chain, which reads nothing but one
// resource at its beginning.
func TestChainsOfValuesAreLinear(t *testing.T) {
	measure := func(n int) int64 {
		var text strings.Builder
		text.WriteString("resource \"sim_thing\" \"r\" {}\nlocals {\n  v0 = sim_thing.r.id\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&text, "  v%d = \"${local.v%d}\"\n", i, i-1)
		}
		text.WriteString("}\n")
		for i := 0; i < n; i += 5 {
			fmt.Fprintf(&text, "resource \"sim_thing\" \"r%d\" { name = local.v%d }\n", i, i)
		}
		cfg, diags := compile(t, text.String())
		if diags.HasErrors() {
			t.Fatal(lines(diags))
		}
		w := cfgWorld(t, cfg, Planning, nil)
		defer w.clean()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got, want := walkAll(w), int64(n+n/5); got < want {
			t.Fatalf("%d operations, at least %d are needed", got, want)
		}
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	measure(10)
	if one, two := measure(1000), measure(2000); float64(two) > 2.3*float64(one) {
		t.Errorf("%d bytes for 1000 values, %d for twice as many", one, two)
	}
}

// Operations for one more instance do not depend on how many there are.
func TestInstanceCostsAreConstant(t *testing.T) {
	w := open(t, Planning, shapes[0].text, size(1000))
	first := w.instance("sim_thing.b[1]")
	first.Value(w.task, nil)
	start := w.run.Stats.Evaluations.Load()
	w.instance("sim_thing.b[999]").Value(w.task, nil)
	if got := w.run.Stats.Evaluations.Load() - start; got > 8 {
		t.Errorf("%d evaluations for one instance", got)
	}
	if got := len(w.host.log); got != 4 {
		t.Errorf("got %d demands for two instances and what they refer to, want 4", got)
	}
}

func BenchmarkWalk(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			cfg, diags := compile(b, shape.text)
			if diags.HasErrors() {
				b.Fatal(lines(diags))
			}
			b.ReportAllocs()
			for b.Loop() {
				w := cfgWorld(b, cfg, Planning, size(benchSize))
				walkAll(w)
				w.clean()
			}
		})
	}
}

// BenchmarkValidate evaluates many blocks with everything unknown.
func BenchmarkValidate(b *testing.B) {
	text := "variable \"v\" {}\n"
	for i := range 2000 {
		text += fmt.Sprintf("resource \"sim_thing\" \"r%d\" {\n  name = \"${var.v}-%d\"\n}\n", i, i)
	}
	cfg, diags := compile(b, text)
	if diags.HasErrors() {
		b.Fatal(lines(diags))
	}
	b.ReportAllocs()
	for b.Loop() {
		w := cfgWorld(b, cfg, Validating, nil)
		w.everything(w.task, w.run.Root)
		if w.run.Module(addr.RootInstance) != w.run.Root {
			b.Fatal("the root module is another one")
		}
	}
}

const benchSize = 10_000

// TestCompilingIsLinear counts the memory that a chain of locals takes to compile.
func TestCompilingIsLinear(t *testing.T) {
	measure := func(n int) int64 {
		var text strings.Builder
		text.WriteString("locals {\n  v0 = { a = 1 }\n")
		for i := range n {
			fmt.Fprintf(&text, "  v%d = local.v%d\n", i+1, i)
		}
		fmt.Fprintf(&text, "}\noutput \"o\" { value = local.v%d }\n", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, diags := compile(t, text.String()); diags.HasErrors() {
			t.Fatal(lines(diags))
		}
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	measure(10)
	one, two := measure(2000), measure(4000)
	if ratio := float64(two) / float64(one); ratio > 2.3 {
		t.Errorf("%d bytes for 2000 locals, %d for twice as many: ratio %.2f", one, two, ratio)
	} else {
		t.Logf("ratio %.2f", ratio)
	}
}
