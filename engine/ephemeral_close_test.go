package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
)

// TestE51WindowPerInstance closes each instance of a for_each when its own consumer is done.
func TestE51WindowPerInstance(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
locals { delays = { a = "0s", b = "1s" } }
ephemeral "sim_secret" "s" {
  for_each = local.delays
  name     = each.key
}
resource "sim_thing" "x" {
  for_each  = local.delays
  name      = "x-${each.key}"
  delay     = each.value
  secret_wo = ephemeral.sim_secret.s[each.key].lease
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		slow := applyOf(t, r.applyLog, "x-b")
		_, end := window(t, r.applyLog, "a").Span()
		before(t, "the window of a was closed only after the work on b", end, slow.End.T)
		if !window(t, r.applyLog, "b").Covers(slow) {
			t.Error("the window of b does not cover its consumer")
		}
	})
}

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

// TestE51SharedByTwo keeps an instance open for its last consumer and opens it once.
func TestE51SharedByTwo(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "y" {
  name      = "y"
  delay     = "100ms"
  json      = jsonencode(sim_thing.x.id)
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		o := window(t, r.applyLog, "s")
		for _, name := range []string{"x", "y"} {
			if !o.Covers(applyOf(t, r.applyLog, name)) {
				t.Errorf("the window does not cover %s", name)
			}
		}
	})
}

// TestE52ChainCloses closes what was opened with another's value first. The provider complains if the order
// is wrong.
func TestE52ChainCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "root" { name = "root" }
ephemeral "sim_token" "mid" {
  name         = "mid"
  parent_token = ephemeral.sim_secret.root.lease
}
ephemeral "sim_token" "leaf" {
  name         = "leaf"
  parent_token = ephemeral.sim_token.mid.lease
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_token.leaf.lease
}`)
	r := w.ok(command{})
	for _, log := range []simlog.Log{r.planLog, r.applyLog} {
		root, mid, leaf := window(t, log, "root"), window(t, log, "mid"), window(t, log, "leaf")
		before(t, "mid closed before leaf", leaf.Closes[0].End.T, mid.Closes[0].Begin.T)
		before(t, "root closed before mid", mid.Closes[0].End.T, root.Closes[0].Begin.T)
	}
}

// TestE52ProviderStopsFirst configures a provider from an ephemeral resource, which must outlive the
// provider's work, and closes what that provider had opened before.
func TestE52ProviderStopsFirst(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" { name = "s" }
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}
ephemeral "sim_secret" "inner" {
  provider = sim.p
  name     = "inner"
}
resource "sim_thing" "x" {
  provider  = sim.p
  name      = "x"
  secret_wo = ephemeral.sim_secret.inner.lease
}
resource "sim_slow" "tail" {
  name         = "tail"
  trigger      = sim_thing.x.id
  create_delay = "2s"
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		outer, inner := window(t, r.applyLog, "s"), window(t, r.applyLog, "inner")
		before(t, "the outer was closed before the inner", inner.Closes[0].End.T, outer.Closes[0].Begin.T)
		if inner.PID == outer.PID {
			t.Error("both were opened by one process")
		}
		for _, e := range r.applyLog {
			if e.PID == inner.PID && e.T > outer.Closes[0].Begin.T {
				t.Errorf("%s was called on the provider after its configuration's source was closed", e.RPC)
			}
		}
		before(t, "E70: the provider lived longer than its work", outer.Closes[0].Begin.T, applyOf(t, r.applyLog, "tail").End.T)
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
		{name: "renewal fails", secret: "renew_after = \"1ms\"\n fail_on = \"renew\"", words: []string{"asked to fail on renew"}},
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

// TestE54CloseError is a warning in plan and an error at apply; the plan is good nevertheless.
func TestE54CloseError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" {
  name    = "s"
  fail_on = "close"
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.lease
}`)
	r := w.ok(command{planOnly: true})
	r.plans("sim_thing.x create")
	r.wants(diag.Warning, "Ephemeral resource may still be live", "ephemeral.sim_secret.s")
	r.wants(diag.Warning, "asked to fail on close")
	r = w.fails(command{}, "Ephemeral resource may still be live", "ephemeral.sim_secret.s")
	w.has("sim_thing.x")
	if got := r.kinds(event.OpClose, "ephemeral.sim_secret.s"); !slices.Equal(got, []event.Kind{event.Started, event.Failed, event.Started, event.Failed}) {
		t.Errorf("events of closing = %v", got)
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

// TestE54LatestPrivate closes with the private data of the last renewal; the provider complains otherwise.
func TestE54LatestPrivate(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "10ms"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "1300ms"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		o := window(t, r.applyLog, "s")
		if len(o.Renewals) != 2 { // at 10 ms and a second later
			t.Errorf("%d renewals in 1.3 s", len(o.Renewals))
		}
		if !strings.Contains(string(o.Closes[0].Begin.Private), `"renewals":`) || string(o.Closes[0].Begin.Private) == string(o.Open.End.Private) {
			t.Errorf("closed with %s", o.Closes[0].Begin.Private)
		}
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
				t.Errorf("renewed with %s", renewal.Begin.Private)
			}
		}
		if string(o.Closes[0].Begin.Private) != string(o.Open.End.Private) {
			t.Errorf("closed with %s", o.Closes[0].Begin.Private)
		}
	})
}

func TestE50RenewedInTheBackground(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name         = "s"
  renew_after  = "150ms"
  expire_after = "20s"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "500ms"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		r := w.ok(command{})
		o, uses := window(t, r.applyLog, "s"), applyOf(t, r.applyLog, "x")
		if len(o.Renewals) == 0 || o.Renewals[0].Begin.T > uses.End.T {
			t.Errorf("no renewal during the long call: %d", len(o.Renewals))
		}
		for _, renewal := range o.Renewals {
			before(t, "renewed after closing began", renewal.End.T, o.Closes[0].Begin.T)
		}
		if got := r.kinds(event.OpRenew, "ephemeral.sim_secret.s"); len(got) < 2 {
			t.Errorf("events = %v", got)
		}
	})
}

// TestE50RenewedBeforeUse reaches the second consumer after the time for renewal, which lies in the past from
// the start.
func TestE50RenewedBeforeUse(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, secretUser, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"OpenEphemeralResource","do":"renew-at","text":"-1h"}`)
		r := w.ok(command{})
		o := window(t, r.applyLog, "s")
		if len(o.Renewals) != 1 {
			t.Fatalf("%d renewals, want 1: a time in the past is renewed once and does not spin", len(o.Renewals))
		}
		before(t, "the value was used before the renewal was through", o.Renewals[0].End.T, applyOf(t, r.applyLog, "x").Begin.T)
	})
}

// TestE50RenewalFails ends the uses of a lease that cannot be renewed: what runs finishes, what has not
// started is blocked.
func TestE50RenewalFails(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "200ms"
  fail_on     = "renew"
}
resource "sim_thing" "first" {
  name      = "first"
  delay     = "600ms"
  secret_wo = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "second" {
  name      = "second"
  json      = jsonencode(sim_thing.first.id)
  secret_wo = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "third" {
  name = "third"
  json = jsonencode(sim_thing.second.id)
}`, func(t *testing.T, w *world) {
		r := w.fails(command{}, "Ephemeral resource expired", "ephemeral.sim_secret.s")
		r.wants(diag.Error, "asked to fail on renew")
		r.did("create first")
		w.has("sim_thing.first")
		told := 0
		for _, d := range r.applyDiags {
			if strings.Contains(d.String(), "asked to fail on renew") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("the provider's error was told %d times", told)
		}
	})
}
