terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}

variable "password" {
  type      = string
  ephemeral = true
}

variable "stored" {
  type = string
}

resource "sim_thing" "in" {
  count     = 2
  name      = "in-${count.index}"
  secret_wo = var.password
  tags      = { stored = var.stored }
}

output "out" {
  value     = sha256(var.password) == "" ? "" : "out-${var.password}"
  ephemeral = true
}

output "stored" {
  value = join(",", [for i in sim_thing.in : i.tags.stored])
}
