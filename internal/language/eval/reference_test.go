package eval

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const manyForms = `
variable "v" { default = "vv" }
locals {
  one = 1
  k   = "b"
}
resource "sim_thing" "single" { name = "single" }
resource "sim_thing" "counted" {
  count = 3
  name  = "c${count.index}"
}
resource "sim_thing" "keyed" {
  for_each = { a = "A", b = "B" }
  name     = each.value
}
resource "sim_thing" "on" {
  lifecycle { enabled = true }
}
resource "sim_thing" "off" {
  lifecycle { enabled = false }
}
resource "sim_thing" "none" { count = 0 }
data "sim_data" "d" { name = "dd" }
module "m" { source = "./m" }
module "mc" {
  source = "./m"
  count  = 2
}
module "me" {
  source   = "./m"
  for_each = toset(["x", "y"])
  in       = each.key
}
module "on" {
  source = "./m"
  lifecycle { enabled = true }
}
module "zero" {
  source = "./m"
  count  = 0
}
output "out" { value = EXPR }
-- m/m.tf --
variable "in" { default = "in" }
resource "sim_thing" "r" { name = var.in }
resource "sim_thing" "other" {}
module "n" { source = "./n" }
output "out" { value = sim_thing.r.name }
output "other" { value = sim_thing.other.id }
output "deep" { value = module.n.out }
-- m/n/n.tf --
resource "sim_thing" "deep" { name = "deep" }
output "out" { value = sim_thing.deep.name }
`

var referenceCases = []struct{ name, expr, want, log string }{
	{"variable", `var.v`, `"vv"`, ``},
	{"path", `"${path.module} ${path.root} ${path.cwd}"`, `". . /w"`, ``},
	{"workspace", `"${terraform.workspace} ${tofu.workspace}"`, `"default default"`, ``},
	{"single", `sim_thing.single.name`, `"single"`, `sim_thing.single`},
	{"resource prefix", `resource.sim_thing.single.name`, `"single"`, `sim_thing.single`},
	{"prefix and bare", `[resource.sim_thing.single.name, sim_thing.counted[0].name]`, `["single" "c0"]`, `sim_thing.counted[0] sim_thing.single`},
	{"data", `data.sim_data.d.name`, `"dd"`, `data.sim_data.d`},
	{"index", `sim_thing.counted[1].name`, `"c1"`, `sim_thing.counted[1]`},
	{"legacy index", `sim_thing.counted.1.name`, `"c1"`, `sim_thing.counted[1]`},
	{"index expression", `sim_thing.counted[local.one + 1].name`, `"c2"`, `sim_thing.counted[2]`},
	{"string that is a number", `sim_thing.counted["1"].name`, `"c1"`, `sim_thing.counted[1]`},
	{"key", `sim_thing.keyed["a"].name`, `"A"`, `sim_thing.keyed["a"]`},
	{"key expression", `sim_thing.keyed[local.k].name`, `"B"`, `sim_thing.keyed["b"]`},
	{"key template", `sim_thing.keyed["${local.k}"].name`, `"B"`, `sim_thing.keyed["b"]`},
	{"instance as object", `sim_thing.keyed["a"]["name"]`, `"A"`, `sim_thing.keyed["a"]`},
	{"two keys", `"${sim_thing.keyed["a"].name}${sim_thing.keyed["b"].name}"`, `"AB"`, `sim_thing.keyed["a"] sim_thing.keyed["b"]`},
	{"splat", `sim_thing.counted[*].name`, `["c0" "c1" "c2"]`, `sim_thing.counted[0] sim_thing.counted[1] sim_thing.counted[2]`},
	{"attribute splat", `sim_thing.counted.*.name`, `["c0" "c1" "c2"]`, `sim_thing.counted[0] sim_thing.counted[1] sim_thing.counted[2]`},
	{"splat of single", `sim_thing.single[*].name`, `["single"]`, `sim_thing.single`},
	{"for", `{ for k, x in sim_thing.keyed : k => x.name }`, `{a:"A" b:"B"}`, `sim_thing.keyed["a"] sim_thing.keyed["b"]`},
	{"for with index inside", `[for k in ["a"] : sim_thing.keyed[k].name]`, `["A"]`, `sim_thing.keyed["a"] sim_thing.keyed["b"]`},
	{"values", `values(sim_thing.keyed)[*].name`, `["A" "B"]`, `sim_thing.keyed["a"] sim_thing.keyed["b"]`},
	{"length of none", `length(sim_thing.none)`, `0`, ``},
	{"splat of none", `sim_thing.none[*].id`, `[]`, ``},
	{"one of none", `one(sim_thing.none[*].id)`, `null`, ``},
	{"try an absent index", `try(sim_thing.counted[7].name, "absent")`, `"absent"`, ``},
	{"try an absent key", `try(sim_thing.keyed["q"].name, "absent")`, `"absent"`, ``},
	{"try an index of none", `try(sim_thing.none[0].name, "absent")`, `"absent"`, ``},
	{"enabled", `sim_thing.on.id`, `"id:sim_thing.on"`, `sim_thing.on`},
	{"attribute by index of enabled", `sim_thing.on["id"]`, `"id:sim_thing.on"`, `sim_thing.on`},
	{"disabled", `sim_thing.off == null`, `true`, ``},
	{"module output", `module.m.out`, `"in"`, `module.m.sim_thing.r`},
	{"module output by index", `module.m["out"]`, `"in"`, `module.m.module.n.sim_thing.deep module.m.sim_thing.other module.m.sim_thing.r`},
	{"nested", `module.m.deep`, `"deep"`, `module.m.module.n.sim_thing.deep`},
	{"module index", `module.mc[1].out`, `"in"`, `module.mc[1].sim_thing.r`},
	{"module index expression", `module.mc[local.one].deep`, `"deep"`, `module.mc[1].module.n.sim_thing.deep`},
	{"module key", `module.me["x"].out`, `"x"`, `module.me["x"].sim_thing.r`},
	{"module enabled", `module.on.out`, `"in"`, `module.on.sim_thing.r`},
	{"module splat of none", `module.zero[*].out`, `[]`, ``},
	{"try a module index of none", `try(module.zero[0].out, "absent")`, `"absent"`, ``},
	{"provider function", `provider::sim::twice("x")`, `"xx"`, ``},
}

// Each reference demands what it names and nothing else.
func TestReferences(t *testing.T) {
	for _, c := range referenceCases {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, replaceExpr(manyForms, c.expr))
			got := w.output("out")
			w.clean()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.log, w.host.taken()); diff != "" {
				t.Errorf("demanded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModuleSplat(t *testing.T) {
	w := planned(t, replaceExpr(manyForms, `[module.mc[*].out, [for k, m in module.me : "${k}=${m.out}"], keys(module.me)]`))
	if d := cmp.Diff(`[["in" "in"] ["x=x" "y=y"] ["x" "y"]]`, w.output("out")); d != "" {
		t.Error(d)
	}
	w.clean()
}

// Instances refer to their counterparts one to one.
func TestReferencesAmongInstances(t *testing.T) {
	w := planned(t, `
resource "sim_thing" "a" {
  for_each = toset(["x", "y"])
}
resource "sim_thing" "b" {
  for_each = sim_thing.a
  name     = sim_thing.a[each.key].id
}
resource "sim_thing" "c" {
  count = 3
  name  = count.index == 0 ? "start" : sim_thing.c[count.index - 1].name
}
resource "sim_thing" "d" {
  count = 3
  name  = sim_thing.c[count.index].name
}
`)
	got := show(w.instance(`sim_thing.d[1]`).Value(w.task, nil).GetAttr("name"))
	w.clean()
	if got != `"start"` {
		t.Errorf("got %s, want %s", got, `"start"`)
	}
	if d := cmp.Diff(`sim_thing.c[0] sim_thing.c[1] sim_thing.d[1]`, w.host.taken()); d != "" {
		t.Error(d)
	}
	if got := show(w.instance(`sim_thing.b["x"]`).Value(w.task, nil).GetAttr("name")); got != `"id:sim_thing.a[\"x\"]"` {
		t.Errorf("got %s, want %s", got, `"id:sim_thing.a[\"x\"]"`)
	}
	w.clean()
}

func TestReferenceErrors(t *testing.T) {
	for _, c := range []struct{ name, expr, want string }{
		{"absent index", `sim_thing.counted[3].name`, "Invalid index"},
		{"negative index", `sim_thing.counted[-1].name`, "Invalid index"},
		{"absent key", `sim_thing.keyed["q"].name`, "Invalid index"},
		{"index of none", `sim_thing.none[0].name`, "Invalid index"},
		{"module index", `module.mc[2].out`, "Invalid index"},
		{"attribute of disabled", `sim_thing.off.name`, "Attempt to get attribute from null value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, replaceExpr(manyForms, c.expr))
			if got := w.output("out"); got != "unknown" {
				t.Errorf("got %s, want %s", got, "unknown")
			}
			diags := w.run.Diags.List()
			if len(diags) != 1 || diags[0].Summary != c.want || diags[0].Subject == nil {
				t.Errorf("got:\n%s\nwant one diagnostic with a place: %s", lines(diags), c.want)
			}
		})
	}
}

// JSON syntax says the same; computed keys bring the whole resource there.
func TestReferencesInJSON(t *testing.T) {
	for expr, want := range map[string]string{
		`${sim_thing.c[1].name}`: `sim_thing.c[1]`, `${sim_thing.c[local.i].name}`: `sim_thing.c[0] sim_thing.c[1]`,
	} {
		w := planned(t, `
resource "sim_thing" "c" {
  count = 2
  name  = "n${count.index}"
}
locals { i = 1 }
-- out.tf.json --
{"output": {"o": {"value": ["`+expr+`"]}}}`)
		if got := w.output("o"); got != `["n1"]` {
			t.Errorf("%s: got %s, want %s", expr, got, `["n1"]`)
		}
		if diff := cmp.Diff(want, w.host.taken()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expr, diff)
		}
		w.clean()
	}
}
