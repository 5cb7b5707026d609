# A state for each workspace, in one PostgreSQL database, which sees encrypted states only.

terraform {
  # The connection string is in the environment variable PG_CONN_STR.
  backend "pg" {}

  encryption {
    key_provider "pbkdf2" "team" {
      passphrase = var.passphrase
    }

    method "aes_gcm" "team" {
      keys = key_provider.pbkdf2.team
    }

    state {
      method   = method.aes_gcm.team
      enforced = true
    }

    plan {
      method   = method.aes_gcm.team
      enforced = true
    }
  }
}

variable "passphrase" {
  type      = string
  ephemeral = true
}

locals {
  servers = {
    staging    = 1
    production = 3
  }
}

resource "terraform_data" "server" {
  count = local.servers[terraform.workspace]
  input = "${terraform.workspace}-${count.index}"
}

output "servers" {
  value = terraform_data.server[*].output
}
