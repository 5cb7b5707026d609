resource "terraform_data" "server" {
  count = 2
  input = "server-${count.index}"
}

output "servers" {
  value = terraform_data.server[*].output
}
