terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}

variable "trigger" {
  default = 1
}

variable "fail" {
  default = null
}

variable "delay" {
  type    = bool
  default = false
}

variable "by_option" {
  type      = string
  ephemeral = true
}

variable "by_env" {
  type      = string
  ephemeral = true
}

variable "by_args" {
  type      = string
  ephemeral = true
}

variable "by_auto" {
  type      = string
  ephemeral = true
}

variable "by_file" {
  type      = object({ user = string, password = string, number = number, key = string })
  ephemeral = true
}

ephemeral "sim_secret" "s" {
  name = "@NAME@"
  hint = var.by_env
}

resource "sim_thing" "a" {
  name = "a"
  size = var.trigger

  lifecycle {
    action_trigger {
      events    = [after_create, after_update]
      condition = var.by_env != ephemeral.sim_secret.s.value
      actions   = [action.sim_note.all, action.sim_job.says]
    }
  }
}

# All arguments are made of ephemeral values, which the provider repeats in its messages and errors.
action "sim_note" "all" {
  config {
    name      = "all"
    text      = "text-${var.by_args}"
    tags      = { key = var.by_file.key, user = var.by_file.user }
    secret    = ephemeral.sim_secret.s.value
    secret_wo = var.by_option
    fail_on   = var.fail
    part {
      value  = base64encode(var.by_auto)
      secret = ephemeral.sim_secret.s.lease
    }
  }
}

action "sim_job" "says" {
  config {
    name  = "says"
    steps = 3
    say   = " of ${var.by_file.password}, ${jsonencode(var.by_env)} and ${ephemeral.sim_secret.s.value}"
    delay = var.delay ? "as long as ${var.by_option}" : null
  }
}
