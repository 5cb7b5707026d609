package engine_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/simprovider"
	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// secretUser is a resource with a write-only argument from an ephemeral one.
const secretUser = `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name              = "x"
  secret_wo         = ephemeral.sim_secret.s.lease
  secret_wo_version = 1
}
`

var openings = []struct {
	name   string
	before string // applied first
	text   string
	cmd    command
	inPlan int
	during int // apply
}{
	{name: "unreferenced", text: `ephemeral "sim_secret" "s" { name = "s" }`},
	{name: "referenced by an unused local", text: `
		ephemeral "sim_secret" "s" { name = "s" }
		locals { v = ephemeral.sim_secret.s.value }`},
	{name: "create", text: secretUser, inPlan: 1, during: 1},
	{name: "no change", before: secretUser, text: secretUser, inPlan: 1},
	{name: "destroy", before: secretUser, text: secretUser, cmd: command{mode: plan.Destroy}},
	{name: "refresh only", before: secretUser, text: secretUser, cmd: command{mode: plan.RefreshOnly}},
	{name: "removed from the configuration", before: secretUser, text: `ephemeral "sim_secret" "s" { name = "s" }`},
	{name: "used by a provisioner alone", text: `
		ephemeral "sim_secret" "s" { name = "s" }
		resource "sim_thing" "x" {
		  name = "x"
		  provisioner "local-exec" {
		    command     = "test \"$V\" = CANARY-sim_secret-s"
		    environment = { V = ephemeral.sim_secret.s.value }
		  }
		}`, during: 1},
	{name: "used by a provisioner that does not run", before: `resource "sim_thing" "x" { name = "x" }`, text: `
		ephemeral "sim_secret" "s" { name = "s" }
		resource "sim_thing" "x" {
		  name = "x"
		  size = 2
		  provisioner "local-exec" {
		    command     = "true"
		    environment = { V = ephemeral.sim_secret.s.value }
		  }
		}`},
	{name: "own condition", text: `
		ephemeral "sim_secret" "s" {
		  name = "s"
		  lifecycle {
		    postcondition {
		      condition     = self.value != ""
		      error_message = "empty"
		    }
		  }
		}`, inPlan: 1, during: 1},
	{name: "not targeted", text: secretUser + `resource "sim_thing" "y" { name = "y" }`, cmd: command{targets: []string{"sim_thing.y"}}},
	{name: "provider that nothing uses", text: `
		ephemeral "sim_secret" "s" { name = "s" }
		provider "sim" {
		  alias = "p"
		  token = ephemeral.sim_secret.s.value
		}
		resource "sim_thing" "y" { name = "y" }`},
	{name: "count zero", text: `
		ephemeral "sim_secret" "s" {
		  count = 0
		  name  = "s"
		}`},
}

// TestE40OpenedOnlyWhenNeeded counts the openings of each kind of run.
func TestE40OpenedOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	for _, row := range openings {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.before)
			if row.before != "" {
				w.ok(command{})
				w.config(row.text)
			}
			w.config(row.text)
			r := w.ok(row.cmd)
			if got := opens(r.planLog, ""); got != row.inPlan {
				t.Errorf("%d openings in plan, want %d", got, row.inPlan)
			}
			if got := opens(r.applyLog, ""); got != row.during {
				t.Errorf("%d openings in apply, want %d", got, row.during)
			}
		})
	}
}

func TestE40ValidateOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, secretUser)
	if diags := w.validate(); diags.HasErrors() {
		t.Fatalf("%s", texts(diags))
	}
	log := w.newEntries()
	if n := opens(log, ""); n != 0 {
		t.Errorf("%d openings", n)
	}
	call(t, log, simlog.Filter{RPC: "ValidateEphemeralResourceConfig"})
	if n := log.Count(simlog.Filter{RPC: "ConfigureProvider"}); n != 0 {
		t.Error("a provider was configured for validation")
	}
}

func TestE41Deferral(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
ephemeral "sim_secret" "s" {
  name = sim_thing.a.id
  hint = "h"
}
resource "sim_thing" "x" {
  name              = "x"
  secret_wo         = ephemeral.sim_secret.s.lease
  secret_wo_version = 1
}`)
	r := w.ok(command{})
	if n := opens(r.planLog, ""); n != 0 {
		t.Errorf("%d openings in plan with unknown configuration", n)
	}
	if got := r.kinds(event.OpOpen, "ephemeral.sim_secret.s"); len(got) < 1 || got[0] != event.Deferred {
		t.Errorf("events = %v, want a deferral first", got)
	}
	if o := window(t, r.applyLog, "a-1"); !o.Covers(applyOf(t, r.applyLog, "x")) {
		t.Error("the window does not cover its consumer")
	}
	r = w.ok(command{planOnly: true}).plans()
	if n := opens(r.planLog, "a-1"); n != 1 {
		t.Errorf("%d openings in a plan where everything is known, want 1", n)
	}
}

func TestE41DependsOnPending(t *testing.T) {
	t.Parallel()
	text := `
resource "sim_thing" "a" { name = "a" }
ephemeral "sim_secret" "s" {
  name       = "s"
  depends_on = [sim_thing.a]
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.lease
}`
	w := newWorld(t, text)
	r := w.ok(command{})
	if n := opens(r.planLog, ""); n != 0 {
		t.Errorf("%d openings in plan", n)
	}
	before(t, "opened before what it depends on", applyOf(t, r.applyLog, "a").End.T, window(t, r.applyLog, "s").Open.Begin.T)
	r = w.ok(command{planOnly: true})
	if n := opens(r.planLog, ""); n != 1 {
		t.Errorf("%d openings without a pending change, want 1", n)
	}
}

// TestE41ProviderOfDeferred plans with a provider whose configuration is not known yet.
func TestE41ProviderOfDeferred(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
ephemeral "sim_secret" "s" { name = sim_thing.a.id }
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "x" {
  provider = sim.p
  name     = "x"
}`)
	r := w.ok(command{})
	if n := opens(r.planLog, ""); n != 0 {
		t.Errorf("%d openings in plan", n)
	}
	w.has("sim_thing.a", "sim_thing.x")
	if o := window(t, r.applyLog, "a-1"); !o.Covers(applyOf(t, r.applyLog, "x")) {
		t.Error("the window does not cover the work of the provider configured from it")
	}
}

func TestE42Validation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, secretUser)
	r := w.ok(command{planOnly: true})
	v, o := r.planLog.Calls(simlog.Filter{RPC: "ValidateEphemeralResourceConfig"}), call(t, r.planLog, simlog.Filter{RPC: "OpenEphemeralResource"})
	if len(v) != 2 { // first with the whole configuration, then with what it is opened with
		t.Fatalf("validated %d times", len(v))
	}
	before(t, "validated after it was opened", v[1].End.T, o.Begin.T)

	w.config(`
ephemeral "sim_secret" "s" {
  name    = "s"
  fail_on = "validate"
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.lease
}`)
	r = w.fails(command{}, "ephemeral.sim_secret.s", "asked to fail on validate")
	if n := opens(r.log(), ""); n != 0 || r.errors() != 1 {
		t.Errorf("%d openings; %s", n, texts(r.diags()))
	}
}

// TestE43Results strikes the answer of Open: an invalid result is an error that names the attribute, and the
// instance is closed.
func TestE43Results(t *testing.T) {
	t.Parallel()
	s, invalid := "ephemeral.sim_secret.s", "Provider produced an invalid ephemeral result"
	rows := []struct {
		misdeed
		closed bool // an opening was answered, so it must be closed
	}{
		{misdeed{name: "unknown", rule: `"do":"unknown","attr":"value"`, want: []string{s, invalid, "value"}}, true},
		{misdeed{name: "argument changed", rule: `"do":"change-config","attr":"hint"`, want: []string{s, invalid, "hint"}}, true},
		{misdeed{name: "null argument set", rule: `"do":"set-unconfigured","attr":"open_delay"`, want: []string{s, invalid, "open_delay"}}, true},
		{misdeed{name: "wrong type", rule: `"do":"wrong-type","attr":"value"`, want: []string{s, "value"}}, true},
		{misdeed{name: "null object", rule: `"do":"null-object"`, want: []string{s, "null"}}, true},
		{misdeed{name: "no value", rule: `"do":"no-value"`, want: []string{s}}, true},
		{misdeed{name: "garbage", rule: `"do":"garbage"`, want: []string{s}}, true},
		{misdeed{name: "not an object", rule: `"do":"not-an-object"`, want: []string{s}}, true},
		{misdeed{name: "deferred", rule: `"do":"deferred"`, want: []string{s, "Deferred"}}, true},
		{misdeed{name: "error beside a result", rule: `"do":"error","text":"half open"`, want: []string{s, "half open"}}, true},
		{misdeed{name: "error", rule: `"do":"rpc-error","text":"boom"`, want: []string{s, "boom"}}, false},
		{misdeed{name: "unimplemented", rule: `"do":"unimplemented"`, want: []string{s, "not supported"}}, false},
		{misdeed{name: "warning", rule: `"do":"warning","text":"old"`, warn: []string{s, "old"}}, true},
		{misdeed{name: "crash", rule: `"do":"exit","when":"before","text":"last words"`, want: []string{"stopped unexpectedly", "last words"}}, false},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `
ephemeral "sim_secret" "s" {
  name = "s"
  hint = "h"
}
resource "sim_thing" "good" { name = "good" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.value
}`)
			w.rules = rules(`{"rpc":"OpenEphemeralResource","name":"s",` + m.rule + `}`)
			r := w.run(command{})
			m.check(t, w, r)
			if n := len(r.log().Windows()); m.closed && n == 0 {
				t.Error("the transcript has no opening")
			}
			if m.closed && w.openLeases() != 0 {
				t.Errorf("%d leases are still open", w.openLeases())
			}
		})
	}
}

func TestE44InstancesOpenTogether(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  count      = 6
  name       = "s${count.index}"
  open_delay = "60ms"
}
resource "sim_thing" "x" {
  count     = 6
  name      = "x${count.index}"
  secret_wo = ephemeral.sim_secret.s[count.index].lease
}`, func(t *testing.T, w *world) {
		r := w.ok(command{parallelism: 3})
		for _, log := range []simlog.Log{r.planLog, r.applyLog} {
			if got := log.MaxConcurrency(simlog.Filter{RPC: "OpenEphemeralResource"}); got != 3 {
				t.Errorf("%d openings at once, want 3", got)
			}
		}
	})
}

// TestE14StaleValuesAreNotReused compares what the plan and the apply phase sent.
func TestE14StaleValuesAreNotReused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" { source = "./m" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = module.m.lease
}`)
	w.file("m/main.tf", prelude+`
ephemeral "sim_secret" "s" { name = "s" }
output "lease" {
  value     = ephemeral.sim_secret.s.lease
  ephemeral = true
}`)
	r := w.ok(command{})
	p := call(t, r.planLog, simlog.Filter{RPC: "PlanResourceChange"}).Begin.Hash["config.secret_wo"]
	a := applyOf(t, r.applyLog, "x").Begin.Hash["config.secret_wo"]
	if p == a || !hashed(p) || !hashed(a) {
		t.Errorf("plan sent %q, apply sent %q: they must be of different openings", p, a)
	}
	if len(r.planLog.Windows()) != 1 || len(r.applyLog.Windows()) != 1 {
		t.Error("each phase opens its own")
	}
	o, err := simprovider.ReadObject(w.cloud, "x-1")
	if err != nil || o.SecretHash != a {
		t.Errorf("the cloud holds %+v, %v", o, err)
	}
}

func TestE2EphemeralVariable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "password" {
  ephemeral = true
  type      = string
}
resource "sim_thing" "x" {
  name              = "x"
  secret_wo         = var.password
  secret_wo_version = 1
}`)
	r := w.ok(command{vars: map[string]cty.Value{"password": cty.StringVal("CANARY-variable")}})
	o, err := simprovider.ReadObject(w.cloud, "x-1")
	if err != nil || o.SecretHash != simlog.Hash("CANARY-variable") {
		t.Errorf("the cloud holds %+v, %v", o, err)
	}
	if !slices.Equal(r.plan.EphemeralVariables, []string{"password"}) || len(r.plan.Variables) != 0 {
		t.Errorf("the plan keeps %v and %v", r.plan.EphemeralVariables, r.plan.Variables)
	}
	w.config(`
variable "password" {
  ephemeral = true
  type      = string
}
resource "sim_thing" "x" {
  name = "x"
  json = jsonencode(var.password)
}`)
	w.fails(command{vars: map[string]cty.Value{"password": cty.StringVal("CANARY-variable")}}, "Invalid use of an ephemeral value", "json")
	if diags := w.validate(); !diags.HasErrors() {
		t.Error("validate accepts an ephemeral value in a stored argument")
	}
}

func TestE10EphemeralRootOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
output "o" { value = ephemeral.sim_secret.s.value }`)
	r := w.run(command{})
	r.wants(diag.Error, "output")
	w.config(`
ephemeral "sim_secret" "s" { name = "s" }
output "o" { value = ephemeralasnull(ephemeral.sim_secret.s.opened) == null ? "null" : "value" }`)
	w.ok(command{})
	if w.output("o") != "null" {
		t.Errorf("output = %q", w.output("o"))
	}
}
