# From nothing to converged in one command, although the second half of it cannot be planned before the first half exists.

terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

variable "tenants" {
  type    = set(string)
  default = ["blue", "green"]
}

# The store of the platform. It has the passphrase of the tenants' store.
provider "keep" {}

ephemeral "keep_password" "new" {
  length = 32
}

resource "keep_secret" "passphrase" {
  name             = "tenants/passphrase"
  value_wo         = ephemeral.keep_password.new.result
  value_wo_version = 1
}

ephemeral "keep_secret" "passphrase" {
  name = keep_secret.passphrase.id
}

# The store of the tenants, which only this passphrase opens. The first round has none yet.
provider "keep" {
  alias      = "tenants"
  path       = "tenants.age"
  passphrase = ephemeral.keep_secret.passphrase.value
}

# The registry of tenants. Its output is known once it exists, as with most things that a provider makes.
resource "terraform_data" "registry" {
  input = var.tenants
}

# One secret for each tenant, in the tenants' store.
resource "keep_secret" "tenant" {
  for_each = terraform_data.registry.output
  provider = keep.tenants

  name             = "tenant/${each.key}"
  value_wo         = ephemeral.keep_password.new.result
  value_wo_version = 1
}

output "tenants" {
  value = [for s in keep_secret.tenant : s.name]
}
