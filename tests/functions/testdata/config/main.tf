variable "secret" {
  sensitive = true
  default   = "hunter2"
}
variable "secrets" {
  sensitive = true
  default   = ["b", "a"]
}
variable "token" {
  ephemeral = true
  default   = "passing"
}
variable "both" {
  sensitive = true
  ephemeral = true
  default   = "both"
}
variable "people" {
  type = set(object({ name = string, age = optional(number) }))
  default = [{ name = "ann", age = 3 }, { name = "bob" }]
}
variable "mixed" {
  type    = object({ open = string, n = number, list = list(string) })
  default = { open = "o", n = 1, list = ["x"] }
}
resource "terraform_data" "new" {}
locals {
  unknown = terraform_data.new.output
  text    = terraform_data.new.id
  number  = tonumber(terraform_data.new.output)
  list    = tolist([terraform_data.new.id])
  partial = { open = "o", closed = var.secret, later = terraform_data.new.id }
  template = "Hi $${n}!"
}
