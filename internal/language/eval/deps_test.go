package eval

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
)

var depsCases = []struct{ name, text, of, want string }{
	{"none", `resource "sim_thing" "a" {}`, `sim_thing.a`, ``},
	{"each.key", `resource "sim_thing" "a" {
  for_each = toset(["x", "y"])
  name     = sim_thing.k[each.key].id
}`, `sim_thing.a["y"]`, `sim_thing.k["y"]`},
	{"count.index", `resource "sim_thing" "a" {
  count = 2
  name  = sim_thing.c[count.index].id
}`, `sim_thing.a[1]`, `sim_thing.c[1]`},
	{"chain in one block", `resource "sim_thing" "a" {
  count = 2
  name  = try(sim_thing.a[count.index - 1].id, "")
}`, `sim_thing.a[1]`, `sim_thing.a[0]`},
	{"start of the chain", `resource "sim_thing" "a" {
  count = 2
  name  = try(sim_thing.a[count.index - 1].id, "")
}`, `sim_thing.a[0]`, ``},
	{"whole", `resource "sim_thing" "a" { list = sim_thing.c[*].id }`, `sim_thing.a`, `sim_thing.c[*]`},
	{"whole covers one", `resource "sim_thing" "a" { any = [sim_thing.c[*].id, sim_thing.c[0].id] }`, `sim_thing.a`, `sim_thing.c[*]`},
	{"local", `resource "sim_thing" "a" { name = local.v }
locals {
  v = local.w
  w = sim_thing.c[1].id
}`, `sim_thing.a`, `sim_thing.c[1]`},
	{"for_each of itself", `resource "sim_thing" "a" { for_each = sim_thing.k }`, `sim_thing.a["x"]`, `sim_thing.k[*]`},
	{"count of itself", `resource "sim_thing" "a" { count = sim_thing.one.name == null ? 1 : 0 }`, `sim_thing.a[0]`, `sim_thing.one`},
	{"data", `resource "sim_thing" "a" { name = data.sim_data.d["x"].name }
data "sim_data" "d" {
  for_each = toset(["x", "y"])
  name     = sim_thing.k[each.key].id
}`, `sim_thing.a`, `data.sim_data.d["x"] sim_thing.k["x"]`},
	{"whole data", `resource "sim_thing" "a" { any = data.sim_data.d }
data "sim_data" "d" {
  for_each = toset(["x"])
  name     = sim_thing.k[each.key].id
}`, `sim_thing.a`, `data.sim_data.d[*] sim_thing.k["x"]`},
	{"whole data of a whole resource", `resource "sim_thing" "a" { any = data.sim_data.d }
data "sim_data" "d" {
  for_each = toset(["x", "y"])
  name     = sim_thing.k[each.key].id
}`, `sim_thing.a`, `data.sim_data.d[*] sim_thing.k[*]`},
	{"ephemeral", `resource "sim_thing" "a" { password_wo = ephemeral.sim_secret.s[0].token }
ephemeral "sim_secret" "s" {
  count = 2
  name  = sim_thing.c[count.index].id
}`, `sim_thing.a`, `sim_thing.c[0]`},
	{"provider configuration", `resource "sim_thing" "a" { provider = sim.x }
provider "sim" {
  alias  = "x"
  region = sim_thing.one.id
}`, `sim_thing.a`, `sim_thing.one`},
	{"provider instance", `resource "sim_thing" "a" {
  for_each = toset(["x"])
  provider = sim.x[each.key]
}
provider "sim" {
  alias    = "x"
  for_each = { x = 1, y = 2 }
  region   = sim_thing.k[each.key].id
}`, `sim_thing.a["x"]`, `sim_thing.k["x"]`},
	{"depends_on", `resource "sim_thing" "a" { depends_on = [sim_thing.one, sim_thing.c] }`, `sim_thing.a`, `sim_thing.c[*] sim_thing.one`},
	{"conditions and provisioners", `resource "sim_thing" "a" {
  provisioner "local-exec" { command = "${self.id} ${sim_thing.c[0].id} ${sim_thing.a.id}" }
  lifecycle {
    precondition {
      condition     = sim_thing.one.id != ""
      error_message = "x"
    }
    postcondition {
      condition     = self.id != sim_thing.a.name
      error_message = sim_thing.two.id
    }
  }
}`, `sim_thing.a`, `sim_thing.c[0] sim_thing.one sim_thing.two`},
	{"replace_triggered_by", `resource "sim_thing" "a" {
  count = 2
  lifecycle { replace_triggered_by = [sim_thing.c[count.index].id] }
}`, `sim_thing.a[1]`, `sim_thing.c[1]`},
	{"module output", `resource "sim_thing" "a" { name = module.m.out }
module "m" { source = "./m" }`, `sim_thing.a`, `module.m.sim_thing.r`},
	{"module instance", `resource "sim_thing" "a" {
  for_each = toset(["p"])
  name     = module.m[each.key].out
}
module "m" {
  source   = "./m"
  for_each = toset(["p", "q"])
}`, `sim_thing.a["p"]`, `module.m["p"].sim_thing.r`},
	{"all module instances", `resource "sim_thing" "a" { list = module.m[*].out }
module "m" {
  source = "./m"
  count  = 2
}`, `sim_thing.a`, `module.m.sim_thing.other[*] module.m.sim_thing.r[*]`},
	{"enabled module", `resource "sim_thing" "a" { name = module.m.out }
module "m" {
  source = "./m"
  lifecycle { enabled = true }
}`, `sim_thing.a`, `module.m.sim_thing.r`},
	{"variable", `module "m" {
  source = "./m"
  in     = sim_thing.c[1].id
}`, `module.m.sim_thing.other`, `sim_thing.c[1]`},
	{"variable of a repeated module", `module "m" {
  source = "./m"
  count  = 2
  in     = sim_thing.c[count.index].id
}`, `module.m[1].sim_thing.other`, `sim_thing.c[1]`},
	{"repetition of a module", `module "m" {
  source = "./m"
  count  = length(sim_thing.c)
}`, `module.m[1].sim_thing.r`, `sim_thing.c[*]`},
	{"depends_on of a module", `module "m" {
  source     = "./m"
  depends_on = [sim_thing.one]
}`, `module.m.sim_thing.r`, `sim_thing.one`},
	{"output of a module with depends_on", `resource "sim_thing" "a" { name = module.m.fixed }
module "m" {
  source     = "./m"
  depends_on = [sim_thing.one]
}`, `sim_thing.a`, `sim_thing.one`},
	{"depends_on a module with depends_on", `resource "sim_thing" "a" { depends_on = [module.m] }
module "m" {
  source     = "./m"
  depends_on = [sim_thing.one]
}`, `sim_thing.a`, `sim_thing.one module.m.sim_thing.other[*] module.m.sim_thing.r[*]`},
	{"depends_on a module", `resource "sim_thing" "a" { depends_on = [module.m] }
module "m" { source = "./m" }`, `sim_thing.a`, `module.m.sim_thing.other[*] module.m.sim_thing.r[*]`},
	{"depends_on a module with repeated modules in it", `resource "sim_thing" "a" { depends_on = [module.o] }
module "o" {
  source = "./o"
  n      = length(sim_thing.one.id)
}`, `sim_thing.a`, `sim_thing.one module.o.module.all.sim_thing.other[*] module.o.module.all.sim_thing.r[*]`},
	{"depends_on a repeated module with modules in it that have no instances", `resource "sim_thing" "a" { depends_on = [module.o] }
module "o" {
  source = "./o"
  count  = 2
  n      = sim_thing.c[count.index].name == null ? 0 : 1
}`, `sim_thing.a`, `sim_thing.c[*]`},
	{"resource without instances", `resource "sim_thing" "a" { list = sim_thing.none[*].id }
resource "sim_thing" "none" { count = sim_thing.one.name == null ? 0 : 1 }`, `sim_thing.a`, `sim_thing.none[*] sim_thing.one`},
	{"missing instance", `resource "sim_thing" "a" { name = try(sim_thing.few["y"].id, "") }
resource "sim_thing" "few" { for_each = sim_thing.one.name == null ? { x = 1 } : {} }`, `sim_thing.a`, `sim_thing.few["y"] sim_thing.one`},
	{"present instance", `resource "sim_thing" "a" { name = try(sim_thing.few["x"].id, "") }
resource "sim_thing" "few" { for_each = sim_thing.one.name == null ? { x = 1 } : {} }`, `sim_thing.a`, `sim_thing.few["x"]`},
	{"all of itself", `resource "sim_thing" "a" {
  count = 2
  name  = length(sim_thing.a)
}`, `sim_thing.a[0]`, `sim_thing.a[*]`},
	{"itself, if it is enabled", `resource "sim_thing" "a" {
  lifecycle {
    enabled = true
    postcondition {
      condition     = sim_thing.a.id != ""
      error_message = "x"
    }
  }
}`, `sim_thing.a`, ``},
	{"depends_on of an output", `resource "sim_thing" "a" { name = module.m.late }
module "m" { source = "./m" }`, `sim_thing.a`, `module.m.sim_thing.other`},
}

// Read-sets are as precise as the references, and lead through everything between.
func TestDeps(t *testing.T) {
	const head = `
resource "sim_thing" "k" { for_each = toset(["x", "y"]) }
resource "sim_thing" "c" { count = 2 }
resource "sim_thing" "one" {}
resource "sim_thing" "two" {}
`
	for _, c := range depsCases {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, head+c.text+`
-- m/m.tf --
variable "in" { default = "" }
resource "sim_thing" "r" {}
resource "sim_thing" "other" { name = var.in }
output "out" { value = sim_thing.r.id }
output "other" { value = sim_thing.other.id }
output "fixed" { value = "x" }
output "late" {
  value      = "x"
  depends_on = [sim_thing.other]
}
-- o/o.tf --
variable "n" {}
module "all" {
  source = "../m"
  count  = var.n
}
`)
			if diff := cmp.Diff(c.want, w.deps(c.of)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			w.clean()
		})
	}
}

const simProvider = `provider["registry.opentofu.org/hashicorp/sim"]`

var usesCases = []struct{ name, text, of, want string }{
	{"none", `resource "sim_thing" "a" {}`, `sim_thing.a`, simProvider},
	{"single", `resource "sim_thing" "a" { password_wo = ephemeral.sim_secret.one.token }`, `sim_thing.a`, `ephemeral.sim_secret.one ` + simProvider},
	{"each.key", `resource "sim_thing" "a" {
  for_each    = toset(["x", "y"])
  password_wo = ephemeral.sim_secret.k[each.key].token
}`, `sim_thing.a["y"]`, `ephemeral.sim_secret.k["y"] ` + simProvider},
	{"count.index", `resource "sim_thing" "a" {
  count       = 2
  password_wo = ephemeral.sim_secret.c[count.index].token
}`, `sim_thing.a[1]`, `ephemeral.sim_secret.c[1] ` + simProvider},
	{"constant", `resource "sim_thing" "a" { password_wo = ephemeral.sim_secret.k["x"].token }`, `sim_thing.a`, `ephemeral.sim_secret.k["x"] ` + simProvider},
	{"whole", `resource "sim_thing" "a" { password_wo = join("", ephemeral.sim_secret.c[*].token) }`, `sim_thing.a`, `ephemeral.sim_secret.c[*] ` + simProvider},
	{"a key from elsewhere", `resource "sim_thing" "a" { password_wo = ephemeral.sim_secret.k[local.key].token }
locals { key = "x" }`, `sim_thing.a`, `ephemeral.sim_secret.k[*] ` + simProvider},
	{"local", `resource "sim_thing" "a" { password_wo = local.p }
locals { p = "x${ephemeral.sim_secret.one.token}" }`, `sim_thing.a`, `ephemeral.sim_secret.one ` + simProvider},
	{"depends_on", `resource "sim_thing" "a" { depends_on = [ephemeral.sim_secret.one] }`, `sim_thing.a`, `ephemeral.sim_secret.one ` + simProvider},
	{"provisioner and conditions", `resource "sim_thing" "a" {
  provisioner "local-exec" { command = ephemeral.sim_secret.one.token }
  lifecycle {
    precondition {
      condition     = ephemeral.sim_secret.k["x"].token != ""
      error_message = "x"
    }
  }
}`, `sim_thing.a`, `ephemeral.sim_secret.k["x"] ephemeral.sim_secret.one ` + simProvider},
	{"connection", `resource "sim_thing" "a" {
  connection {
    host     = "h"
    user     = ephemeral.sim_secret.k["y"].token
    password = ephemeral.sim_secret.k["x"].token
  }
  provisioner "local-exec" { command = "none of its business" }
  provisioner "file" {
    connection { user = "overrides what would be opened" }
  }
}`, `sim_thing.a`, `ephemeral.sim_secret.k["x"] ` + simProvider},
	{"unused connection", `resource "sim_thing" "a" {
  connection { password = ephemeral.sim_secret.one.token }
  provisioner "local-exec" { command = "x" }
}`, `sim_thing.a`, simProvider},
	{"output of a module", `resource "sim_thing" "a" { password_wo = module.m["p"].out }
module "m" {
  source   = "./m"
  for_each = toset(["p", "q"])
}`, `sim_thing.a`, `module.m["p"].ephemeral.sim_secret.in ` + simProvider},
	{"variable of a module", `module "n" {
  source = "./n"
  count  = 2
  in     = ephemeral.sim_secret.c[count.index].token
}`, `module.n[1].sim_thing.r`, `ephemeral.sim_secret.c[1] ` + simProvider},
	{"aliased provider", `provider "sim" { alias = "x" }
resource "sim_thing" "a" { provider = sim.x }`, `sim_thing.a`, simProvider + `.x`},
}

// What may be opened is known to the instance where keys follow from the instance's own key, and coarsely
// else.
func TestUses(t *testing.T) {
	const head = `
ephemeral "sim_secret" "one" {}
ephemeral "sim_secret" "k" { for_each = toset(["x", "y"]) }
ephemeral "sim_secret" "c" { count = 2 }
`
	for _, c := range usesCases {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, head+c.text+`
-- m/m.tf --
ephemeral "sim_secret" "in" {}
output "out" {
  value     = ephemeral.sim_secret.in.token
  ephemeral = true
}
-- n/n.tf --
variable "in" { ephemeral = true }
resource "sim_thing" "r" { password_wo = var.in }
`)
			if diff := cmp.Diff(c.want, useTexts(w.instance(c.of).Uses(w.task))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			w.clean()
			if log := w.host.taken(); log != "" {
				t.Errorf("asking for uses: got %s demanded, want nothing", log)
			}
		})
	}
}

var providerOfCases = []struct{ name, text, of, want string }{
	{"implied", `resource "sim_thing" "a" {}`, `sim_thing.a`, simProvider},
	{"alias", `
provider "sim" { alias = "x" }
resource "sim_thing" "a" { provider = sim.x }`, `sim_thing.a`, simProvider + `.x`},
	{"inherited", `
provider "sim" { region = "r" }
module "m" { source = "./plain" }`, `module.m.sim_thing.a`, simProvider},
	{"passed", `
provider "sim" { alias = "x" }
module "m" {
  source    = "./plain"
  providers = { sim = sim.x }
}`, `module.m.sim_thing.a`, simProvider + `.x`},
	{"passed on under another name", `
provider "sim" { alias = "x" }
module "m" {
  source    = "./outer"
  providers = { sim.mid = sim.x }
}`, `module.m.module.n.sim_thing.a`, simProvider + `.x`},
	{"own", `module "m" { source = "./own" }`, `module.m.sim_thing.a`, `module.m.` + simProvider},
	{"placeholder in the module", `
provider "sim" { region = "r" }
module "m" { source = "./placeholder" }`, `module.m.sim_thing.a`, `module.m.` + simProvider},
	{"placeholder in a module that is repeated", `
module "m" {
  source = "./placeholder"
  count  = 1
}`, `module.m[0].sim_thing.a`, `module.m.` + simProvider},
	{"placeholder in the module, passed", `
provider "sim" { alias = "x" }
module "m" {
  source    = "./placeholder"
  providers = { sim = sim.x }
}`, `module.m.sim_thing.a`, simProvider + `.x`},
	{"other local name", `
terraform {
  required_providers {
    mine = { source = "hashicorp/sim" }
  }
}
provider "mine" { region = "r" }
module "m" { source = "./plain" }`, `module.m.sim_thing.a`, simProvider},
	{"for_each", `
provider "sim" {
  alias    = "by"
  for_each = toset(["x", "y"])
}
resource "sim_thing" "a" {
  for_each = { p = "x" }
  provider = sim.by[each.value]
}`, `sim_thing.a["p"]`, simProvider + `.by["x"]`},
	{"for_each passed", `
provider "sim" {
  alias    = "by"
  for_each = toset(["x", "y"])
}
module "m" {
  source    = "./plain"
  for_each  = toset(["y"])
  providers = { sim = sim.by[each.key] }
}`, `module.m["y"].sim_thing.a`, simProvider + `.by["y"]`},
}

// Provider configurations are found by the names that modules know them by.
func TestProviderOf(t *testing.T) {
	for _, c := range providerOfCases {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, c.text+`
-- plain/m.tf --
resource "sim_thing" "a" {}
-- placeholder/m.tf --
provider "sim" {}
resource "sim_thing" "a" {}
-- own/m.tf --
provider "sim" { region = "own" }
resource "sim_thing" "a" {}
-- outer/m.tf --
terraform {
  required_providers {
    sim = {
      source                = "hashicorp/sim"
      configuration_aliases = [sim.mid]
    }
  }
}
module "n" {
  source    = "../plain"
  providers = { sim = sim.mid }
}`)
			p := w.instance(c.of).Provider(w.task)
			if p == nil {
				t.Fatalf("none: %s", w.errors())
			}
			if p.Addr.String() != c.want {
				t.Errorf("got %s, want %s", p.Addr, c.want)
			}
			if again, diags := w.run.Providers.ByAddr(w.task, p.Addr); again != p {
				t.Errorf("by address: got %v %s, want %v", again, lines(diags), p)
			}
			w.clean()
		})
	}
}

func TestProviderErrors(t *testing.T) {
	const text = `
variable "e" {
  default   = "x"
  ephemeral = true
}
provider "sim" {
  alias    = "by"
  for_each = toset(["x"])
  region   = each.key
}
resource "sim_thing" "a" { provider = sim.by[EXPR] }`
	for expr, want := range map[string]string{
		`var.e`: `error: main.tf:11,46-51: Invalid use of an ephemeral value: An ephemeral value cannot choose a provider instance: the choice is kept in the state.\n\nThe value is ephemeral because of var.e.`,
		`null`:  `error: main.tf:11,45-51: Invalid provider instance key: The instance key of a provider must be a string that is known before apply.`,
		`"q"`:   `error: provider["registry.opentofu.org/hashicorp/sim"].by["q"]: Provider instance not present: There is no instance ["q"] of this provider block: its for_each has no such key.`,
	} {
		w := planned(t, replaceExpr(text, expr))
		if p := w.instance("sim_thing.a").Provider(w.task); p != nil {
			_, diags := p.EvalBody(w.task, nil)
			for i := range diags {
				diags[i].Subject = nil
			}
			w.run.Report(diags)
		}
		if diff := cmp.Diff(want, w.errors()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expr, diff)
		}
	}
	w := planned(t, replaceExpr(text, `"x"`))
	v, diags := w.instance("sim_thing.a").Provider(w.task).EvalBody(w.task, nil)
	if got := show(v); got != `{key:null region:"x"}` || diags != nil {
		t.Errorf("got %s %s, want %s", got, lines(diags), `{key:null region:"x"}`)
	}
	for _, gone := range []addr.ProviderConfig{
		{Provider: addr.DefaultProvider("sim"), Alias: "gone"},
		{Provider: addr.DefaultProvider("sim"), Module: addr.RootInstance.Child("gone", addr.NoKey)},
	} {
		if _, diags := w.run.Providers.ByAddr(w.task, gone); !diags.HasErrors() {
			t.Errorf("%s, which is gone, was found", gone)
		}
	}
}
