package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// openingTime is the time from the first opening in the transcript to the end of the last one.
func openingTime(t *testing.T, log simlog.Log) time.Duration {
	t.Helper()
	calls := log.Calls(simlog.Filter{RPC: "OpenEphemeralResource"})
	if len(calls) == 0 {
		t.Fatal("nothing was opened")
	}
	first, last := calls[0].Begin.T, int64(0)
	for _, c := range calls {
		first = min(first, c.Begin.T)
		last = max(last, c.End.T)
	}
	return time.Duration(last - first).Round(time.Millisecond)
}

// TestE44OneConsumerOpensTogether gives one operation several ephemerals, directly, through values and
// through its provider. They open at once, as far as the parallelism allows and their own references do.
func TestE44OneConsumerOpensTogether(t *testing.T) {
	t.Parallel()
	const eight = `
ephemeral "sim_secret" "s" {
  count      = 8
  name       = "s${count.index}"
  open_delay = "1s"
}
`
	for _, test := range []struct {
		name, text  string
		parallelism int
		takes       time.Duration
	}{
		{"in the body", eight + `
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = [for s in ephemeral.sim_secret.s : s.lease][0]
}`, 10, time.Second},
		{"with fewer slots", eight + `
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = [for s in ephemeral.sim_secret.s : s.lease][0]
}`, 3, 3 * time.Second},
		{"with one slot", eight + `
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = [for s in ephemeral.sim_secret.s : s.lease][0]
}`, 1, 8 * time.Second},
		{"through values", eight + `
locals {
  left  = [for i in range(4) : ephemeral.sim_secret.s[i].lease]
  right = [for i in range(4, 8) : ephemeral.sim_secret.s[i].lease]
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = concat(local.left, local.right)[0]
}`, 10, time.Second},
		{"in the provider's configuration", eight + `
provider "sim" {
  alias = "p"
  token = [for s in ephemeral.sim_secret.s : s.lease][0]
}
resource "sim_thing" "x" {
  provider = sim.p
  name     = "x"
}`, 10, time.Second},
		{"in the provider's configuration and in the body", eight + `
provider "sim" {
  alias = "p"
  token = [for s in ephemeral.sim_secret.s : s.lease][0]
}
ephemeral "sim_secret" "own" {
  name       = "own"
  open_delay = "1s"
}
resource "sim_thing" "x" {
  provider  = sim.p
  name      = "x"
  secret_wo = ephemeral.sim_secret.own.lease
}`, 10, time.Second},
		{"held by depends_on", eight + `
resource "sim_thing" "x" {
  name       = "x"
  depends_on = [ephemeral.sim_secret.s]
}`, 10, time.Second},
		{"in the provider and the body of an ephemeral", `
ephemeral "sim_secret" "a" {
  name       = "a"
  open_delay = "1s"
}
ephemeral "sim_secret" "b" {
  name       = "b"
  open_delay = "1s"
}
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.a.lease
}
ephemeral "sim_token" "both" {
  provider     = sim.p
  name         = "both"
  parent_token = ephemeral.sim_secret.b.lease
  open_delay   = "1s"
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_token.both.lease
}`, 10, 2 * time.Second},
		{"two chains", `
ephemeral "sim_secret" "a" {
  count      = 2
  name       = "a${count.index}"
  open_delay = "1s"
}
ephemeral "sim_token" "b" {
  count        = 2
  name         = "b${count.index}"
  parent_token = ephemeral.sim_secret.a[count.index].lease
  open_delay   = "1s"
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = [for s in ephemeral.sim_token.b : s.lease][0]
}`, 10, 2 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, test.text, func(t *testing.T, w *world) {
				r := w.ok(command{parallelism: test.parallelism})
				for phase, log := range map[string]simlog.Log{"plan": r.planLog, "apply": r.applyLog} {
					if got := openingTime(t, log); got != test.takes {
						t.Errorf("%s: opening took %s, want %s\n%s", phase, got, test.takes, log.Transcript(simlog.Filter{}))
					}
					if got := log.MaxConcurrency(simlog.Filter{RPC: "OpenEphemeralResource"}); got > test.parallelism {
						t.Errorf("%s: %d openings at once with parallelism %d", phase, got, test.parallelism)
					}
				}
			})
		})
	}
}

// TestE53FailureAmongOpenings lets one of several simultaneous openings fail: the others are closed, nothing
// is done with them, and the error is reported once.
func TestE53FailureAmongOpenings(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  count      = 5
  name       = "s${count.index}"
  open_delay = count.index == 2 ? "100ms" : "1s"
  fail_on    = count.index == 2 ? "open" : null
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = [for s in ephemeral.sim_secret.s : s.lease][0]
}`, func(t *testing.T, w *world) {
		r := w.run(command{})
		failed := 0
		for _, d := range r.diags() {
			if d.Severity == diag.Error {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("got %d errors, want 1: %v", failed, r.diags())
		}
		if n := len(r.planLog.Windows()); n != 4 {
			t.Errorf("%d were opened, want 4", n)
		}
		if left := r.planLog.Unclosed(); len(left) > 0 {
			t.Errorf("left open: %v", left)
		}
		if n := r.planLog.Count(simlog.Filter{RPC: "PlanResourceChange"}); n > 0 {
			t.Error("the resource was planned")
		}
	})
}

// TestE44OthersRunMeanwhile has many operations wait for one opening. They hold no slot, so independent
// operations run meanwhile.
func TestE44OthersRunMeanwhile(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "slow" {
  name       = "slow"
  open_delay = "10s"
}
resource "sim_thing" "a" {
  count     = 20
  name      = "a${count.index}"
  secret_wo = ephemeral.sim_secret.slow.lease
}
resource "sim_thing" "b" {
  count = 10
  name  = "b${count.index}"
  delay = "1s"
}`, func(t *testing.T, w *world) {
		r := w.ok(command{parallelism: 3})
		opened := r.applyLog.Calls(simlog.Filter{RPC: "OpenEphemeralResource"})[0]
		before := 0
		for _, c := range r.applyLog.Calls(simlog.Filter{RPC: "ApplyResourceChange"}) {
			if strings.HasPrefix(c.Begin.Name, "b") && c.End.T < opened.End.T {
				before++
			}
		}
		if before != 10 {
			t.Errorf("%d of 10 independent resources were created while the others waited for an opening, want 10", before)
		}
		if n := len(r.applyLog.Windows()); n != 1 {
			t.Errorf("the secret was opened %d times, want 1", n)
		}
	})
}

// TestE51OthersOpenMeanwhile lets two operations open several ephemerals each with few slots. The long
// openings of one do not keep open what the other has opened.
func TestE51OthersOpenMeanwhile(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "short" {
  count      = 2
  name       = "short${count.index}"
  open_delay = "1s"
}
ephemeral "sim_secret" "long" {
  count      = 4
  name       = "long${count.index}"
  open_delay = "10s"
}
resource "sim_thing" "short" {
  name      = "short"
  secret_wo = [for s in ephemeral.sim_secret.short : s.lease][0]
}
resource "sim_thing" "long" {
  name      = "long"
  secret_wo = [for s in ephemeral.sim_secret.long : s.lease][0]
}`, func(t *testing.T, w *world) {
		r := w.ok(command{parallelism: 2})
		for phase, log := range map[string]simlog.Log{"plan": r.planLog, "apply": r.applyLog} {
			for _, window := range log.Windows() {
				begin, end := window.Span()
				if open := time.Duration(end - begin); strings.HasPrefix(window.Name, "short") && open > 1500*time.Millisecond {
					t.Errorf("%s: %s was open for %s, want 1s at most", phase, window.Name, open)
				}
			}
		}
	})
}

// TestE41DeferredNeedsNoProvider plans an ephemeral that waits for another one, which cannot be opened yet:
// what configures its provider is not opened either.
func TestE41DeferredNeedsNoProvider(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
resource "sim_thing" "x" { name = "x" }
ephemeral "sim_secret" "later" {
  name = "later"
  hint = sim_thing.x.id
}
ephemeral "sim_secret" "credentials" { name = "credentials" }
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.credentials.lease
}
ephemeral "sim_token" "t" {
  provider     = sim.p
  name         = "t"
  parent_token = ephemeral.sim_secret.later.lease
}
resource "sim_thing" "y" {
  name      = "y"
  secret_wo = ephemeral.sim_token.t.lease
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		if n := len(r.planLog.Windows()); n != 0 {
			t.Errorf("planning opened %d ephemerals, want none", n)
		}
		if n := len(r.applyLog.Windows()); n != 3 {
			t.Errorf("applying opened %d ephemerals, want 3", n)
		}
	})
}
