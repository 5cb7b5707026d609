# Stores a map of secrets, or reads it back: two uses of one module, chosen by its arguments.

terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

variable "secret_map" {
  type      = map(string)
  default   = {}
  ephemeral = true
}

variable "secret_version" {
  type    = number
  default = 1
}

variable "secret_manager_id" {
  type    = string
  default = ""
}

locals {
  # Unknown until the note exists, like every identifier that a service gives.
  secret_name = one([for note in keep_note.manager : trimprefix(note.id, "keep:")])
}

resource "keep_note" "manager" {
  count = var.secret_version > 1 ? 1 : 0
  name  = "ephemeral-rfc-example"
  text  = "Holds the example's secrets."
}

resource "keep_secret" "secret_creation" {
  count            = var.secret_version > 1 ? 1 : 0
  name             = local.secret_name
  value_wo         = jsonencode(var.secret_map)
  value_wo_version = var.secret_version
}

# The identifier is known only after apply, so planning puts this off. The condition reads the secret back once it is stored.
ephemeral "keep_secret" "secret_retrieval" {
  count = var.secret_version > 1 ? 1 : 0
  name  = local.secret_name
  depends_on = [
    keep_secret.secret_creation
  ]

  lifecycle {
    postcondition {
      condition     = can(jsondecode(self.value))
      error_message = "The stored secret cannot be read back as a map."
    }
  }
}

ephemeral "keep_secret" "secret_retrieval_direct" {
  count = var.secret_version > 1 ? 0 : 1
  name  = var.secret_manager_id
}

output "secrets" {
  value = (var.secret_version > 1 ?
    jsondecode(ephemeral.keep_secret.secret_retrieval[0].value) :
  jsondecode(ephemeral.keep_secret.secret_retrieval_direct[0].value))
  ephemeral = true
}

output "secret_manager_id" {
  value = local.secret_name
}
