# Puts two keys into the secret manager, and outputs where.

terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

provider "keep" {
  alias = "secrets-read-write"
  path  = "${path.module}/../rfc.age"
}

variable "access_key" {
  type      = string
  ephemeral = true
}

variable "secret_key" {
  type      = string
  ephemeral = true
}

locals {
  secrets = {
    "access_key" : var.access_key,
    "secret_key" : var.secret_key
  }
}

module "secret_management" {
  providers = {
    keep = keep.secrets-read-write
  }
  source         = "../mod"
  secret_map     = local.secrets
  secret_version = 2
}

output "secret_manager_id" {
  value = module.secret_management.secret_manager_id
}
