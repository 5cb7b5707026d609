terraform {
  required_providers {
    sim  = { source = "mayfly.dev/test/sim" }
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}

variable "trigger" {
  type    = number
  default = 1
}

variable "fail" {
  default = null
}

variable "exit" {
  default = 0
}

variable "delay" {
  default = null
}

variable "holds" {
  default = true
}

variable "convert" {
  default = false
}

variable "remote" {
  default = false
}

variable "by_option" {
  type      = string
  ephemeral = true
  validation {
    condition     = !startswith(var.by_option, "refused")
    error_message = "This value is refused."
  }
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

variable "wrong_type" {
  type      = object({ a = string })
  ephemeral = true
  default   = null
}

locals {
  joined  = "joined-${var.by_env}-${var.by_option}"
  encoded = base64encode(local.joined)
  hashed  = sha256(var.by_env)
  upper   = upper(var.by_args)
  parsed  = jsondecode(jsonencode({ secret = var.by_file.password, plain = "words", number = var.by_file.number }))
}

ephemeral "sim_secret" "s" {
  name = "@NAME@"
  hint = var.by_env
  lifecycle {
    precondition {
      condition     = var.holds || var.by_env == ""
      error_message = "The condition on ${var.by_env} does not hold."
    }
    precondition {
      condition     = var.convert ? tonumber(var.by_env) > 0 : true
      error_message = "The number ${var.by_env} is too small."
    }
    postcondition {
      condition     = self.value != var.by_option
      error_message = "The value ${self.value} is that of the option."
    }
  }
}

ephemeral "sim_token" "t" {
  name         = "@NAME@"
  parent_token = ephemeral.sim_secret.s.lease
}

provider "sim" {
  alias  = "secret"
  token  = ephemeral.sim_token.t.lease
  prefix = nonsensitive(var.by_file.password)
  region = local.encoded
}

provider "keep" {
  passphrase = var.by_args
}

ephemeral "keep_password" "p" {
  length = 40
}

resource "keep_secret" "k" {
  name             = "app/k"
  value_wo         = ephemeral.keep_password.p.result
  value_wo_version = var.trigger
}

ephemeral "keep_secret" "k" {
  name = keep_secret.k.id
}

module "m" {
  source   = "./m"
  password = "${var.by_option}-${ephemeral.sim_secret.s.value}"
}

resource "sim_thing" "a" {
  name              = "a"
  secret_wo         = local.joined
  secret_wo_version = var.trigger
  fail_on           = var.fail
  provisioner "local-exec" {
    command     = "env > \"$CANARY_CHILDREN/asked\"; printf %s '${module.m.out}' '${local.upper}'; echo \"$SECRET\" >&2; exit ${var.exit}"
    environment = { SECRET = var.by_file.password, KEPT = ephemeral.keep_secret.k.value }
  }
  provisioner "local-exec" {
    command = "env > \"$CANARY_CHILDREN/provisioner\""
  }
  provisioner "local-exec" {
    when    = destroy
    command = "env > \"$CANARY_CHILDREN/destroyed\""
  }
}

resource "sim_thing" "remote" {
  count = var.remote ? 1 : 0
  name  = "remote"
  connection {
    type     = "ssh"
    host     = "127.0.0.1"
    port     = 1
    user     = var.by_file.user
    password = var.by_auto
    timeout  = "1s"
  }
  provisioner "remote-exec" {
    inline = ["echo '${var.by_args}'"]
  }
}

resource "sim_vault" "v" {
  name       = "v"
  version    = var.trigger
  dynamic_wo = local.parsed
  object_wo  = { user = var.by_file.user, key = local.encoded }
  map_wo     = { (var.by_file.key) = local.hashed }
  list_block {
    list_block_wo = module.m.out
  }
  dynamic "list_block" {
    for_each = ["x"]
    content {
      list_block_wo = var.by_auto
    }
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

# The provider computes the token: a new one for each trigger.
resource "sim_account" "made" {
  name   = "made"
  rotate = var.trigger
  lifecycle {
    ephemeral_attributes = [token]
  }
}

resource "sim_thing" "takes" {
  name              = "takes"
  secret_wo         = sim_account.made.token
  secret_wo_version = var.trigger
}

resource "terraform_data" "d" {
  input_wo         = { secret = var.by_args, number = var.by_file.number, kept = ephemeral.keep_secret.k.value }
  input_wo_version = var.trigger
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
  depends_on   = [sim_slow.through, keep_secret.k, sim_account.listed, sim_account.versioned]
}

check "c" {
  assert {
    condition     = var.holds || var.by_auto == ""
    error_message = "The check of ${var.by_auto} does not hold."
  }
}

output "parts" {
  value = ephemeralasnull({ secret = local.joined, plain = "words" })
}

output "id" {
  value = sim_vault.v.id
}
