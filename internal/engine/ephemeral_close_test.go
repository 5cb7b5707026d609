package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
)

// TestE51WindowInTheMiddle holds a lease only around its consumer, not around what comes before and after.
func TestE51WindowInTheMiddle(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
resource "sim_slow" "slow" {
  name         = "slow"
  create_delay = "600ms"
}
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "uses" {
  name      = "uses"
  json      = jsonencode(sim_slow.slow.id)
  delay     = "200ms"
  secret_wo = ephemeral.sim_secret.s.lease
}
resource "sim_slow" "tail" {
  name         = "tail"
  trigger      = sim_thing.uses.id
  create_delay = "1s"
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		o, uses := window(t, r.applyLog, "s"), applyOf(t, r.applyLog, "uses")
		start, end := o.Span()
		before(t, "opened before the slow predecessor was done", applyOf(t, r.applyLog, "slow").End.T, o.Open.Begin.T)
		before(t, "closed after the tail was done", end, applyOf(t, r.applyLog, "tail").End.T)
		if !o.Covers(uses) {
			t.Error("the window does not cover its consumer")
		}
		if slack := time.Duration(end-start) - uses.Duration(); slack > instant {
			t.Errorf("the window is %s longer than its consumer's work", slack)
		}
	})
}

// TestE53ClosedInEveryEnding relies on the check that every command makes: nothing is left open, nothing
// closed twice.
func TestE53ClosedInEveryEnding(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, secret, user, rule string
		words                    []string
	}{
		{name: "own postcondition fails", secret: `lifecycle {
			  postcondition {
			    condition     = self.value == "no"
			    error_message = "not so"
			  }
			}`, words: []string{"postcondition failed", "not so"}},
		{name: "consumer's plan fails", user: `fail_on = "plan"`, words: []string{"asked to fail on plan"}},
		{name: "consumer's create fails", user: `fail_on = "create"`, words: []string{"asked to fail on create"}},
		{name: "consumer's validation fails", rule: `{"rpc":"ValidateResourceConfig","nth":2,"do":"error","text":"not valid"}`, words: []string{"not valid"}},
		{name: "consumer's expression fails", user: `json = jsonencode(tonumber(local.bad))`, words: []string{"sim_thing.x"}},
		{name: "provisioner fails", user: `provisioner "local-exec" { command = "exit 4" }`, words: []string{"exit status 4"}},
		{name: "precondition of the consumer fails", user: `lifecycle {
			  precondition {
			    condition     = ephemeral.sim_secret.s.value == "no"
			    error_message = "not so"
			  }
			}`, words: []string{"precondition failed"}},
		{name: "invalid result", rule: `{"rpc":"OpenEphemeralResource","do":"unknown","attr":"value"}`, words: []string{"invalid ephemeral result"}},
		{name: "consumer's provider answers garbage", rule: quoted("ApplyResourceChange", `"do":"garbage"`), words: []string{"sim_thing.x"}},
		{name: "renewal fails", secret: `renew_after = "1ms"
			  fail_on     = "renew"
			}
			ephemeral "sim_secret" "late" {
			  name       = "late"
			  open_delay = "50ms"`, user: `depends_on = [ephemeral.sim_secret.late]`, words: []string{"asked to fail on renew"}},
		{name: "close fails", secret: `fail_on = "close"`, words: []string{"Ephemeral resource may still be live", "ephemeral.sim_secret.s"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `
locals { bad = "x" }
ephemeral "sim_secret" "s" {
  name = "s"
  `+row.secret+`
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.value
  `+row.user+`
}`)
			if row.rule != "" {
				w.rules = rules(row.rule)
			}
			r := w.fails(command{}, row.words...)
			if row.name == "consumer's expression fails" {
				return // found before anything is opened
			}
			if len(r.log().Windows()) == 0 {
				t.Error("nothing was opened")
			}
		})
	}
}

func TestE54CloseIsBounded(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"CloseEphemeralResource","do":"hang"}`)
		w.unclosed = true
		begin := time.Now()
		r := w.fails(command{closeLimit: 300 * time.Millisecond}, "ephemeral.sim_secret.s", "300ms")
		if d := time.Since(begin); d > 20*time.Second {
			t.Errorf("the command took %s", d)
		}
		r.wants(diag.Warning, "ephemeral.sim_secret.s") // of the plan
		w.has("sim_thing.x")
	})
}

// TestE50FailedRenewalKeepsPrivate fails renewals whose answers have private data all the same: what follows
// has the private data of before. The provider, which counts such renewals, complains.
func TestE50FailedRenewalKeepsPrivate(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "10ms"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "3s"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"RenewEphemeralResource","do":"error","text":"net split"}`)
		w.faulty = true
		r := w.fails(command{}, "not the latest one")
		o := window(t, r.applyLog, "s")
		if len(o.Renewals) < 2 || len(o.Renewals[0].End.Private) == 0 {
			t.Fatalf("renewals: %+v", o.Renewals)
		}
		for _, renewal := range o.Renewals {
			if string(renewal.Begin.Private) != string(o.Open.End.Private) {
				t.Errorf("private data of a renewal: got %s, want %s", renewal.Begin.Private, o.Open.End.Private)
			}
		}
		if string(o.Closes[0].Begin.Private) != string(o.Open.End.Private) {
			t.Errorf("private data of the close: got %s, want %s", o.Closes[0].Begin.Private, o.Open.End.Private)
		}
	})
}

// TestE54CrashNamesWhatMayBeOpen names each instance that was open or being opened when its provider ended.
func TestE54CrashNamesWhatMayBeOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" {
  for_each = toset(["a", "b", "waiting", "last"])
  name     = each.key
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = join("", [for s in ephemeral.sim_secret.s : s.value])
}`)
	w.unclosed = true
	w.rules = rules(`{"rpc":"OpenEphemeralResource","name":"waiting","do":"hang"}`,
		`{"rpc":"OpenEphemeralResource","name":"last","do":"exit","when":"after","ms":300}`)
	r := w.fails(command{}, `The provider of ephemeral.sim_secret.s["waiting"] stopped before it had answered`)
	for _, name := range []string{"a", "b", "waiting", "last"} {
		address := `ephemeral.sim_secret.s["` + name + `"]`
		if !slices.ContainsFunc(r.diags(), func(d diag.Diagnostic) bool {
			return d.Summary == "Ephemeral resource may still be live" && d.Address == address && d.Extra == diag.Once{}
		}) {
			t.Errorf("%s is not named by a diagnostic of its own: %s", address, texts(r.diags()))
		}
	}
}
