terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}

variable "trigger" {
  type    = number
  default = 1
}

variable "fail" {
  default = null
}

variable "delay" {
  default = null
}

variable "by_option" {
  type      = string
  ephemeral = true
}

variable "by_env" {
  type      = string
  ephemeral = true
}

variable "by_args" {
  type      = string
  ephemeral = true
}

variable "by_auto" {
  type      = string
  ephemeral = true
}

variable "by_file" {
  type      = object({ user = string, password = string, number = number, key = string })
  ephemeral = true
}

# These are stored.
variable "sensitive" {
  type      = string
  sensitive = true
}

variable "plain" {
  type = string
}

variable "address" {
  type = string
}

locals {
  joined = "joined-${var.by_env}-${var.by_option}"
  unread = "${terraform_data.d.output[1]}-${var.sensitive}"
}

ephemeral "sim_secret" "s" {
  name = "@NAME@"
  hint = var.by_env
}

ephemeral "sim_token" "t" {
  name         = "@NAME@"
  parent_token = ephemeral.sim_secret.s.lease
}

provider "sim" {
  alias  = "secret"
  token  = ephemeral.sim_token.t.lease
  prefix = nonsensitive(var.by_file.password)
  region = base64encode(local.joined)
}

module "m" {
  source   = "./m"
  password = "${var.by_option}-${ephemeral.sim_secret.s.value}"
  stored   = var.sensitive
}

resource "sim_thing" "a" {
  name              = "a"
  secret_wo         = local.joined
  secret_wo_version = var.trigger
  tags              = { stored = var.sensitive, plain = var.plain }
  fail_on           = var.fail
  provisioner "local-exec" {
    command     = "echo '${module.m.out}' >&2; test -n \"$SECRET\""
    environment = { SECRET = var.by_file.password }
  }
}

resource "sim_thing" "named" {
  for_each  = toset([var.address])
  name      = "named"
  secret_wo = var.by_args
  tags      = { key = each.key, of = sim_thing.a.id }
}

resource "sim_vault" "v" {
  name       = "v"
  version    = var.trigger
  dynamic_wo = jsondecode(jsonencode({ secret = var.by_file.password, number = var.by_file.number }))
  object_wo  = { user = var.by_file.user, key = local.joined }
  map_wo     = { (var.by_file.key) = sha256(var.by_env) }
  list_block {
    list_block_wo = module.m.out
  }
  single_attr = { deep = [{ deep_attr_wo = ephemeral.sim_token.t.value }] }
  whole_wo    = { part_wo = upper(ephemeral.sim_secret.s.value) }
}

resource "sim_account" "listed" {
  name     = "listed"
  strict   = "other"
  password = "${var.by_option}-${module.m.out}"
  note     = sensitive(file("@KEPT@"))
  lifecycle {
    ephemeral_attributes = [password, note]
  }
}

resource "sim_account" "versioned" {
  name     = "versioned"
  password = "${var.by_file.password}-${ephemeral.sim_secret.s.value}"
  lifecycle {
    ephemeral_attributes = { password = var.trigger }
  }
}

resource "sim_account" "stored" {
  name     = "stored"
  password = var.sensitive
  note     = var.plain
  rotate   = var.trigger
}

resource "terraform_data" "d" {
  input            = [var.sensitive, var.plain]
  input_wo         = { secret = var.by_args, number = var.by_file.number }
  input_wo_version = var.trigger
  triggers_replace = var.trigger > 4 ? var.sensitive : "none"
}

# What a provider returns is sensitive only if its schema says so, so this is about a thing without secrets.
data "sim_lookup" "l" {
  name = sim_thing.named[var.address].name
  hint = var.sensitive
}

resource "sim_slow" "through" {
  provider = sim.secret
  name     = "through"
  trigger  = var.trigger
}

resource "sim_slow" "waits" {
  provider     = sim.secret
  name         = "waits"
  trigger      = var.trigger
  update_delay = var.delay
  create_delay = var.delay
  depends_on   = [sim_slow.through, sim_account.listed, sim_account.versioned, sim_account.stored, terraform_data.d]
}

check "c" {
  assert {
    condition     = var.trigger != 3 || sim_thing.a.tags.plain == ""
    error_message = "The check of ${var.plain} fails."
  }
}

output "parts" {
  value = ephemeralasnull({ secret = local.joined, plain = "words" })
}

output "stored" {
  value     = [var.sensitive, module.m.stored, sim_account.stored.password]
  sensitive = true
}

output "id" {
  value = "${sim_vault.v.id}-${var.plain}"
}
