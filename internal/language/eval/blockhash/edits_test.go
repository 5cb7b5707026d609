package blockhash

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

const everything = `
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
  provider_meta "sim" {
    product = "p1"
  }
}
variable "region" {
  type    = string
  default = "eu"
}
variable "secret" {
  type      = string
  sensitive = true
  default   = "hunter2"
}
variable "passing" {
  type      = string
  ephemeral = true
  default   = "e1"
}
variable "tags" {
  type     = map(string)
  default  = {}
  nullable = true
  validation {
    condition     = length(var.tags) < 9
    error_message = "Too many."
  }
}
locals {
  name = "n-${var.region}"
  one  = 1
  pair = [local.name, "x"]
}
provider "sim" {
  region = local.name
  key    = ephemeral.sim_secret.s.token
}
provider "sim" {
  alias  = "other"
  region = "r2"
}
ephemeral "sim_secret" "s" {
  provider = sim.other
  name     = "vault"
}
resource "sim_thing" "a" {
  name = local.name
  tags = var.tags
  rule { value = "r1" }
  rule { value = "r2" }
  lifecycle {
    precondition {
      condition     = local.one == 1
      error_message = "Not one."
    }
    postcondition {
      condition     = self.name != ""
      error_message = "No name."
    }
  }
}
resource "sim_thing" "b" {
  provider   = sim.other
  count      = local.one + 1
  name       = "${sim_thing.a.id}-${count.index}"
  depends_on = [sim_thing.c, module.m]
  lifecycle {
    create_before_destroy = false
    prevent_destroy       = false
    ignore_changes        = [tags, list]
    replace_triggered_by  = [sim_thing.a.n]
  }
}
resource "sim_thing" "c" {
  provider = sim.other
  for_each = { x = local.pair[1] }
  name     = each.value
}
resource "sim_thing" "k" {
  provider = sim.other
  for_each = toset(["p"])
  name     = each.key
}
resource "sim_thing" "file" {
  provider = sim.other
  name     = file("${path.module}/a.txt")
  any      = [for f in fileset(path.module, "*.conf") : upper(f)]
}
resource "sim_thing" "template" {
  provider = sim.other
  name     = templatefile("t.tpl", { x = local.one })
}
resource "sim_thing" "place" {
  provider = sim.other
  name     = "${terraform.workspace} ${path.cwd}"
}
resource "sim_thing" "sec" {
  provider = sim.other
  name     = var.secret
}
resource "sim_thing" "wo" {
  provider    = sim.other
  password_wo = "literal ${ephemeral.sim_secret.s.token}"
  n           = 1
  nested      = { user = "u", pin_wo = var.passing }
}
resource "sim_thing" "eph" {
  provider = sim.other
  password = ephemeral.sim_secret.s.token
  lifecycle {
    ephemeral_attributes = { password = local.one }
  }
}
resource "sim_thing" "prov" {
  provider = sim.other
  provisioner "local-exec" {
    command = "echo ${local.one}"
  }
  provisioner "remote-exec" {
    when   = destroy
    inline = ["ls"]
    connection {
      host = "h"
    }
  }
}
resource "sim_thing" "act" {
  provider = sim.other
  lifecycle {
    action_trigger {
      events    = [after_create]
      condition = local.one == 1
      actions   = [action.sim_act.run]
    }
  }
}
action "sim_act" "run" {
  provider = sim.other
  config {
    name = "go"
  }
}
data "sim_data" "d" {
  provider = sim.other
  name     = sim_thing.a.id
}
module "m" {
  source     = "./m"
  providers  = { sim = sim.other }
  for_each   = { q = "v" }
  in         = each.value
  fixed      = "f"
  depends_on = [sim_thing.k]
}
output "o" {
  value = module.m["q"].out
}
output "keys" {
  value = { for k, x in module.m : k => x.other }
}
check "c" {
  assert {
    condition     = sim_thing.a.name != local.name
    error_message = "Same."
  }
}
-- z.tf --
resource "sim_thing" "z" {
  provider = sim.other
  name     = "z"
}
-- m/main.tf --
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
}
variable "in" {
  type = string
}
variable "fixed" {
  type = string
}
variable "unset" {
  default = "d"
}
resource "sim_thing" "in" {
  name = var.in
}
resource "sim_thing" "fixed" {
  name = var.fixed
}
output "out" {
  value = "${var.in}-${sim_thing.in.id}"
}
output "other" {
  value = var.unset
}
-- a.txt --
content
-- t.tpl --
text ${x}
-- one.conf --
1
`

// edit is a change to the configuration, and the blocks whose hashes change.
type edit struct {
	name string
	file string // main.tf if empty
	old  string // replaced once; if it is empty, the new text is appended
	new  string
	set  func(*setting)
	want string
}

// users of the provider configuration without an alias.
const usersOfDefault = "provider.sim resource.sim_thing.a"

// allOfProvider are the blocks of the provider.
const allOfProvider = "provider.sim.other provider.sim " +
	"action.sim_act.run data.sim_data.d ephemeral.sim_secret.s module.m.resource.sim_thing.fixed module.m.resource.sim_thing.in resource.sim_thing.a " +
	"resource.sim_thing.act resource.sim_thing.b resource.sim_thing.c resource.sim_thing.eph resource.sim_thing.file resource.sim_thing.k " +
	"resource.sim_thing.place resource.sim_thing.prov resource.sim_thing.sec resource.sim_thing.template resource.sim_thing.wo resource.sim_thing.z"

var edits = []edit{
	// Nothing changes.
	{name: "comment", old: "locals {", new: "# why\nlocals { // here"},
	{name: "comment in an expression", old: "local.one + 1", new: "local.one /* and */ + 1"},
	{name: "white space", old: "local.one + 1", new: "local.one+1"},
	{name: "line break", old: "toset([\"p\"])", new: "toset([\n\"p\",\n])"},
	{name: "order of arguments", old: "  name = local.name\n  tags = var.tags\n", new: "  tags = var.tags\n  name = local.name\n"},
	{name: "another file", set: func(s *setting) { s.files["0.tf"] = s.files["z.tf"]; s.files["z.tf"] = "" }},
	{name: "order of blocks", set: func(s *setting) { s.files["main.tf"] = backwards(s.files["main.tf"]) }},
	{name: "description", old: "  default = \"eu\"\n", new: "  default = \"eu\"\n  description = \"where\"\n"},
	{name: "moved", new: "moved {\n  from = sim_thing.old\n  to = sim_thing.a\n}"},
	{name: "removed", new: "removed {\n  from = sim_thing.old\n  lifecycle { destroy = false }\n}"},
	{name: "import", new: "import {\n  to = sim_thing.a\n  id = local.name\n}"},
	{name: "ephemeral variable", old: "\"e1\"", new: "\"e2\""},
	{name: "ephemeral resource of an argument that is not hashed", old: "\"vault\"", new: "\"safe\"", want: "ephemeral.sim_secret.s"},
	{name: "write-only argument", old: "literal $", new: "other $"},
	{name: "nested write-only argument", old: "pin_wo = var.passing", new: "pin_wo = \"1\""},
	{name: "ephemeral attribute", old: "password = ephemeral.sim_secret.s.token", new: "password = \"${ephemeral.sim_secret.s.token}!\""},
	{name: "ephemeral part of a provider's configuration", old: "key    = ephemeral.sim_secret.s.token", new: "key    = \"${var.passing}x\""},
	{name: "action", old: "\"go\"", new: "\"stop\"", want: "action.sim_act.run"},
	{name: "file that nothing reads", set: func(s *setting) { s.files["two.txt"] = "2" }},
	{name: "order of depends_on", old: "[sim_thing.c, module.m]", new: "[module.m, sim_thing.c]"},
	{name: "default of a variable that is given", old: "\"eu\"", new: "\"us\"", set: func(s *setting) { s.vars = map[string]cty.Value{"region": cty.StringVal("eu")} }},

	// Expressions and bodies.
	{name: "literal", file: "z.tf", old: "name     = \"z\"", new: "name     = \"y\"", want: "resource.sim_thing.z"},
	{name: "other argument", file: "z.tf", old: "name     = \"z\"", new: "password = \"z\"", want: "resource.sim_thing.z"},
	{name: "literal of a local value", old: "one  = 1", new: "one  = 2", want: "local.one repetition.resource.sim_thing.b resource.sim_thing.a resource.sim_thing.act resource.sim_thing.eph resource.sim_thing.prov resource.sim_thing.template"},
	{name: "renamed local value", set: func(s *setting) {
		s.files["main.tf"] = strings.NewReplacer("pair = ", "both = ", "local.pair", "local.both").Replace(s.files["main.tf"])
	}, want: "+local.both -local.pair repetition.resource.sim_thing.c resource.sim_thing.c"},
	{name: "argument taken away", old: "  tags = var.tags\n", want: "resource.sim_thing.a"},
	{name: "blocks in another order", old: "  rule { value = \"r1\" }\n  rule { value = \"r2\" }\n", new: "  rule { value = \"r2\" }\n  rule { value = \"r1\" }\n", want: "resource.sim_thing.a"},
	{name: "dynamic block", old: "  rule { value = \"r2\" }\n", new: "  dynamic \"rule\" {\n    for_each = [\"r2\"]\n    content { value = rule.value }\n  }\n", want: "resource.sim_thing.a"},
	{name: "write-only argument taken away", old: "  password_wo = \"literal ${ephemeral.sim_secret.s.token}\"\n", want: "resource.sim_thing.wo"},
	{name: "other part of an object with a write-only one", old: "user = \"u\"", new: "user = \"v\"", want: "resource.sim_thing.wo"},
	{name: "splat", old: "one  = 1", new: "one  = length(sim_thing.k[*])", want: "local.one repetition.resource.sim_thing.b resource.sim_thing.a resource.sim_thing.act resource.sim_thing.eph resource.sim_thing.prov resource.sim_thing.template"},

	// Variables.
	{name: "default", old: "\"eu\"", new: "\"us\"", want: "check.c local.name local.pair provider.sim repetition.resource.sim_thing.c resource.sim_thing.a resource.sim_thing.c var.region"},
	{name: "given value", set: func(s *setting) {
		s.vars = map[string]cty.Value{"tags": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("b")})}
	}, want: "resource.sim_thing.a var.tags"},
	{name: "type", old: "type     = map(string)", new: "type     = map(any)", want: "resource.sim_thing.a var.tags"},
	{name: "optional attribute with a default", old: "variable \"tags\" {\n  type     = map(string)", new: "variable \"tags\" {\n  type     = object({ a = optional(string, \"x\") })", want: "resource.sim_thing.a var.tags"},
	{name: "nullable", old: "nullable = true", new: "nullable = false", want: "resource.sim_thing.a var.tags"},
	{name: "sensitive", old: "  nullable = true\n", new: "  sensitive = true\n", want: "resource.sim_thing.a var.tags"},
	{name: "validation", old: "< 9", new: "< 8", want: "resource.sim_thing.a var.tags"},
	{name: "message of a validation", old: "Too many.", new: "Far too many.", want: "resource.sim_thing.a var.tags"},
	{name: "sensitive value", set: func(s *setting) { s.vars = map[string]cty.Value{"secret": cty.StringVal("hunter3")} }, want: "resource.sim_thing.sec var.secret"},

	{name: "sensitive variable of a module", file: "m/main.tf", old: "variable \"in\" {\n  type = string\n", new: "variable \"in\" {\n  type = string\n  sensitive = true\n", want: "module.m.output.out module.m.resource.sim_thing.in module.m.var.in output.o resource.sim_thing.b"},
	{name: "ephemeral variable of a module", file: "m/main.tf", old: "variable \"in\" {\n  type = string\n", new: "variable \"in\" {\n  type = string\n  ephemeral = true\n", want: "module.m.output.out module.m.resource.sim_thing.in module.m.var.in output.o resource.sim_thing.b"},
	{name: "type of a variable of a module", file: "m/main.tf", old: "variable \"in\" {\n  type = string\n", new: "variable \"in\" {\n  type = any\n", want: "module.m.output.out module.m.resource.sim_thing.in module.m.var.in output.o resource.sim_thing.b"},
	{name: "deprecated variable of a module", file: "m/main.tf", old: "variable \"fixed\" {\n  type = string\n", new: "variable \"fixed\" {\n  type = string\n  deprecated = \"old\"\n", want: "module.m.resource.sim_thing.fixed module.m.var.fixed"},

	// Settings of resources.
	{name: "precondition", old: "local.one == 1\n      error_message = \"Not", new: "local.one != 1\n      error_message = \"Not", want: "resource.sim_thing.a"},
	{name: "postcondition", old: "self.name != \"\"", new: "self.name != \"x\"", want: "resource.sim_thing.a"},
	{name: "create_before_destroy", old: "create_before_destroy = false", new: "create_before_destroy = true", want: "resource.sim_thing.b"},
	{name: "prevent_destroy", old: "prevent_destroy       = false", new: "prevent_destroy       = true", want: "resource.sim_thing.b"},
	{name: "ignore_changes", old: "[tags, list]", new: "[tags]", want: "resource.sim_thing.b"},
	{name: "ignore_changes of all", old: "[tags, list]", new: "all", want: "resource.sim_thing.b"},
	{name: "replace_triggered_by", old: "[sim_thing.a.n]", new: "[sim_thing.a]", want: "resource.sim_thing.b"},
	{name: "destroy", old: "    prevent_destroy       = false\n", new: "    destroy = false\n", want: "resource.sim_thing.b"},
	{name: "depends_on", old: "[sim_thing.c, module.m]", new: "[sim_thing.c]", want: "resource.sim_thing.b"},
	{name: "other attribute in ignore_changes", old: "[tags, list]", new: "[tags, name]", want: "resource.sim_thing.b"},
	{name: "destroy alone", file: "z.tf", old: "\"z\"\n", new: "\"z\"\n  lifecycle {\n    destroy = false\n  }\n", want: "resource.sim_thing.z"},
	{name: "ignore_changes of all alone", file: "z.tf", old: "\"z\"\n", new: "\"z\"\n  lifecycle {\n    ignore_changes = all\n  }\n", want: "resource.sim_thing.z"},
	{name: "create_before_destroy alone", file: "z.tf", old: "\"z\"\n", new: "\"z\"\n  lifecycle {\n    create_before_destroy = true\n  }\n", want: "resource.sim_thing.z"},
	{name: "depends_on of a resource that is read anyway", old: "[sim_thing.c, module.m]", new: "[sim_thing.c, module.m, sim_thing.a]", want: "resource.sim_thing.b"},
	{name: "provisioner", old: "echo $", new: "print $", want: "resource.sim_thing.prov"},
	{name: "on_failure", old: "    command = ", new: "    on_failure = continue\n    command = ", want: "resource.sim_thing.prov"},
	{name: "when", old: "    when   = destroy\n", want: "resource.sim_thing.prov"},
	{name: "destroy-time provisioner", old: "[\"ls\"]", new: "[\"ps\"]", want: "resource.sim_thing.prov"},
	{name: "connection", old: "host = \"h\"", new: "host = \"i\"", want: "resource.sim_thing.prov"},
	{name: "events of actions", old: "after_create", new: "after_update", want: "resource.sim_thing.act"},
	{name: "condition of actions", old: "condition = local.one == 1\n      actions", new: "condition = true\n      actions", want: "resource.sim_thing.act"},
	{name: "repeated action", old: "action \"sim_act\" \"run\" {\n", new: "action \"sim_act\" \"run\" {\n  count = 1\n", set: func(s *setting) {
		s.files["main.tf"] = strings.ReplaceAll(s.files["main.tf"], "action.sim_act.run]", "action.sim_act.run[0]]")
	}, want: "+repetition.action.sim_act.run action.sim_act.run resource.sim_thing.act"},
	{name: "ephemeral_attributes", old: "    ephemeral_attributes = { password = local.one }\n", new: "    ephemeral_attributes = { password = local.one, name = 1 }\n", want: "resource.sim_thing.eph"},
	{name: "version of an ephemeral attribute", old: "{ password = local.one }", new: "{ password = 7 }", want: "resource.sim_thing.eph"},
	{name: "ephemeral attribute without a version", old: "{ password = local.one }", new: "[password]", want: "resource.sim_thing.eph?"},
	{name: "policy", new: "ephemeral_attributes \"sim_thing\" { names = [list] }\n", want: "module.m.resource.sim_thing.fixed module.m.resource.sim_thing.in resource.sim_thing.a resource.sim_thing.act resource.sim_thing.b resource.sim_thing.c resource.sim_thing.eph resource.sim_thing.file resource.sim_thing.k resource.sim_thing.place resource.sim_thing.prov resource.sim_thing.sec resource.sim_thing.template resource.sim_thing.wo resource.sim_thing.z"},
	{name: "policy about an argument", new: "ephemeral_attributes \"sim_thing\" { names = [n] }\n", want: "module.m.resource.sim_thing.fixed module.m.resource.sim_thing.in resource.sim_thing.a resource.sim_thing.act resource.sim_thing.b resource.sim_thing.c resource.sim_thing.eph resource.sim_thing.file resource.sim_thing.k resource.sim_thing.place resource.sim_thing.prov resource.sim_thing.sec resource.sim_thing.template resource.sim_thing.wo? resource.sim_thing.z"},
	{name: "provider_meta", old: "\"p1\"", new: "\"p2\"", want: "action.sim_act.run data.sim_data.d ephemeral.sim_secret.s resource.sim_thing.a resource.sim_thing.act resource.sim_thing.b resource.sim_thing.c resource.sim_thing.eph resource.sim_thing.file resource.sim_thing.k resource.sim_thing.place resource.sim_thing.prov resource.sim_thing.sec resource.sim_thing.template resource.sim_thing.wo resource.sim_thing.z"},

	// Repetition.
	{name: "count", old: "local.one + 1", new: "local.one + 2", want: "repetition.resource.sim_thing.b"},
	{name: "count to for_each", old: "count      = local.one + 1\n  name       = \"${sim_thing.a.id}-${count.index}\"", new: "for_each   = toset([\"0\"])\n  name       = sim_thing.a.id", want: "repetition.resource.sim_thing.b resource.sim_thing.b"},
	{name: "count of what others read", old: "resource \"sim_thing\" \"a\" {\n", new: "resource \"sim_thing\" \"a\" {\n  count = 1\n", set: func(s *setting) {
		s.files["main.tf"] = strings.NewReplacer("sim_thing.a.", "sim_thing.a[0].").Replace(s.files["main.tf"])
	}, want: "+repetition.resource.sim_thing.a check.c data.sim_data.d resource.sim_thing.a resource.sim_thing.b"},
	{name: "enabled", old: "    prevent_destroy       = false\n", new: "    enabled = true\n", set: func(s *setting) {
		s.files["main.tf"] = strings.NewReplacer("  count      = local.one + 1\n", "", "-${count.index}", "").Replace(s.files["main.tf"])
	}, want: "repetition.resource.sim_thing.b resource.sim_thing.b"},
	{name: "key of for_each alone", old: "toset([\"p\"])", new: "toset([\"q\"])", want: "repetition.resource.sim_thing.k"},
	{name: "literal behind each.value", old: "\"x\"]", new: "\"y\"]", want: "local.pair repetition.resource.sim_thing.c resource.sim_thing.c"},
	{name: "form of what depends_on names", old: "  for_each = { x = local.pair[1] }\n  name     = each.value\n", new: "  name     = \"c\"\n", want: "-repetition.resource.sim_thing.c resource.sim_thing.b resource.sim_thing.c"},

	// Modules.
	{name: "argument of a call", old: "fixed      = \"f\"", new: "fixed      = \"g\"", want: "module.m.resource.sim_thing.fixed module.m.var.fixed"},
	{name: "element of a call", old: "{ q = \"v\" }", new: "{ q = \"w\" }", want: "module.m module.m.output.out module.m.resource.sim_thing.in module.m.var.in output.keys output.o resource.sim_thing.b"},
	{name: "literal in for_each behind each.value", old: "{ q = \"v\" }", new: "{ q = \"v\", r = \"v\" }", want: "module.m module.m.output.out module.m.resource.sim_thing.in module.m.var.in output.keys output.o resource.sim_thing.b"},
	{name: "call without repetition", old: "  for_each   = { q = \"v\" }\n  in         = each.value\n", new: "  in         = \"v\"\n", set: func(s *setting) {
		s.files["main.tf"] = strings.NewReplacer("module.m[\"q\"]", "module.m", "{ for k, x in module.m : k => x.other }", "module.m.other").Replace(s.files["main.tf"])
	}, want: "module.m module.m.output.other module.m.output.out module.m.resource.sim_thing.fixed module.m.resource.sim_thing.in module.m.var.fixed module.m.var.in module.m.var.unset output.keys output.o resource.sim_thing.b"},
	{name: "depends_on of a call", old: "depends_on = [sim_thing.k]", new: "depends_on = [sim_thing.z]", want: "module.m.resource.sim_thing.fixed module.m.resource.sim_thing.in resource.sim_thing.b"},
	{name: "provider of a call", old: "{ sim = sim.other }", new: "{ sim = sim }", want: "module.m.resource.sim_thing.fixed module.m.resource.sim_thing.in"},
	{name: "default of a variable of a module", file: "m/main.tf", old: "\"d\"", new: "\"e\"", want: "module.m.output.other module.m.var.unset output.keys resource.sim_thing.b"},
	{name: "argument in place of a default", old: "fixed      = \"f\"", new: "fixed      = \"f\"\n  unset      = \"d\"", want: "module.m.output.other module.m.var.unset output.keys resource.sim_thing.b"},
	{name: "output of a module", file: "m/main.tf", old: "${var.in}-", new: "${var.in}+", want: "module.m.output.out output.o resource.sim_thing.b"},
	{name: "sensitive output", file: "m/main.tf", old: "value = var.unset", new: "value = var.unset\n  sensitive = true", want: "module.m.output.other output.keys resource.sim_thing.b"},
	{name: "new resource in a module", file: "m/main.tf", new: "resource \"sim_thing\" \"new\" {}\n", want: "+module.m.resource.sim_thing.new resource.sim_thing.b"},
	{name: "new output of a module", file: "m/main.tf", new: "output \"new\" {\n  value = 1\n}\n", want: "+module.m.output.new resource.sim_thing.b"},
	{name: "source of a call", old: "\"./m\"", new: "\"./n\"", set: func(s *setting) { s.files["n/main.tf"] = s.files["m/main.tf"] }},

	// Outputs and checks.
	{name: "output", old: "module.m[\"q\"].out", new: "upper(module.m[\"q\"].out)", want: "output.o"},
	{name: "all of a module", old: "x.other", new: "x", want: "output.keys"},
	{name: "type of an output", old: "value = module.m[\"q\"].out", new: "type = string\n  value = module.m[\"q\"].out", want: "output.o"},
	{name: "precondition of an output", old: "value = module.m[\"q\"].out\n", new: "value = module.m[\"q\"].out\n  precondition {\n    condition = local.one == 1\n    error_message = \"No.\"\n  }\n", want: "output.o"},
	{name: "depends_on of an output", old: "value = module.m[\"q\"].out\n", new: "value = module.m[\"q\"].out\n  depends_on = [sim_thing.z]\n", want: "output.o"},
	{name: "assertion", old: "sim_thing.a.name != local.name", new: "sim_thing.a.name == local.name", want: "check.c"},

	// Providers.
	{name: "configuration of a provider", old: "region = local.name", new: "region = \"x\"", want: usersOfDefault},
	{name: "other configuration of a provider", old: "\"r2\"", new: "\"r3\"", want: "action.sim_act.run data.sim_data.d ephemeral.sim_secret.s module.m.resource.sim_thing.fixed module.m.resource.sim_thing.in provider.sim.other resource.sim_thing.act resource.sim_thing.b resource.sim_thing.c resource.sim_thing.eph resource.sim_thing.file resource.sim_thing.k resource.sim_thing.place resource.sim_thing.prov resource.sim_thing.sec resource.sim_thing.template resource.sim_thing.wo resource.sim_thing.z"},
	{name: "argument of a provider taken away", old: "  key    = ephemeral.sim_secret.s.token\n", want: usersOfDefault},
	{name: "version of a provider", set: func(s *setting) { s.version = "1.0.1" }, want: allOfProvider},
	{name: "provider under development", set: func(s *setting) { s.version = "" }, want: strings.ReplaceAll(allOfProvider, " ", "? ") + "?"},
	{name: "version of schemas", set: func(s *setting) { s.schemas.version = 1 }, want: strings.TrimPrefix(allOfProvider, "provider.sim.other provider.sim ")},
	{name: "provider of a resource", old: "resource \"sim_thing\" \"z\"", new: "", file: "z.tf", set: func(s *setting) {
		s.files["z.tf"] = "resource \"sim_thing\" \"z\" {\n  name = \"z\"\n}\n"
	}, want: "resource.sim_thing.z"},

	// Surroundings.
	{name: "workspace", set: func(s *setting) { s.workspace = "w2" }, want: "resource.sim_thing.place"},
	{name: "working directory", set: func(s *setting) { s.workDir = "/v" }, want: "resource.sim_thing.place"},
	{name: "content of a file", file: "a.txt", old: "content", new: "other", want: "resource.sim_thing.file"},
	{name: "new file that fileset finds", set: func(s *setting) { s.files["two.conf"] = "" }, want: "resource.sim_thing.file"},
	{name: "content of a file that fileset finds", file: "one.conf", old: "1", new: "2"},
	{name: "content of a template", file: "t.tpl", old: "text", new: "test", want: "resource.sim_thing.template"},
	{name: "variable of a template", old: "{ x = local.one }", new: "{ x = 5 }", want: "resource.sim_thing.template"},
	{name: "time in a template", file: "t.tpl", old: "${x}", new: "${x} ${timestamp()}", want: "resource.sim_thing.template?"},
	{name: "file in a template", file: "t.tpl", old: "${x}", new: "${file(x)}", want: "resource.sim_thing.template?"},
	{name: "time", old: "one  = 1", new: "one  = timestamp()", want: "local.one? repetition.resource.sim_thing.b? resource.sim_thing.a? resource.sim_thing.act? resource.sim_thing.eph? resource.sim_thing.prov? resource.sim_thing.template?"},
}

// backwards returns a text with its top-level blocks in the opposite order.
func backwards(text string) string {
	var out []string
	for line := range strings.SplitAfterSeq(text, "\n") {
		if len(out) == 0 || line != "" && line[0] != ' ' && line[0] != '}' && line[0] != '\n' {
			out = append(out, "")
		}
		out[len(out)-1] += line
	}
	slices.Reverse(out)
	return strings.Join(out, "")
}

func TestEdits(t *testing.T) {
	before := newSetting(t, everything).hash(t)
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			s := newSetting(t, everything)
			file := e.file
			if file == "" {
				file = "main.tf"
			}
			if e.old != "" {
				if !strings.Contains(s.files[file], e.old) {
					t.Fatalf("got no %q in %s, want it there", e.old, file)
				}
				if e.new != "" || e.set == nil {
					s.files[file] = strings.Replace(s.files[file], e.old, e.new, 1)
				}
			} else {
				s.files[file] += e.new
			}
			if e.set != nil {
				e.set(s)
			}
			want := strings.Fields(e.want)
			slices.Sort(want)
			if got := changed(before, s.hash(t)); !slices.Equal(got, want) {
				t.Errorf("changed hashes:\ngot  %s\nwant %s", strings.Join(got, " "), strings.Join(want, " "))
			}
		})
	}
}
