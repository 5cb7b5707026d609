# One configuration for several environments. Each has a workspace, with a state of its own, and a file of variables.
variable "servers" {
  description = "How many servers the environment has."
  type        = number

  validation {
    condition     = var.servers > 0
    error_message = "An environment needs a server."
  }
}

variable "owner" {
  description = "Who is asked about the environment."
  type        = string
}

resource "terraform_data" "server" {
  count = var.servers
  input = "${terraform.workspace}-${count.index}"
}

output "servers" {
  value = terraform_data.server[*].output
}

output "owner" {
  value = var.owner
}
