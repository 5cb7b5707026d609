terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
}

# A small secret manager in one encrypted file, keep.age, beside this configuration.
provider "keep" {
  path = "${path.module}/keep.age"
}

# A new password, in memory only. It is never stored by this block.
ephemeral "keep_password" "master" {
  length = 32
}

# The password goes into the secret manager through a write-only argument: state and plan never hold it. It is stored anew only when
# value_wo_version changes.
resource "keep_secret" "master" {
  name             = "vault/master"
  value_wo         = ephemeral.keep_password.master.result
  value_wo_version = 1
}

# Read back just before it is needed, and forgotten right after.
ephemeral "keep_secret" "master" {
  name = keep_secret.master.id
}

# A second store, locked with that password.
provider "keep" {
  alias      = "vault"
  path       = "${path.module}/vault.age"
  passphrase = ephemeral.keep_secret.master.value
}

resource "keep_note" "welcome" {
  provider = keep.vault
  name     = "welcome"
  text     = "The passphrase of this store exists only in keep.age."

  # The environment holds a secret, so the output is not shown.
  provisioner "local-exec" {
    command = "echo unlocked with $PASSPHRASE"
    environment = {
      PASSPHRASE = ephemeral.keep_secret.master.value
    }
  }
}

output "note" {
  value = keep_note.welcome.id
}
