terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

provider "keep" {
  path = "${path.module}/keep.age"
}

ephemeral "keep_password" "token" {
  length = 32
}

# The token reaches the secret manager, and neither the plan nor the state.
resource "keep_secret" "token" {
  name             = "service/token"
  value_wo         = ephemeral.keep_password.token.result
  value_wo_version = 1
}

resource "terraform_data" "service" {
  input = { name = "web", secret = keep_secret.token.id }
}
