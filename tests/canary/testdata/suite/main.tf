terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}

variable "by_env" {
  type      = string
  ephemeral = true
}

variable "by_run" {
  type      = string
  ephemeral = true
  default   = null
}

variable "by_auto" {
  type      = string
  ephemeral = true
  default   = null
}

ephemeral "sim_secret" "s" {
  name = "@NAME@"
}

resource "sim_thing" "a" {
  name              = "a"
  secret_wo         = "${var.by_env}${ephemeral.sim_secret.s.value}"
  secret_wo_version = 1
}

output "out" {
  value     = "${var.by_env}-${ephemeral.sim_secret.s.lease}"
  ephemeral = true
  sensitive = true
}
