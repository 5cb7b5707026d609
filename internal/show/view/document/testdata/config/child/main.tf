terraform {
  required_providers {
    rnd = {
      source                = "hashicorp/random"
      configuration_aliases = [rnd.main]
    }
  }
}

variable "n" {
  nullable = false
}

resource "random_pet" "in" {
  provider = rnd.main
  length   = var.n
}

resource "random_pet" "plain" {
  provider = rnd
}

output "name" {
  value     = random_pet.in.id
  sensitive = false
}

output "eph" {
  value     = ephemeral.random_password.q.result
  ephemeral = true
}

ephemeral "random_password" "q" {
  provider = rnd
  length   = 4
}
