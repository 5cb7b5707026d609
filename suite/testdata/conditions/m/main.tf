variable "bad" {
  validation {
    condition     = var.bad != "in-variable"
    error_message = "It is bad."
  }
}

resource "terraform_data" "inner" {
  count = 2

  lifecycle {
    precondition {
      condition     = !contains(["in-${count.index}", "in-all"], var.bad)
      error_message = "It is bad."
    }
  }
}

output "o" {
  value = 1

  precondition {
    condition     = var.bad != "in-output"
    error_message = "It is bad."
  }
}

check "c" {
  assert {
    condition     = var.bad != "in-check"
    error_message = "It is bad."
  }
}
