package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// details is an observer that asks for all there is. The engine serialises the calls.
type details struct{ events, details, all []event.Event }

func (d *details) Event(e event.Event) {
	d.events, d.all = append(d.events, e), append(d.all, e)
}

func (d *details) Detail(e event.Event) {
	d.details, d.all = append(d.details, e), append(d.all, e)
}

// checkClosings checks that nothing is closed while it is used, and nothing used while it is not open.
func (d *details) checkClosings(t *testing.T) {
	t.Helper()
	open, used := map[addr.Object]bool{}, map[addr.Object]int{}
	for _, e := range d.all {
		switch {
		case e.Op == event.OpOpen && e.Kind == event.Completed:
			open[e.Object] = true
		case e.Op == event.OpClose && e.Kind == event.Started:
			if open[e.Object] = false; used[e.Object] != 0 {
				t.Errorf("%s is closed while %d use it, want 0", e.Object, used[e.Object])
			}
		case e.Op == event.OpUse && e.Provider == "" && e.Kind == event.Started:
			if used[e.Object]++; !open[e.Object] {
				t.Errorf("%s is used by %s while it is not open", e.Object, e.User)
			}
		case e.Op == event.OpUse && e.Provider == "":
			used[e.Object]--
		}
	}
}

// uses returns who used what for what, once for each, sorted. Each use must have ended.
func (d *details) uses(t *testing.T) []string {
	t.Helper()
	seen, open := map[string]bool{}, map[string]int{}
	for _, e := range d.details {
		if e.Op != event.OpUse {
			continue
		}
		used := e.Provider
		if used == "" {
			used = e.Object.String()
		}
		text := used + " ← " + string(e.UserOp) + " " + e.User
		if seen[text] = true; e.Kind == event.Started {
			open[text]++
			continue
		}
		if open[text]--; open[text] < 0 || e.Elapsed < 0 {
			t.Errorf("a use ends that did not begin: %s", text)
		}
	}
	var out []string
	for text := range seen {
		if out = append(out, text); open[text] != 0 {
			t.Errorf("use %s: got %d that did not end, want none", text, open[text])
		}
	}
	slices.Sort(out)
	return out
}

const usersOfAllKinds = `
variable "v" {
  default = "v"
  validation {
    condition     = ephemeral.sim_secret.s.value != var.v
    error_message = "No."
  }
}
ephemeral "sim_secret" "s" { name = "s" }
ephemeral "sim_token" "inner" {
  name         = "inner"
  parent_token = ephemeral.sim_secret.s.lease
}
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "a" {
  name              = "a"
  secret_wo         = ephemeral.sim_token.inner.lease
  secret_wo_version = 1
}
resource "sim_old" "x" {
  provider = sim.p
  name     = "x"
}
resource "sim_thing" "hook" {
  name = "hook"
  provisioner "local-exec" {
    command     = "true"
    environment = { S = ephemeral.sim_secret.s.value }
  }
}
data "sim_lookup" "d" {
  provider   = sim.p
  name       = "a"
  depends_on = [sim_thing.a]
}
output "o" {
  value = 1
  precondition {
    condition     = ephemeral.sim_secret.s.value != ""
    error_message = "No."
  }
}
`

const simP = `provider["mayfly.dev/test/sim"].p`

func TestE84_UsesAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, usersOfAllKinds)
	d := &details{}
	w.ok(command{observer: d})
	want := []string{
		"ephemeral.sim_secret.s ← configure " + simP,
		"ephemeral.sim_secret.s ← evaluate output.o",
		"ephemeral.sim_secret.s ← evaluate var.v",
		"ephemeral.sim_secret.s ← open ephemeral.sim_token.inner",
		"ephemeral.sim_secret.s ← provision sim_thing.hook",
		"ephemeral.sim_token.inner ← create sim_thing.a",
		"ephemeral.sim_token.inner ← plan sim_thing.a",
		simP + " ← create sim_old.x",
		simP + " ← plan sim_old.x",
		simP + " ← read data.sim_lookup.d",
	}
	if diff := cmp.Diff(want, d.uses(t)); diff != "" {
		t.Error(diff)
	}
	d.checkClosings(t)
	d = &details{}
	w.ok(command{mode: plan.Destroy, observer: d})
	d.checkClosings(t)
	uses := d.uses(t)
	for _, want := range []string{simP + " ← plan sim_old.x", simP + " ← delete sim_old.x"} {
		if !slices.Contains(uses, want) {
			t.Errorf("missing: %s in %q", want, uses)
		}
	}
}

// The events about phases, plans and failures.
func TestE84_PhasesAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "good" { name = "good" }
resource "sim_thing" "bad" {
  name    = "bad"
  fail_on = "create"
}`)
	d := &details{}
	w.run(command{observer: d})
	var got []string
	for _, e := range d.details {
		if e.Kind == event.Started {
			continue
		}
		text := string(e.Op) + " " + map[event.Kind]string{event.Completed: "ok", event.Failed: "failed"}[e.Kind]
		if e.Object != (addr.Object{}) {
			text = e.Object.String() + " " + text
		}
		got = append(got, text)
	}
	slices.Sort(got)
	want := []string{"applying failed", "planning ok", "sim_thing.bad plan ok", "sim_thing.good plan ok"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestE84_InterruptsAreTold(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `resource "sim_slow" "a" {
  name         = "a"
  create_delay = "300ms"
}`, func(t *testing.T, w *world) {
		soft, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		d := &details{}
		w.run(command{observer: d, soft: soft, onEvent: func(e event.Event) {
			if e.Kind == event.Started && e.Op == event.OpCreate {
				interrupt()
			}
		}})
		if !slices.ContainsFunc(d.details, func(e event.Event) bool { return e.Op == event.OpInterrupt }) {
			t.Error("the interrupt was not told")
		}
	})
}

// An observer that does not ask receives nothing, not even beside one that does.
func TestE84_DetailsAreForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, usersOfAllKinds)
	d := &details{}
	r := w.ok(command{observer: d})
	if len(d.events) != len(r.events) || len(d.events) == 0 {
		t.Errorf("events: got %d and %d, want the same number of two observers, at least one", len(d.events), len(r.events))
	}
	only := []event.Op{event.OpUse, event.OpPlan, event.OpPlanning, event.OpApplying, event.OpInterrupt}
	for _, e := range r.events {
		if slices.Contains(only, e.Op) || e.User != "" || e.Provider != "" {
			t.Errorf("ordinary observer: got %s of %s, want no details", e.Op, e.Object)
		}
	}
}

// The events of opening, renewing and closing are as long as the provider's calls.
func TestE84_TimesAreThoseOfTheCalls(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  open_delay  = "120ms"
  close_delay = "80ms"
  renew_delay = "60ms"
  renew_after = "1s"
}
resource "sim_slow" "a" {
  name         = "a"
  create_delay = "1500ms"
  depends_on   = [ephemeral.sim_secret.s]
}`, func(t *testing.T, w *world) {
		d := &details{}
		r := w.ok(command{observer: d})
		for op, rpc := range map[event.Op]string{
			event.OpOpen: "OpenEphemeralResource", event.OpRenew: "RenewEphemeralResource", event.OpClose: "CloseEphemeralResource",
		} {
			calls := r.log().Calls(simlog.Filter{RPC: rpc})
			var begins, ends []time.Time
			for _, e := range d.events {
				if e.Op == op && e.Kind == event.Started {
					begins = append(begins, e.Time)
				} else if e.Op == op {
					ends = append(ends, e.Time)
				}
			}
			if len(calls) == 0 || len(begins) != len(calls) || len(ends) != len(calls) {
				t.Fatalf("%s: got %d begins and %d ends in the events, want one for each of %d calls", op, len(begins), len(ends), len(calls))
			}
			for i, c := range calls {
				at, until := c.Begin.Wall, c.End.Wall
				if begins[i].After(at) || ends[i].Before(until) {
					t.Errorf("%s from %s to %s, the call from %s to %s", op, begins[i], ends[i], at, until)
				}
				if extra := ends[i].Sub(begins[i]) - c.Duration(); extra > instant {
					t.Errorf("%s lasts %s longer than the call", op, extra)
				}
			}
		}
	})
}
