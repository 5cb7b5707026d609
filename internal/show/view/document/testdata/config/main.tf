terraform {
  required_providers {
    local = {
      source  = "hashicorp/local"
      version = "<3,>=2"
    }
    rnd = { source = "hashicorp/random" }
  }
}

provider "rnd" {
  alias = "second"
}

provider "local" {
  version = "~>2.1"
}

variable "step" {
  type        = number
  default     = 1
  description = "The step."
}

variable "any" {
  default   = ["x"]
  sensitive = true
}

variable "secret" {
  type      = string
  ephemeral = true
  default   = "e"
}

variable "obj" {
  type = object({ a = optional(string), b = list(number) })
  default = { b = [1] }
}

resource "random_pet" "a" {
  provider   = rnd
  count      = var.step
  length     = 2
  keepers    = { a = local.names["x"], b = var.obj.b[0], c = path.module, d = terraform.workspace }
  depends_on = [local_file.f, module.m]

  provisioner "local-exec" {
    command = "echo ${self.id}"
  }
}

resource "random_pet" "alias" {
  provider = rnd.second
  for_each = toset(["a", "b"])
  prefix   = each.key
}

resource "local_file" "f" {
  filename = "out.txt"
  content  = join(",", [for k, p in random_pet.alias : p.id])
}

data "local_file" "d" {
  filename = local_file.f.filename
}

ephemeral "random_password" "p" {
  provider = rnd
  length   = 8
}

locals {
  names = { x = module.m["k"].name }
}

module "m" {
  source   = "./child"
  for_each = toset(["k"])
  n        = var.step
  providers = {
    rnd.main = rnd.second
    rnd      = rnd
  }
}

output "out" {
  value       = module.m["k"].name
  description = "An output."
  depends_on  = [local_file.f]
}

output "const" {
  value = "x"
}

output "sum" {
  value = sum([1, 2])
}
