# Reads the two keys back, configures a provider with one of them, and stores both through it.

terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

provider "keep" {
  alias = "read-secrets"
  path  = "${path.module}/../rfc.age"
}

variable "secret_manager_id" {
  type = string
}

module "secret_management" {
  providers = {
    keep = keep.read-secrets
  }
  source            = "../mod"
  secret_manager_id = var.secret_manager_id
}

provider "keep" {
  alias      = "dev-access"
  path       = "${path.module}/../dev.age"
  passphrase = module.secret_management.secrets["secret_key"]
}

resource "keep_secret" "store_ephemeral_in_write_only" {
  provider         = keep.dev-access
  name             = "parameter_from_ephemeral_value"
  value_wo         = jsonencode(module.secret_management.secrets)
  value_wo_version = 1

  provisioner "local-exec" {
    when    = create
    command = "echo non-ephemeral value: ${keep_secret.store_ephemeral_in_write_only.id}"
  }

  provisioner "local-exec" {
    when    = create
    command = "echo ephemeral value from module: #${jsonencode(module.secret_management.secrets)}#"
  }
}
