terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

# Without this, the store would be in the working directory of the program.
provider "keep" {
  path = "${path.module}/keep.age"
}

ephemeral "keep_password" "db" {}

resource "keep_secret" "db" {
  name             = "app/db"
  value_wo         = ephemeral.keep_password.db.result
  value_wo_version = 1
}
