# A password is set, and one step of several uses it. The run is drawn in docs/images/timeline.svg.

terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}

variable "pace" {
  description = "Seconds that a step takes, at least."
  type        = number
  default     = 1
}

ephemeral "keep_password" "db" {}

resource "keep_secret" "db" {
  name             = "db"
  value_wo         = ephemeral.keep_password.db.result
  value_wo_version = 1
}

ephemeral "keep_secret" "db" {
  name = keep_secret.db.id
}

resource "terraform_data" "network" {
  provisioner "local-exec" {
    command = "sleep ${3 * var.pace}"
  }
}

resource "terraform_data" "migration" {
  input = terraform_data.network.id

  provisioner "local-exec" {
    command = "sleep ${var.pace}"
    environment = {
      PASSWORD = ephemeral.keep_secret.db.value
    }
  }
}

resource "terraform_data" "service" {
  input = terraform_data.migration.id

  provisioner "local-exec" {
    command = "sleep ${3 * var.pace}"
  }
}
