# A password that no resource has a write-only argument for. It is in the secret manager, in the memory of a run, and where it is set, and in no state.

terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

# Raise it to make a new password.
variable "password_version" {
  type    = number
  default = 1
}

# A new password, in memory only, each time it is opened.
ephemeral "keep_password" "db" {
  length = 32
}

resource "keep_secret" "db" {
  name             = "app/db"
  value_wo         = ephemeral.keep_password.db.result
  value_wo_version = var.password_version
}

# The password as it is stored, which stays the same until the version changes. Because of depends_on, a plan that changes the password does
# not read the old one: whether the value differs is known after the apply.
ephemeral "keep_secret" "db" {
  name       = keep_secret.db.id
  depends_on = [keep_secret.db]
}

# text is an ordinary argument. In a real configuration this is postgresql_role with its password, or the like.
resource "keep_note" "role" {
  name = "postgres/role/app"
  text = ephemeral.keep_secret.db.value

  lifecycle {
    ephemeral_attributes = [text]
  }
}

# With a version, the password is opened only when the version changes: a plan without changes does not open it for this resource.
resource "keep_note" "settings" {
  name = "app/settings"
  text = "postgres://app:${ephemeral.keep_secret.db.value}@db.example.com/app"

  lifecycle {
    ephemeral_attributes = { text = keep_secret.db.value_wo_version }
  }
}

# A service that restarts when the password changes. The state knows only whether it has.
resource "terraform_data" "service" {
  triggers_replace = ephemeral.keep_secret.db.value

  provisioner "local-exec" {
    command = "echo the service restarts"
  }

  lifecycle {
    ephemeral_attributes = [triggers_replace]
  }
}
