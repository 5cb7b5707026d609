package engine_test

import "testing"

// TestPutOff has a provider put off opening an ephemeral resource. Plans name it wherever objects wait for
// its value: in an argument, through another ephemeral resource, and in the configuration of a provider.
func TestPutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
provider "sim" {
  alias = "late"
  token = ephemeral.sim_secret.late["x"].value
}
ephemeral "sim_secret" "late" {
  for_each = toset(["x"])
  name     = "late"
}
ephemeral "sim_secret" "chain" {
  name = "n${length(ephemeral.sim_secret.late["x"].value)}"
}
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "user" {
  name      = "user"
  secret_wo = ephemeral.sim_secret.late["x"].value
}
resource "sim_thing" "chain" {
  name      = "chain"
  secret_wo = ephemeral.sim_secret.chain.value
}
resource "sim_thing" "configured" {
  provider = sim.late
  name     = "configured"
}`)
	w.rules = `[{"rpc":"OpenEphemeralResource","name":"late","do":"deferred"}]`
	w.ok(command{deferral: true, planOnly: true}).defers(
		`sim_thing.chain create deferred_prereq ephemeral.sim_secret.late["x"]`,
		`sim_thing.configured create provider_config_unknown ephemeral.sim_secret.late["x"]`,
		`sim_thing.user create deferred_prereq ephemeral.sim_secret.late["x"]`,
	)
}
