variable "password" {
  type      = string
  ephemeral = true
}

output "out" {
  value     = sha256(var.password) == "" ? "" : "out-${var.password}"
  ephemeral = true
}
