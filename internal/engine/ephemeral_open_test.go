package engine_test

// secretUser is a resource with a write-only argument from an ephemeral one.
const secretUser = `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name              = "x"
  secret_wo         = ephemeral.sim_secret.s.lease
  secret_wo_version = 1
}
`
