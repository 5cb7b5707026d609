package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
)

const throughEphemerals = `
variable "p" {
  default   = "P"
  ephemeral = true
}
resource "sim_thing" "base" { name = "base" }
data "sim_data" "d" { name = sim_thing.base.id }
locals {
  path   = data.sim_data.d.name
  secret = "${ephemeral.sim_secret.s.id}!${sim_thing.side.name}"
}
resource "sim_thing" "side" { name = "side" }
ephemeral "sim_secret" "root" { name = local.path }
ephemeral "sim_secret" "s" { name = ephemeral.sim_secret.root.id }
resource "sim_thing" "user" {
  password_wo = module.m.out
  name        = sim_thing.base.name
  lifecycle {
    precondition {
      condition     = local.secret != ""
      error_message = "No."
    }
  }
}
module "m" {
  source = "./m"
  in     = local.secret
}
-- m/m.tf --
variable "in" { ephemeral = true }
resource "sim_thing" "inner" {}
output "out" {
  value     = "${var.in}-${sim_thing.inner.id}"
  ephemeral = true
}`

// A session keeps what comes from ephemeral resources until it ends; the next session gets it anew.
func TestSessionsKeepEphemeralValues(t *testing.T) {
	w := planned(t, throughEphemerals)
	in := w.instance("sim_thing.user")
	in.Prepare(w.task)
	before := w.host.taken()
	if strings.Contains(before, "open") {
		t.Errorf("preparing opened: %s", before)
	}
	for round, want := range []string{
		`e("open:ephemeral.sim_secret.s#1!side-id:module.m.sim_thing.inner")`, `e("open:ephemeral.sim_secret.s#2!side-id:module.m.sim_thing.inner")`,
	} {
		s := w.host.session()
		if len(s.after) > 0 {
			t.Error("a new session holds leases")
		}
		v, diags := in.EvalBody(w.task, s.Opened)
		if got := show(v.GetAttr("password_wo")); got != want || diags != nil {
			t.Errorf("round %d: got %s, want %s\n%s", round, got, want, lines(diags))
		}
		if !in.Preconditions(w.task, s.Opened) {
			t.Error("the precondition fails")
		}
		if log := w.host.taken(); log != "open ephemeral.sim_secret.root open ephemeral.sim_secret.s" {
			t.Errorf("round %d asked for %s, want %s", round, log, "open ephemeral.sim_secret.root open ephemeral.sim_secret.s")
		}
		if w.host.live["ephemeral.sim_secret.s"] != 1 || len(s.after) == 0 {
			t.Error("the lease is not held")
		}
		s.End()
		if w.host.live["ephemeral.sim_secret.s"] != 0 || w.host.live["ephemeral.sim_secret.root"] != 0 {
			t.Errorf("live after the session: got %v, want none", w.host.live)
		}
		if s.values != nil || s.objects != nil {
			t.Error("the session keeps values")
		}
	}
	for _, m := range []*Module{w.run.Root, w.run.Root.calls["m"].Child(addr.NoKey)} {
		for _, group := range []map[string]*Value{m.locals, m.variables, m.outputs} {
			for name, v := range group {
				if v.Opens() && v.cell.Done() {
					t.Errorf("%s is kept by the run", name)
				}
			}
		}
	}
	w.clean()
}

// Without a session, what comes from ephemeral resources is unknown and still ephemeral, and nothing is
// opened.
func TestNoSession(t *testing.T) {
	w := planned(t, throughEphemerals)
	v, diags := w.instance("sim_thing.user").EvalBody(w.task, nil)
	if got := show(v.GetAttr("password_wo")); got != "e(unknown)" || diags != nil {
		t.Errorf("got %s, want %s\n%s", got, "e(unknown)", lines(diags))
	}
	if log := w.host.taken(); strings.Contains(log, "open") {
		t.Error(log)
	}
}

// What a session needs is there before it begins, also behind conditions of variables and outputs, provider
// configurations and chained openings.
func TestPrepareLeavesNothingDurable(t *testing.T) {
	for name, text := range map[string]string{
		"chain": throughEphemerals,
		"instances": `
resource "sim_thing" "k" { for_each = toset(["x", "y"]) }
ephemeral "sim_secret" "s" {
  for_each = toset(["x", "y"])
  name     = sim_thing.k[each.key].id
}
resource "sim_thing" "a" {
  for_each    = toset(["x", "y"])
  password_wo = ephemeral.sim_secret.s[each.key].token
}`,
		"provider configuration": `
provider "sim" {
  alias = "x"
  key   = ephemeral.sim_secret.s.token
}
ephemeral "sim_secret" "s" { name = sim_thing.base.id }
resource "sim_thing" "base" {}
resource "sim_thing" "a" { provider = sim.x }`,
		"depends_on": `
ephemeral "sim_secret" "s" { depends_on = [sim_thing.base] }
resource "sim_thing" "base" {}
resource "sim_thing" "a" { password_wo = ephemeral.sim_secret.s.token }`,
		"conditions of values": `
ephemeral "sim_secret" "s" { name = sim_thing.base.id }
resource "sim_thing" "base" {}
resource "sim_thing" "other" {}
variable "v" {
  default = "x"
  validation {
    condition     = var.v != ephemeral.sim_secret.s.token && sim_thing.other.id != ""
    error_message = "No."
  }
}
output "o" {
  value = 1
  precondition {
    condition     = ephemeral.sim_secret.s.token != data.sim_data.late.id
    error_message = "No."
  }
}
data "sim_data" "late" {}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := planned(t, text)
			host := w.host
			host.watchful = true
			w.everything(w.task, w.run.Root)
			if p := w.run.Root.resources[addr.Resource{Mode: addr.Managed, Type: "sim_thing", Name: "a"}]; p != nil && name == "provider configuration" {
				po := p.Instance(addr.NoKey).Provider(w.task)
				po.Prepare(w.task)
				s := w.host.session()
				host.within(w.task, 1)
				_, diags := po.EvalBody(w.task, s.Opened)
				host.within(w.task, -1)
				s.End()
				w.run.Report(diags)
			}
			w.clean()
		})
	}
}

// idleOpener opens nothing.
type idleOpener struct{ asked int }

func (o *idleOpener) Open(*future.Task, []Need) { o.asked++ }

// TestSettlingEnds evaluates what needs two instances of which none can be opened: that is tried once.
func TestSettlingEnds(t *testing.T) {
	w := planned(t, `
ephemeral "sim_secret" "a" {}
ephemeral "sim_secret" "b" {}
resource "sim_thing" "x" { password_wo = "${ephemeral.sim_secret.a.token}${ephemeral.sim_secret.b.token}" }`)
	in := w.instance("sim_thing.x")
	in.Prepare(w.task)
	opener := &idleOpener{}
	v, _ := in.EvalBody(w.task, NewOpened(opener))
	if got, _ := v.GetAttr("password_wo").Unmark(); got.IsKnown() || opener.asked != 1 {
		t.Errorf("the value is known: %t; asked %d times, want once", got.IsKnown(), opener.asked)
	}
}

// Diagnostics that outlive a session hold no values of it.
func TestDiagnosticsForgetSessions(t *testing.T) {
	w := planned(t, `
ephemeral "sim_secret" "s" {}
resource "sim_thing" "a" { password_wo = tonumber(ephemeral.sim_secret.s.token) }
resource "sim_thing" "b" {
  lifecycle {
    precondition {
      condition     = ephemeral.sim_secret.s.token == ""
      error_message = "No ${ephemeral.sim_secret.s.token}."
    }
  }
}`)
	check := func(diags diag.List) {
		t.Helper()
		if !diags.HasErrors() {
			t.Error("no error")
		}
		for _, d := range diags {
			if d.EvalContext != nil && (len(d.EvalContext.Variables) > 0 || d.EvalContext.Parent() != nil) {
				t.Errorf("%s keeps values", d)
			}
			if strings.Contains(fmt.Sprint(d, d.Statements), "token:eph") {
				t.Errorf("the secret is shown: %s", d)
			}
			if d.Severity == diag.Error && d.Statements["ephemeral.sim_secret.s.token"] != "is (sensitive, ephemeral value)" {
				t.Errorf("%s: got %q of the values in play, want the token only as a sensitive, ephemeral value", d, d.Statements)
			}
		}
	}
	s := w.host.session()
	defer s.End()
	_, diags := w.instance("sim_thing.a").EvalBody(w.task, s.Opened)
	check(diags)
	if w.instance("sim_thing.b").Preconditions(w.task, s.Opened) {
		t.Error("the precondition holds")
	}
	check(w.run.Diags.List())
}

// E12, E14: a consumer gets the value of this walk's own opening.
func TestE14_OutputsAreOpenedByTheWalkThatUsesThem(t *testing.T) {
	cfg, _ := compile(t, throughEphemerals)
	for _, phase := range []Phase{Planning, Applying} {
		w := cfgWorld(t, cfg, phase, nil)
		v, diags := w.host.evalIn(w.task, w.instance("sim_thing.user"))
		if d := cmp.Diff(`e("open:ephemeral.sim_secret.s#1!side-id:module.m.sim_thing.inner")`, show(v.GetAttr("password_wo"))); d != "" || diags != nil {
			t.Errorf("got diagnostics %q, want none; password_wo (-want +got):\n%s", lines(diags), d)
		}
	}
}

// Only instances that are named are opened.
func TestOpensOneInstance(t *testing.T) {
	w := planned(t, `
ephemeral "sim_secret" "s" { for_each = toset(["x", "y", "z"]) }
resource "sim_thing" "a" {
  for_each    = toset(["x", "y"])
  password_wo = ephemeral.sim_secret.s[each.key].id
}`)
	v, diags := w.host.evalIn(w.task, w.instance(`sim_thing.a["y"]`))
	if got := show(v.GetAttr("password_wo")); got != `e("open:ephemeral.sim_secret.s[\"y\"]#1")` || diags != nil {
		t.Errorf("got %s %s, want %s", got, lines(diags), `e("open:ephemeral.sim_secret.s[\"y\"]#1")`)
	}
	if log := w.host.taken(); log != `open ephemeral.sim_secret.s["y"]` {
		t.Error(log)
	}
}

// A splat or for expression over the instances of a module opens what the outputs that it takes need, and
// nothing for the others.
func TestOpensForOutputsThatAreRead(t *testing.T) {
	for name, expr := range map[string]string{
		"splat":                  `module.m[*].one`,
		"for":                    `[for m in module.m : m.one]`,
		"splat and one instance": `[module.m[*].one, module.m[0].plain]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := planned(t, `
resource "sim_thing" "late" {}
module "m" {
  source = "./m"
  count  = 2
}
resource "sim_thing" "a" { password_wo = jsonencode(`+expr+`) }
-- m/m.tf --
ephemeral "sim_secret" "one" {}
ephemeral "sim_secret" "two" {}
output "one" {
  value     = ephemeral.sim_secret.one.id
  ephemeral = true
}
output "two" {
  value     = ephemeral.sim_secret.two.id
  ephemeral = true
}
output "plain" { value = "p" }
`)
			in := w.instance(`sim_thing.a`)
			in.Prepare(w.task)
			w.host.taken()
			if _, diags := w.host.evalIn(w.task, in); diags != nil {
				t.Error(lines(diags))
			}
			if log := w.host.taken(); strings.Contains(log, "two") || !strings.Contains(log, "one") {
				t.Errorf("opened %s", log)
			}
		})
	}
}

// Depends_on holds open what it names, and what a module that it names consists of, but for what only a check
// in there knows.
func TestHold(t *testing.T) {
	w := planned(t, `
ephemeral "sim_secret" "k" { for_each = toset(["x", "y"]) }
module "m" {
  source = "./m"
  count  = 2
}
resource "sim_thing" "a" { depends_on = [ephemeral.sim_secret.k["y"], module.m] }
-- m/m.tf --
ephemeral "sim_secret" "in" {}
check "c" {
  ephemeral "sim_secret" "nested" {}
  assert {
    condition     = ephemeral.sim_secret.nested.id != ""
    error_message = "no id"
  }
}
`)
	in := w.instance(`sim_thing.a`)
	in.PrepareHeld(w.task)
	s := w.host.session()
	s.Open(w.task, in.Held(w.task))
	s.End()
	w.clean()
	want := `open ephemeral.sim_secret.k["y"] open module.m[0].ephemeral.sim_secret.in open module.m[1].ephemeral.sim_secret.in`
	if log := w.host.taken(); log != want {
		t.Errorf("held: got %s, want %s", log, want)
	}
}

// TestSettlingStopsAtInterrupts evaluates something after an interrupt: nothing is opened for it.
func TestSettlingStopsAtInterrupts(t *testing.T) {
	w := planned(t, `
ephemeral "sim_secret" "a" {}
resource "sim_thing" "x" { password_wo = join("", [for i in range(1000) : ephemeral.sim_secret.a.token]) }`)
	in := w.instance("sim_thing.x")
	in.Prepare(w.task)
	interrupted := make(chan struct{})
	close(interrupted)
	w.run.opt.Interrupted = interrupted
	opener := &idleOpener{}
	_, diags := in.EvalBody(w.task, NewOpened(opener))
	if opener.asked != 0 || !diags.HasErrors() {
		t.Errorf("asked %d times to open something, want never; diagnostics: %s", opener.asked, lines(diags))
	}
}
