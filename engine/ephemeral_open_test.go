package engine_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/simprovider"
	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
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
