# The provider computes the token: a new one for each trigger.
resource "sim_account" "made" {
  name   = "made"
  rotate = var.trigger
  lifecycle {
    ephemeral_attributes = [token]
  }
}

resource "sim_thing" "takes" {
  name              = "takes"
  secret_wo         = sim_account.made.token
  secret_wo_version = var.trigger
}
