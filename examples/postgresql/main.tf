# A role of PostgreSQL, whose password no state has: not the state in this database, and not the one of another engine that reads it.

terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }

  # The state is in the database that PG_CONN_STR names, like the role.
  backend "pg" {}
}

# Raise it to make a new password.
variable "password_version" {
  type    = number
  default = 1
}

# A new password, in memory only, each time it is opened.
ephemeral "keep_password" "app" {
  length = 32
}

resource "keep_secret" "app" {
  name             = "postgresql/app"
  value_wo         = ephemeral.keep_password.app.result
  value_wo_version = var.password_version
}

# The password as it is stored, which stays the same until the version changes.
ephemeral "keep_secret" "app" {
  name       = keep_secret.app.id
  depends_on = [keep_secret.app]
}

resource "terraform_data" "role" {
  provisioner "local-exec" {
    command = "psql -v ON_ERROR_STOP=1 -qc 'CREATE ROLE app LOGIN' \"$PG_CONN_STR\""
  }

  provisioner "local-exec" {
    when    = destroy
    command = "psql -v ON_ERROR_STOP=1 -qc 'DROP ROLE app' \"$PG_CONN_STR\""
  }
}

# psql gets the password from the environment. It is set again when it has changed, or the role is a new one. The state has a fingerprint of both.
resource "terraform_data" "password" {
  triggers_replace = [terraform_data.role.id, ephemeral.keep_secret.app.value]

  provisioner "local-exec" {
    environment = {
      APP_PASSWORD = ephemeral.keep_secret.app.value
    }
    command = <<-EOT
      psql -v ON_ERROR_STOP=1 -q "$PG_CONN_STR" <<'SQL'
      SET log_statement = 'none';
      \getenv password APP_PASSWORD
      ALTER ROLE app PASSWORD :'password';
      SQL
    EOT
  }

  lifecycle {
    ephemeral_attributes = [triggers_replace]
  }
}
