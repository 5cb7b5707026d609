package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/event"
)

// TestE54RenewalThatHangs does not keep the instance from being closed, nor the run from ending.
func TestE54RenewalThatHangs(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "100ms"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "300ms"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"RenewEphemeralResource","do":"hang"}`)
		begin := time.Now()
		r := w.run(command{closeLimit: 400 * time.Millisecond})
		if d := time.Since(begin); d > 15*time.Second {
			t.Errorf("the command took %s", d)
		}
		window(t, r.applyLog, "s")
		w.has("sim_thing.x")
	})
}

// TestE53HardCancelWhileOpening gives up an opening; a late answer is closed all the same or never counted as
// open.
func TestE53HardCancelWhileOpening(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, secretUser, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"OpenEphemeralResource","do":"hang"}`)
		hard, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin := time.Now()
		r := w.run(command{ctx: hard, onEvent: during(event.OpOpen, "ephemeral.sim_secret.s", func() {
			time.Sleep(50 * time.Millisecond)
			cancel()
		})})
		if d := time.Since(begin); d > 15*time.Second || !r.planDiags.HasErrors() {
			t.Errorf("took %s; %s", d, texts(r.diags()))
		}
	})
}

// TestFailedHalvesOfReplacement fails each half of a replacement that destroys first.
func TestFailedHalvesOfReplacement(t *testing.T) {
	t.Parallel()
	text := func(replaceMe, failOn string) string {
		return "resource \"sim_thing\" \"x\" {\n name = \"x\"\n replace_me = \"" + replaceMe + "\"\n fail_on = " + failOn + "\n}"
	}
	w := newWorld(t, text("1", `"delete"`))
	w.ok(command{})
	w.config(text("2", "null"))
	r := w.fails(command{}, "asked to fail on delete")
	r.did("delete x")
	w.has("sim_thing.x")

	w = newWorld(t, text("1", "null"))
	w.ok(command{})
	w.config(text("2", `"create"`))
	r = w.fails(command{}, "asked to fail on create")
	r.did("delete x", "create x")
	w.has()
	w.exists()
}

// TestEquivalentJSON keeps the prior value where the provider says that the change does not matter.
func TestEquivalentJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "resource \"sim_thing\" \"x\" {\n name = \"x\"\n json = \"{\\\"a\\\":1}\"\n}")
	w.ok(command{})
	w.config("resource \"sim_thing\" \"x\" {\n name = \"x\"\n json = \"{ \\\"a\\\" : 1 }\"\n}")
	w.ok(command{}).plans().did()
}
