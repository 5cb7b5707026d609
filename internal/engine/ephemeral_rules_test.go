package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// TestE53AbandonedOpeningIsClosed insists on the end while an instance is being opened. What the provider
// opens a little later is closed.
func TestE53AbandonedOpeningIsClosed(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, secretUser, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"OpenEphemeralResource","do":"delay","ms":500}`)
		hard, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := w.run(command{ctx: hard, onEvent: during(event.OpOpen, "ephemeral.sim_secret.s", func() {
			time.Sleep(100 * time.Millisecond) // the call is on its way
			cancel()
		})})
		if r.errors() == 0 || len(r.log().Windows()) != 1 {
			t.Errorf("got %d openings, want 1; %s", len(r.log().Windows()), texts(r.diags()))
		}
		r.did()
	})
}

// TestE50SaidOnce shows what the provider says about a renewal that fails again and again once, as a warning
// as long as nothing uses the instance, and pauses in between.
func TestE50SaidOnce(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "50ms"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "3500ms"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"RenewEphemeralResource","do":"rpc-error","text":"first words","nth":1}`, `{"rpc":"RenewEphemeralResource","do":"rpc-error","text":"other words","nth":2}`,
			`{"rpc":"RenewEphemeralResource","do":"rpc-error","text":"third words","nth":3}`, `{"rpc":"RenewEphemeralResource","do":"rpc-error","text":"fourth words","nth":4}`)
		r := w.ok(command{})
		r.wants(diag.Warning, "first words", "Nothing has used it since")
		if text := texts(r.diags()); strings.Contains(text, "other words") || strings.Contains(text, "third words") {
			t.Errorf("a failure was told more than once:\n%s", text)
		}
		r.did("create x")
		o := window(t, r.applyLog, "s")
		if n := len(o.Renewals); n != 3 { // at 50 ms, 1.05 s and 3.05 s
			t.Errorf("%d attempts in 3.5 s, want growing pauses from one second on", n)
		}
	})
}

// TestE50RenewalThatHangs gives up a renewal that the provider does not answer, says so, and tries again.
func TestE50RenewalThatHangs(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "1m"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "6m30s"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"RenewEphemeralResource","nth":1,"do":"hang"}`)
		r := w.ok(command{})
		r.wants(diag.Warning, "Renewal took too long", "A later try succeeded")
		if n := len(window(t, r.applyLog, "s").Renewals); n != 2 {
			t.Errorf("got %d renewals, want the one that was given up and another one", n)
		}
	})
}

// TestE44ConditionsOpenWithinTheLimit opens for conditions of variables and outputs within the limit of
// operations at once.
func TestE44ConditionsOpenWithinTheLimit(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
module "m" {
  source = "./m"
  count  = 4
  name   = "m${count.index}"
}`, func(t *testing.T, w *world) {
		w.file("m/main.tf", prelude+`
variable "name" {
  type = string
  validation {
    condition     = var.name != "" && ephemeral.sim_secret.s.opened > 0
    error_message = "not open"
  }
}
ephemeral "sim_secret" "s" {
  name       = "s"
  open_delay = "100ms"
}
output "o" {
  value = 1
  precondition {
    condition     = ephemeral.sim_secret.s.opened > 0
    error_message = "not open"
  }
}`)
		r := w.ok(command{parallelism: 1})
		if got := r.log().MaxConcurrency(simlog.Filter{RPC: "OpenEphemeralResource"}); got != 1 {
			t.Errorf("%d openings at once, want 1", got)
		}
	})
}
