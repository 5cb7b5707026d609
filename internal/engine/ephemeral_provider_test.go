package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// secretProvider configures a provider from an ephemeral resource that depends on a managed one. The
// provider's token must be live at every call that it gets; the provider itself complains if it is not.
const secretProvider = `
resource "sim_thing" "base" { name = "base" }
ephemeral "sim_secret" "s" {
  name        = "s"
  hint        = sim_thing.base.id
  renew_after = "100ms"
}
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}
`

// TestE70LifeThroughASecretProvider leads objects through their life with such a provider.
func TestE70LifeThroughASecretProvider(t *testing.T) {
	t.Parallel()
	x := func(attrs string) string {
		return secretProvider + "resource \"sim_old\" \"x\" {\n provider = sim.p\n name = \"x\"\n" + attrs + "\n}"
	}
	w := newWorld(t, x(""))
	r := w.ok(command{})
	if n := opens(r.planLog, ""); n != 0 {
		t.Errorf("planning with an unknown configuration: got %d openings, want none", n)
	}
	r.did("create base", "create x")

	r = w.ok(command{mode: plan.RefreshOnly})
	if n := opens(r.planLog, "s"); n != 1 {
		t.Errorf("%d openings to read what the provider manages, want 1", n)
	}
	w.config(x(`old_value = "2"`))
	r = w.ok(command{})
	r.did("update x")
	if opens(r.planLog, "") != 1 || opens(r.applyLog, "") != 1 {
		t.Errorf("got %d openings in plan, %d in apply, want 1, 1", opens(r.planLog, ""), opens(r.applyLog, ""))
	}
	w.config(secretProvider)
	w.ok(command{}).plans("sim_old.x delete delete_because_no_resource_config").did("delete x")

	w.config(x("lifecycle { create_before_destroy = true }"))
	w.ok(command{})
	r = w.ok(command{replace: []string{"sim_old.x"}})
	r.did("create x", "delete x")
	if n := r.applyLog.Count(simlog.Filter{RPC: "ConfigureProvider"}); n != 1 {
		t.Errorf("%d configurations in apply, want 1 for both halves of the replacement", n)
	}

	r = w.ok(command{mode: plan.Destroy})
	r.did("delete x", "delete base")
	o := window(t, r.applyLog, "s")
	before(t, "the secret was closed after what it depends on was destroyed", o.Closes[0].End.T, applyOf(t, r.applyLog, "base").Begin.T)
	w.exists()
}

// TestE70RenewedForAProvider renews the lease for as long as the provider that was configured with it works.
func TestE70RenewedForAProvider(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name         = "s"
  renew_after  = "100ms"
  expire_after = "20s"
}
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}
resource "sim_slow" "x" {
  provider     = sim.p
  name         = "x"
  create_delay = "400ms"
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		o, uses := window(t, r.applyLog, "s"), applyOf(t, r.applyLog, "x")
		if len(o.Renewals) == 0 || o.Renewals[0].Begin.T > uses.End.T {
			t.Errorf("%d renewals during the work of the provider", len(o.Renewals))
		}
	})
}

// TestE40TwoProvidersOneSecret opens one secret for two providers and closes it when both have stopped.
func TestE40TwoProvidersOneSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
provider "sim" {
  alias  = "p"
  prefix = "p-"
  token  = ephemeral.sim_secret.s.lease
}
provider "sim" {
  alias  = "q"
  prefix = "q-"
  token  = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "x" {
  provider = sim.p
  name     = "x"
}
resource "sim_thing" "y" {
  provider = sim.q
  name     = "y"
  json     = jsonencode(sim_thing.x.id)
}`)
	r := w.ok(command{})
	for _, log := range []simlog.Log{r.planLog, r.applyLog} {
		window(t, log, "s")
	}
	if n := pids(r.log()); n != 5 {
		t.Errorf("got %d processes, want 5: the plain one, and two in each phase", n)
	}
}
