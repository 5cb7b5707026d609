# A tunnel through an SSH server, open while one command uses it.

terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

variable "bastion" {
  description = "The SSH server, whose key is in the file known_hosts."
  type = object({
    host        = string
    port        = optional(number, 22)
    user        = string
    key_file    = optional(string, "~/.ssh/id_ed25519")
    known_hosts = optional(string, "~/.ssh/known_hosts")
  })
}

variable "site" {
  description = "A web server that the SSH server reaches."
  type = object({
    host = string
    port = optional(number, 80)
  })
}

# The private key, in memory only. It must not have a passphrase.
ephemeral "keep_file" "key" {
  path = pathexpand(var.bastion.key_file)
}

ephemeral "keep_tunnel" "site" {
  tunnel_host = var.bastion.host
  tunnel_port = var.bastion.port
  user        = var.bastion.user
  private_key = ephemeral.keep_file.key.content
  known_hosts = pathexpand(var.bastion.known_hosts)
  remote_host = var.site.host
  remote_port = var.site.port
}

resource "terraform_data" "page" {
  # The address of the tunnel is another one in each run, so it is no argument of the resource. The output is shown except for this address.
  provisioner "local-exec" {
    command = "curl --silent --fail http://$ADDRESS/"
    output  = "masked"
    environment = {
      ADDRESS = ephemeral.keep_tunnel.site.local_address
    }
  }
}
