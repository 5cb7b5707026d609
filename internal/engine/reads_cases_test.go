package engine_test

import "testing"

// TestReadSets has references in all places where they lead to objects by way of others. The kit checks the
// read-sets of each plan.
func TestReadSets(t *testing.T) {
	const base = `
resource "sim_thing" "a" { name = "a" }
resource "sim_thing" "b" { name = "b" }
resource "sim_thing" "k" {
  for_each = { a = "x", b = "y" }
  name     = each.value
}
`
	for _, c := range []struct{ name, text string }{
		{"element of a call", `
module "m" {
  source   = "./inner"
  for_each = { k = sim_thing.a.name, l = sim_thing.k["b"].name }
  in       = each.value
}
resource "sim_thing" "user" { name = try(module.m["gone"].out, module.m["k"].out) }
output "all" { value = module.m[*] }`},
		{"element of an element", `
module "o" {
  source   = "./outer"
  for_each = sim_thing.k
  in       = { a = each.value.name, b = sim_thing.a.name }
}
resource "sim_thing" "user" {
  for_each = module.o
  name     = each.value.out.a.name
}
resource "sim_thing" "late" {
  name       = "late"
  depends_on = [module.o]
}`},
		{"keys", `
locals { key = sim_thing.a.name }
resource "sim_thing" "user" {
  name = sim_thing.k[local.key].name
  tags = { t = sim_thing.k[sim_thing.b.name].name, u = sim_thing.k[sensitive("a")].name }
  lifecycle { replace_triggered_by = [sim_thing.k, sim_thing.b.name] }
}`},
		{"resource without instances", `
resource "sim_thing" "none" {
  count = length(sim_thing.a.name) - 1
  name  = "none"
}
resource "sim_thing" "user" { name = "user ${length(sim_thing.none)}" }
output "o" { value = try(sim_thing.none[0].id, "") }`},
		{"data source without instances", `
data "sim_lookup" "none" {
  count = length(sim_thing.a.name) - 1
  name  = sim_thing.b.name
}
resource "sim_thing" "user" { name = "user ${length(data.sim_lookup.none)}" }
output "o" { value = try(data.sim_lookup.none[0].id, "") }`},
		{"repetition of a read resource", `
resource "sim_thing" "c" {
  count = length(sim_thing.a.name)
  name  = "c${count.index}"
}
resource "sim_thing" "none" {
  count = length(sim_thing.a.name) - 1
  name  = "none"
}
data "sim_lookup" "d" {
  count = length(sim_thing.b.name) - 1
  name  = sim_thing.a.name
}
resource "sim_thing" "user" {
  for_each = toset(sim_thing.c[*].name)
  name     = "${each.key} ${length(sim_thing.none)} ${length(data.sim_lookup.d)}"
}
output "o" { value = [try(sim_thing.c[7].id, ""), try(data.sim_lookup.d[0].id, ""), sim_thing.none[*].id] }`},
		{"modules without instances", `
module "m" {
  source = "./inner"
  count  = length(sim_thing.a.name) - 1
  in     = sim_thing.b.name
}
module "e" {
  source = "./inner"
  in     = sim_thing.b.name
  lifecycle { enabled = sim_thing.a.name == "other" }
}
resource "sim_thing" "user" { name = "user ${length(module.m)} ${try(module.m[0].out, "")} ${module.e == null}" }
resource "sim_thing" "late" {
  name       = "late"
  depends_on = [module.m]
}`},
		{"provider configurations", `
provider "sim" {
  alias    = "by"
  for_each = sim_thing.k
  prefix   = "${each.value.name}-"
}
provider "sim" {
  alias  = "one"
  region = sim_thing.a.name
}
locals { key = "b" }
resource "sim_thing" "user" {
  provider = sim.by[local.key]
  name     = "user"
}
resource "sim_thing" "caller" { name = "caller ${can(provider::sim::one::whoami())}" }
module "m" {
  source    = "./inner"
  for_each  = toset(["a"])
  in        = "m"
  providers = { sim = sim.by[each.key] }
}`},
		{"ephemeral resources", `
ephemeral "sim_secret" "s" {
  count = length(sim_thing.a.name)
  name  = sim_thing.b.name
}
ephemeral "sim_secret" "t" {
  for_each = sim_thing.k
  name     = each.value.name
  hint     = ephemeral.sim_secret.s[0].value
}
locals { secret = ephemeral.sim_secret.t[sim_thing.a.name].value }
provider "sim" {
  alias = "e"
  token = ephemeral.sim_secret.s[0].lease
}
resource "sim_thing" "user" {
  name              = "user"
  secret_wo         = local.secret
  secret_wo_version = 1
}
resource "sim_thing" "other" {
  provider = sim.e
  name     = "other"
}`},
		{"conditions", `
variable "v" {
  default = "v"
  validation {
    condition     = var.v != sim_thing.a.name
    error_message = "No ${sim_thing.b.name}."
  }
}
locals { l = sim_thing.k["a"].name }
resource "sim_thing" "user" {
  name = var.v
  lifecycle {
    precondition {
      condition     = local.l != ""
      error_message = sim_thing.k["b"].name
    }
    postcondition {
      condition     = self.name != sim_thing.b.name
      error_message = sim_thing.user.label
    }
  }
}
module "m" {
  source = "./checked"
  in     = sim_thing.k["a"].name
  with   = sim_thing.k["b"].name
}
resource "sim_thing" "reader" { name = "reader ${module.m.out}" }
check "c" {
  data "sim_lookup" "d" { name = sim_thing.a.name }
  assert {
    condition     = data.sim_lookup.d.name != local.l
    error_message = sim_thing.b.name
  }
}`},
		{"provisioners", `
resource "sim_thing" "user" {
  name = "user"
  connection {
    host = sim_thing.a.name
  }
  provisioner "local-exec" {
    command = "true ${sim_thing.k["a"].name}"
  }
}`},
		{"triggers", `
action "sim_note" "n" {
  for_each = sim_thing.k
  config {
    name = "n ${each.value.name}"
    text = sim_thing.b.name
  }
}
resource "sim_thing" "user" {
  name = "user"
  lifecycle {
    action_trigger {
      events    = [after_create, after_update]
      condition = sim_thing.a.name != self.name
      actions   = [action.sim_note.n["a"]]
    }
  }
}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, base+c.text, func(_ *testing.T, w *world) {
				w.file("inner/main.tf", prelude+`
variable "in" {}
resource "sim_thing" "r" { name = var.in }
output "out" { value = sim_thing.r.name }
output "given" { value = var.in }
`)
				w.file("outer/main.tf", prelude+`
variable "in" { type = map(string) }
module "i" {
  source   = "../inner"
  for_each = var.in
  in       = "${each.key} ${each.value}"
}
output "out" { value = { for k, v in module.i : k => { name = v.out } } }
`)
				w.file("checked/main.tf", prelude+`
variable "in" {
  validation {
    condition     = var.in != var.with
    error_message = "The same."
  }
}
variable "with" {}
output "out" {
  value = var.in
  precondition {
    condition     = var.with != ""
    error_message = "None."
  }
}
`)
				w.ok(command{})
				w.ok(command{planOnly: true})
			})
		})
	}
}
