# From an empty PostgreSQL to a database that its own role fills, with write-only passwords, in one command.

terraform {
  required_providers {
    keep       = { source = "mayfly.dev/mayfly/keep" }
    postgresql = { source = "cyrilgdn/postgresql" }
    random     = { source = "hashicorp/random" }
  }
}

variable "tenants" {
  type    = set(string)
  default = ["blue", "green"]
}

# A new password whenever this number changes.
variable "password_version" {
  type    = number
  default = 1
}

# The password, in the secret store and in no other place.
ephemeral "random_password" "app" {
  length = 32
}

resource "keep_secret" "app" {
  name             = "postgresql/app"
  value_wo         = ephemeral.random_password.app.result
  value_wo_version = var.password_version
}

ephemeral "keep_secret" "app" {
  name = keep_secret.app.id
}

# The administrator, as PGHOST, PGUSER and the like say, makes the role and its database.
provider "postgresql" {}

resource "postgresql_role" "app" {
  name                = "app"
  login               = true
  password_wo         = ephemeral.keep_secret.app.value
  password_wo_version = var.password_version
}

resource "postgresql_database" "app" {
  name  = "app"
  owner = postgresql_role.app.name
}

# The role makes the rest. The first round has no password to log in with.
provider "postgresql" {
  alias     = "app"
  username  = postgresql_role.app.name
  password  = ephemeral.keep_secret.app.value
  database  = postgresql_database.app.name
  superuser = false
}

# The names of the schemas are known once these exist.
resource "random_id" "tenant" {
  for_each    = var.tenants
  prefix      = "${each.key}_"
  byte_length = 4
}

resource "postgresql_schema" "tenant" {
  for_each = toset([for id in random_id.tenant : replace(id.hex, "-", "_")])
  provider = postgresql.app
  name     = each.key
}

output "schemas" {
  value = [for s in postgresql_schema.tenant : s.name]
}
