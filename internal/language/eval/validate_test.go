package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var validConfigs = map[string]string{
	"count": `
variable "n" { type = number }
resource "sim_thing" "a" {
  count = var.n
  name  = "x${count.index + 1}"
  tags  = { for i in range(count.index) : i => "v" }
}
resource "sim_thing" "b" {
  count = length(sim_thing.a)
  name  = sim_thing.a[count.index].name
  list  = sim_thing.a[*].id
}
output "o" { value = sim_thing.b[0].list[0] }
output "p" { value = one(sim_thing.b[*].tags["k"]) }`,
	"for_each": `
variable "m" { type = map(object({ name = string, sub = optional(list(string), []) })) }
resource "sim_thing" "a" {
  for_each = var.m
  name     = each.value.name
  list     = [for s in each.value.sub : upper(s)]
  tags     = { (each.key) = each.value.name }
}
resource "sim_thing" "b" {
  for_each = sim_thing.a
  name     = each.value.id
  any      = sim_thing.a[each.key].tags[each.key]
}
data "sim_data" "d" {
  for_each = toset([for k, v in sim_thing.b : v.name])
  name     = each.value
}
output "o" { value = { for k, v in data.sim_data.d : k => v.id } }`,
	"chain in one block": `
resource "sim_thing" "a" {
  count = 3
  name  = count.index == 0 ? "start" : sim_thing.a[count.index - 1].id
}`,
	"enabled": `
variable "on" { type = bool }
resource "sim_thing" "a" {
  lifecycle { enabled = var.on }
}
module "m" {
  source = "./m"
  lifecycle { enabled = var.on }
}
output "o" { value = [try(sim_thing.a.id, "none"), try(module.m.out, "none")] }
-- m/m.tf --
output "out" { value = 1 }`,
	"modules": `
variable "m" { type = set(string) }
module "m" {
  source   = "./m"
  for_each = var.m
  in       = { name = each.key }
}
module "n" {
  source = "./m"
  count  = 2
  in     = { name = "n${count.index}", opt = module.m["k"].out.x }
}
resource "sim_thing" "r" {
  for_each = module.m
  name     = each.value.out.x
  list     = module.n[*].out.x
}
output "o" { value = module.n[1].out.name + 1 }
-- m/m.tf --
variable "in" { type = object({ name = string, opt = optional(string, "d") }) }
output "out" { value = { x = upper(var.in.name), name = length(var.in.opt) } }`,
	"provider for_each": `
variable "regions" { type = set(string) }
provider "sim" {
  alias    = "by"
  for_each = var.regions
  region   = each.value
}
resource "sim_thing" "a" {
  for_each = toset(["x"])
  provider = sim.by[each.key]
}
module "m" {
  source    = "./m"
  for_each  = toset(["x"])
  providers = { sim = sim.by[each.key] }
}
-- m/m.tf --
resource "sim_thing" "a" {}`,
	"conditions": `
variable "v" {
  type = string
  validation {
    condition     = length(var.v) > 1 && var.v != local.bad
    error_message = "Not ${local.bad}."
  }
}
locals { bad = sim_thing.a.id }
resource "sim_thing" "a" {
  lifecycle {
    precondition {
      condition     = length(local.bad2) > 0
      error_message = "No."
    }
    postcondition {
      condition     = self.id != "" && sim_thing.a.name == null
      error_message = "No ${self.id}."
    }
  }
}
locals { bad2 = "x" }
output "o" {
  value = 1
  precondition {
    condition     = sim_thing.a.id != ""
    error_message = "No."
  }
}`,
	"ephemeral": `
variable "p" {
  type      = string
  ephemeral = true
}
ephemeral "sim_secret" "s" {
  count    = terraform.applying ? 1 : 0
  provider = sim.base
  name     = var.p
}
provider "sim" { alias = "base" }
resource "sim_thing" "a" {
  password_wo = one(ephemeral.sim_secret.s[*].token)
  dynamic "rule" {
    for_each = ["a", "b"]
    content {
      value    = rule.value
      value_wo = "${var.p}${rule.key}"
    }
  }
}
module "m" {
  source = "./m"
  secret = ephemeral.sim_secret.s[0].token
}
provider "sim" { key = module.m.out }
-- m/m.tf --
variable "secret" { ephemeral = true }
output "out" {
  value     = "x-${var.secret}"
  ephemeral = true
}`,
	"a condition that fails": `
locals { no = false }
resource "sim_thing" "a" {
  count = 0
  lifecycle {
    precondition {
      condition     = local.no
      error_message = "No."
    }
    postcondition {
      condition     = local.no && self.id == ""
      error_message = "No."
    }
  }
}`,
	"how many ephemeral instances there are": `
ephemeral "sim_secret" "s" {
  for_each = toset(["x"])
  name     = each.key
}
module "m" {
  source   = "./m"
  for_each = toset(["x"])
}
resource "sim_thing" "a" {
  name = "${length(ephemeral.sim_secret.s)}${join(",", keys(module.m))}${length(module.m["x"])}"
  list = [for k, v in ephemeral.sim_secret.s : k]
}
-- m/m.tf --
ephemeral "sim_secret" "s" {}
output "out" {
  value     = ephemeral.sim_secret.s.token
  ephemeral = true
}`,
	"outputs beside ephemeral ones": `
module "m" {
  source   = "./m"
  for_each = toset(["x"])
}
locals { all = module.m }
resource "sim_thing" "a" {
  for_each = toset(["x"])
  name     = module.m[each.key].name
  list     = [for m in local.all : m.name]
}
-- m/m.tf --
ephemeral "sim_secret" "s" {}
output "name" { value = "m" }
output "out" {
  value     = ephemeral.sim_secret.s.token
  ephemeral = true
}`,
	"sensitive elements in for_each": `
resource "sim_thing" "a" { for_each = toset(["x"]) }
resource "sim_thing" "b" {
  for_each = sim_thing.a
  name     = each.value.id
}
resource "sim_thing" "c" {
  for_each = { a = sensitive("x") }
  name     = each.value
}`,
	"dynamic iterator": `
variable "rules" { type = list(object({ v = string })) }
resource "sim_thing" "a" {
  dynamic "rule" {
    for_each = var.rules
    iterator = it
    content { value = "${it.key}: ${it.value.v}" }
  }
}`,
	"import free names": `
locals {
  a = [for each in ["x"] : each]
  b = { for count in ["x"] : count => count }
  c = [for self in [{ v = 1 }] : self.v]
}
output "o" { value = [local.a, local.b, local.c] }`,
}

// Valid configurations have nothing to report while everything is unknown.
func TestValidateAcceptsWhatIsValid(t *testing.T) {
	for name, text := range validConfigs {
		t.Run(name, func(t *testing.T) {
			w := open(t, Validating, text, nil)
			w.everything(w.task, w.run.Root)
			w.clean()
		})
	}
}

var compileErrorsCases = []struct{ name, text, want string }{
	{"forgotten prefix", `
variable "config" { default = {} }
output "o" { value = config.x }`, `error: main.tf:3,22-30: Reference to undeclared resource: This module declares no resource "config" "x". Did you mean var.config.x?`},
	{"module", `
module "net" { source = "./m" }
output "o" { value = module.ned.x }
-- m/m.tf --
output "x" { value = 1 }`, `error: main.tf:3,22-34: Reference to undeclared module: No module named "ned" is called here. Did you mean module.net?`},
	{"module output", `
module "net" {
  source = "./m"
  count  = 1
}
output "o" { value = module.net[0].vcp_id }
-- m/m.tf --
output "vpc_id" { value = 1 }`, `error: main.tf:6,22-42: Unsupported attribute: module.net has no output named "vcp_id". Did you mean "vpc_id"?`},
	{"attribute", `
resource "sim_thing" "a" { count = 1 }
output "o" { value = sim_thing.a[0].tokne }`, `error: main.tf:3,36-42: Unsupported attribute: This object has no argument, nested block, or exported attribute named "tokne". Did you mean "token"?`},
	{"bare root", `output "o" { value = var }`, `error: main.tf:1,22-25: Invalid reference: The "var" object cannot be accessed directly. It must be followed by a dot and the name of a variable, as in var.NAME.`},
	{"depends_on", `
resource "sim_thing" "a" { depends_on = [sim_thing.b] }`, `error: main.tf:2,42-53: Reference to undeclared resource: This module declares no resource "sim_thing" "b". It declares sim_thing.a.`},
	{"unknown type", `ephemeral "sim_secrt" "a" {}`, `error: main.tf:1,11-22: Invalid ephemeral resource type: The provider hashicorp/sim does not support ephemeral resource type "sim_secrt". Did you mean "sim_secret"?`},
	{"provisioner", `
resource "sim_thing" "a" {
  provisioner "remote_exec" {}
}`, `error: main.tf:3,3-28: Unsupported provisioner type: There is no provisioner "remote_exec". Did you mean "remote-exec"? Mayfly has the provisioners local-exec, remote-exec, and file. It does not load plugins with others. If there is a program for the task, run it with local-exec.`},
	{"no connection", `
resource "sim_thing" "a" {
  provisioner "remote-exec" {}
  provisioner "local-exec" { command = "x" }
}`, `error: main.tf:3,3-28: Missing connection block: The "remote-exec" provisioner works on another machine: add a "connection" block, in it or in the resource, that says how to reach that machine. It needs at least the argument "host".`},
	{"argument of a connection", `
resource "sim_thing" "a" {
  connection { hots = "x" }
}`, `error: main.tf:3,16-20: Unsupported argument: A connection block has no argument named "hots". Did you mean "host"?`},
	{"reference in a connection", `
resource "sim_thing" "a" {
  provisioner "file" {
    connection { host = var.x }
  }
}`, `error: main.tf:4,25-30: Reference to undeclared input variable: This module declares no input variable named "x". To declare it, write: variable "x" {}`},
	{"all at once", `
output "a" { value = var.x }
output "b" { value = local.y }`, `error: main.tf:2,22-27: Reference to undeclared input variable: This module declares no input variable named "x". To declare it, write: variable "x" {}
error: main.tf:3,22-29: Reference to undeclared local value: This module declares no local value named "y".`},
}

// Errors that need no evaluation are reported when compiling, all at once, with the nearest name.
func TestCompileErrors(t *testing.T) {
	for _, c := range compileErrorsCases {
		t.Run(c.name, func(t *testing.T) {
			_, diags := compile(t, c.text)
			if diff := cmp.Diff(c.want, lines(diags)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Repetition is refused for what cannot be counted, and what is unknown is reported once.
func TestRepetitionErrors(t *testing.T) {
	for _, c := range []struct{ name, arg, want string }{
		{"secret", `count = sensitive(-7)`, "Invalid count argument: The count argument must be a whole number from 0 to 10000000."},
		{"ephemeral count", `count = var.eph`, "Invalid count argument: An ephemeral value cannot decide"},
		{"applying", `count = tofu.applying ? 1 : 0`, "Invalid count argument: An ephemeral value cannot decide"},
		{"null in set", `for_each = toset(["a", null])`, "Invalid for_each argument: An element of this set is null. Every element must be a string."},
		{"unknown map", `for_each = { (sim_thing.u.id) = 1 }`, "Invalid for_each argument: The keys of for_each are known only after apply, so the instances cannot be planned."},
		{"sensitive set", `for_each = toset([var.sens])`, "Invalid for_each argument: Sensitive values"},
		{"ephemeral set", `for_each = toset([tostring(var.eph)])`, "Invalid for_each argument: An ephemeral value cannot decide"},
		{"ephemeral branch", `for_each = toset(keys(var.sens == "x" ? { a = var.eph } : {}))`, "toset(CONDITION ? keys(MAP) : [])"},
		{"ephemeral element", `for_each = { a = var.eph }`, "Invalid for_each argument: The elements of for_each must not be ephemeral"},
		{"enabled", `lifecycle { enabled = "perhaps" }`, "Invalid enabled argument: The enabled argument must be true or false"},
		{"unknown enabled", `lifecycle { enabled = sim_thing.u.id == "x" }`, "Invalid enabled argument: The value of enabled is known only after apply, so the instances cannot be planned."},
		{"ephemeral enabled", `lifecycle { enabled = var.eph == 1 }`, "Invalid enabled argument: An ephemeral value cannot decide"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, `
variable "eph" {
  default   = 1
  ephemeral = true
}
variable "sens" {
  default   = "top"
  sensitive = true
}
resource "sim_thing" "u" {}
resource "sim_thing" "a" {
  `+c.arg+`
}
resource "sim_thing" "b" { count = length(sim_thing.a[*]) }`)
			w.host.unknownIDs = true
			instances, ok := w.run.Root.resources[w.instance("sim_thing.a").Resource.Block.Config.Addr].Instances(w.task)
			if ok || len(instances) > 0 {
				t.Errorf("got instances %v", instances)
			}
			w.instance("sim_thing.b").Resource.Instances(w.task)
			got := w.errors()
			if !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 || strings.Contains(got, "top") {
				t.Errorf("got:\n%s", got)
			}
		})
	}
}

func TestRepetition(t *testing.T) {
	for _, c := range []struct{ name, arg, want string }{
		{"sensitive count", `count = sensitive(2)`, `[0] [1]`},
		{"numeric text", `count = "1"`, `[0]`},
		{"zero", `count = 0`, ``},
		{"no keys", `for_each = {}`, ``},
		{"object", `for_each = { b = 1, a = "x" }`, `["a"] ["b"]`},
		{"sensitive elements", `for_each = { a = sensitive("x") }`, `["a"]`},
		{"unknown element", `for_each = { a = sim_thing.u.id }`, `["a"]`},
		{"chained over sensitive attributes", `for_each = sim_thing.many`, `["x"]`},
		{"enabled text", `lifecycle { enabled = "true" }`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, `
resource "sim_thing" "u" {}
resource "sim_thing" "many" { for_each = toset(["x"]) }
resource "sim_thing" "a" {
  `+c.arg+`
}`)
			w.host.unknownIDs = true
			instances, ok := w.instance("sim_thing.a").Resource.Instances(w.task)
			var keys []string
			for _, in := range instances {
				if k := in.Key.String(); k != "" {
					keys = append(keys, k)
				}
			}
			if got := strings.Join(keys, " "); got != c.want || !ok {
				t.Errorf("got %s, want %s", got, c.want)
			}
			w.clean()
		})
	}
}

// Marks of elements are kept for each.value, though they are not a reason to refuse them.
func TestEachValueKeepsMarks(t *testing.T) {
	w := planned(t, `
resource "sim_thing" "a" {
  for_each = { k = sensitive("x") }
  name     = each.value
}`)
	v, diags := w.instance(`sim_thing.a["k"]`).EvalBody(w.task, nil)
	if got := show(v.GetAttr("name")); got != `s("x")` || diags != nil {
		t.Errorf("got %s, want %s\n%s", got, `s("x")`, lines(diags))
	}
}

// TestUndecidedElement has a repetition that is unknown because another one is, by way of each.value.
func TestUndecidedElement(t *testing.T) {
	w := planned(t, `
resource "sim_thing" "u" {}
resource "sim_thing" "first" { count = length(sim_thing.u.id) }
module "m" {
  source   = "./m"
  for_each = { a = length(sim_thing.first) }
  n        = each.value
}
-- m/m.tf --
variable "n" {}
resource "sim_thing" "second" { count = var.n }`)
	w.host.unknownIDs = true
	w.everything(w.task, w.run.Root)
	if got := w.run.Diags.List(); len(got) != 1 || got[0].Address != "sim_thing.first" {
		t.Errorf("got %s, want one error, about sim_thing.first", w.errors())
	}
}
