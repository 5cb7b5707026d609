package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestE40_E42_UnopenedIsValidated finds a wrong ephemeral block in a plan that does not open it, and in a module too. A plan that only looks, or that
// destroys, is not kept from it.
func TestE40_E42_UnopenedIsValidated(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text, address string }{
		{"unreferenced", `ephemeral "sim_secret" "s" { name = "s" }`, "ephemeral.sim_secret.s"},
		{"in a module", "module \"m\" {\n  source = \"./child\"\n}", "module.m.ephemeral.sim_secret.s"},
		{"used once something else is made", `
			resource "sim_thing" "x" { name = "x" }
			ephemeral "sim_secret" "s" { name = sim_thing.x.id }
			resource "sim_thing" "y" {
			  name      = "y"
			  secret_wo = ephemeral.sim_secret.s.value
			}`, "ephemeral.sim_secret.s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.text)
			w.file("child/main.tf", prelude+`ephemeral "sim_secret" "s" { name = "s" }`)
			w.rules = rules(`{"rpc":"ValidateEphemeralResourceConfig","do":"error","text":"not like this"}`)
			r := w.fails(command{planOnly: true}, row.address, "not like this")
			if n := r.planLog.Count(simlog.Filter{RPC: "OpenEphemeralResource"}); n != 0 {
				t.Errorf("%d were opened", n)
			}
			for _, mode := range []plan.Mode{plan.RefreshOnly, plan.Destroy} {
				w.ok(command{planOnly: true, mode: mode})
			}
		})
	}
}
