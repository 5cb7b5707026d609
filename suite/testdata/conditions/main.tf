terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}

variable "bad" {
  default = ""
}

resource "terraform_data" "one" {
  lifecycle {
    postcondition {
      condition     = var.bad != "one" || self.id == ""
      error_message = "It is bad."
    }
  }
}

resource "terraform_data" "each" {
  for_each = toset(["a", "b"])
  input    = each.key

  lifecycle {
    precondition {
      condition     = var.bad != "each-${each.key}" && var.bad != "each"
      error_message = "It is bad."
    }
    postcondition {
      condition     = self.input != trimprefix(var.bad, "each-post-")
      error_message = "It is bad."
    }
    postcondition {
      condition     = self.output != trimprefix(var.bad, "each-late-")
      error_message = "It is bad."
    }
  }
}

resource "terraform_data" "count" {
  count = 2

  lifecycle {
    precondition {
      condition     = var.bad != "count-${count.index}"
      error_message = "It is bad."
    }
  }
}

resource "sim_thing" "t" {
  for_each = toset(["a", "b"])
  name     = each.key
}

data "sim_lookup" "d" {
  for_each = var.bad == "data-a" ? toset(["a"]) : toset([])
  name     = each.key

  lifecycle {
    precondition {
      condition     = var.bad != "data-${each.key}"
      error_message = "It is bad."
    }
  }
}

data "sim_lookup" "late" {
  for_each = toset(["a", "b"])
  name     = sim_thing.t[each.key].status == "" ? "" : each.key

  lifecycle {
    postcondition {
      condition     = var.bad != "late-data-${self.name}"
      error_message = "It is bad."
    }
  }
}

ephemeral "sim_secret" "e" {
  for_each = toset(["a", "b"])
  name     = each.key

  lifecycle {
    precondition {
      condition     = var.bad != "eph-${each.key}"
      error_message = "It is bad."
    }
  }
}

ephemeral "sim_secret" "p" {
  name = "p"

  lifecycle {
    postcondition {
      condition     = var.bad != "eph-post"
      error_message = "It is bad."
    }
  }
}

check "c" {
  assert {
    condition     = var.bad != "check"
    error_message = "It is bad."
  }
}

check "late" {
  assert {
    condition     = var.bad != "late-check" || terraform_data.one.id == ""
    error_message = "It is bad."
  }
}

check "nested" {
  data "sim_lookup" "n" {
    name       = var.bad == "nested" ? "there is none" : "a"
    depends_on = [sim_thing.t]
  }

  assert {
    condition     = data.sim_lookup.n.name == "a"
    error_message = "It is bad."
  }
}

output "o" {
  value = 1

  precondition {
    condition     = var.bad != "output"
    error_message = "It is bad."
  }
}

output "late" {
  value = terraform_data.one.id

  precondition {
    condition     = var.bad != "late-output" || terraform_data.one.id == ""
    error_message = "It is bad."
  }
}

module "m" {
  source = "./m"
  bad    = var.bad
}

module "ms" {
  source   = "./m"
  for_each = toset(["x", "y"])
  bad      = var.bad == "ms-${each.key}" ? "in-all" : ""
}
