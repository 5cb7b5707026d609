package engine_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// fault is what can go wrong with a call.
type fault struct {
	name, rule string // the rule's fields
	fails      bool   // the command fails then
	hangs      bool   // which the end of the command's context ends
}

// faultsOfCalls are what can go wrong with any call.
var faultsOfCalls = []fault{
	{name: "crash before", rule: `"do":"exit","when":"before","text":"last words"`, fails: true},
	{name: "hang", rule: `"do":"hang"`, fails: true, hangs: true},
	{name: "crash during", rule: `"do":"exit","text":"last words"`, fails: true},
	{name: "flood", rule: `"do":"stderr","text":"` + strings.Repeat("flood ", 1<<18) + `"`},
	{name: "panic", rule: `"do":"panic","text":"last words"`, fails: true},
	{name: "crash after", rule: `"do":"exit","when":"after","ms":1,"text":"last words"`},
}

// faultsOfAnswers returns what can be wrong with any answer that has an object with a text attribute.
func faultsOfAnswers(attr string) []fault {
	huge := `"do":"huge"`
	if attr != "" {
		huge += `,"attr":"` + attr + `"`
	}
	return []fault{
		{name: "garbage", rule: `"do":"garbage"`, fails: true},
		{name: "huge", rule: huge},
		{name: "no value", rule: `"do":"no-value"`},
	}
}

// scene is a world in which some calls are made, after something was applied.
type scene struct {
	first, text string
	env         map[string]string
	state       string // in place of the one after the first text
	calls       []string
	objects     map[string]string // the calls of them whose answers have objects, and an attribute; "" for any
	generate    bool              // blocks are generated
	interrupted string            // the object during whose creation the command is interrupted
}

var scenes = []scene{
	{
		first: `
resource "sim_thing" "x" { name = "x" }
resource "sim_old" "m" { name = "m" }
resource "sim_thing" "gone" { name = "gone" }`,
		text: `
provider "sim" { region = "r" }
resource "sim_thing" "x" {
  name      = "x"
  size      = 1
  json      = jsonencode([data.sim_lookup.d.label, provider::sim::concat2("a", "b")])
  secret_wo = ephemeral.sim_secret.s.value
}
resource "sim_thing" "m" { name = "m" }
moved {
  from = sim_old.m
  to   = sim_thing.m
}
resource "sim_thing" "new" {
  name  = "new"
  delay = "1500ms"
  tags  = { up = sim_thing.x.id }
}
data "sim_lookup" "d" { name = "x" }
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "1s"
}
resource "sim_thing" "last" {
  name       = "last"
  secret_wo  = ephemeral.sim_secret.s.value
  depends_on = [sim_thing.new]
}`,
		calls: []string{
			"GetProviderSchema", "ValidateProviderConfig", "ConfigureProvider", "ValidateResourceConfig", "ReadResource", "PlanResourceChange",
			"ApplyResourceChange", "MoveResourceState", "ValidateDataResourceConfig", "ReadDataSource", "CallFunction",
			"ValidateEphemeralResourceConfig", "OpenEphemeralResource", "RenewEphemeralResource", "CloseEphemeralResource",
		},
		objects: map[string]string{"ReadResource": "status", "MoveResourceState": "status", "ReadDataSource": "label", "CallFunction": "", "OpenEphemeralResource": "value"},
	},
	{
		first: `resource "sim_thing" "x" { name = "x" }`,
		text: `
import {
  to = sim_thing.i
  id = "x-1"
}
resource "sim_thing" "i" { name = "x" }`,
		state:   `{"version":4,"terraform_version":"1.5.0","serial":7,"lineage":"l","outputs":{},"resources":[]}`,
		calls:   []string{"ImportResourceState", "GetResourceIdentitySchemas"},
		objects: map[string]string{"ImportResourceState": "status"},
	},
	{
		first: `resource "sim_thing" "x" { name = "x" }`,
		text:  `resource "sim_thing" "x" { name = "x" }`,
		state: `{"version":4,"terraform_version":"1.5.0","serial":7,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"sim_thing",
"name":"x","provider":"provider[\"mayfly.dev/test/sim\"]","instances":[{"schema_version":0,"attributes":{"id":"x-1","name":"x","labels":null}}]}]}`,
		calls:   []string{"UpgradeResourceState"},
		objects: map[string]string{"UpgradeResourceState": "status"},
	},
	{
		first: `resource "sim_shape" "x" { name = "x" }`,
		text:  `resource "sim_shape" "x" { name = "x" }`,
		state: `{"version":4,"terraform_version":"1.5.0","serial":7,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"sim_shape",
"name":"x","provider":"provider[\"mayfly.dev/test/sim\"]","instances":[{"schema_version":2,"attributes":{"id":"x-1","name":"x","serial":1},
"identity_schema_version":0,"identity":{"label":"x"}}]}]}`,
		calls:   []string{"UpgradeResourceIdentity"},
		objects: map[string]string{"UpgradeResourceIdentity": ""},
	},
	{
		first: `resource "sim_thing" "x" { name = "x" }`,
		text: `
provider "sim" { prefix = "p" }
resource "sim_thing" "x" {
  name = "x"
  json = jsonencode(provider::sim::whoami())
}`,
		calls: []string{"GetFunctions"},
	},
	{
		first: `resource "sim_thing" "x" { name = "x" }`,
		text: `
import {
  to = sim_thing.i
  id = "x-1"
}`,
		env:      map[string]string{"SIM_SCHEMA": "generate"},
		state:    `{"version":4,"terraform_version":"1.5.0","serial":7,"lineage":"l","outputs":{},"resources":[]}`,
		calls:    []string{"GenerateResourceConfig"},
		objects:  map[string]string{"GenerateResourceConfig": ""},
		generate: true,
	},
	{
		first: `resource "sim_thing" "x" { name = "x" }`,
		text: `
resource "sim_thing" "x" { name = "x" }
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_slow" "slow" {
  name         = "slow"
  create_delay = "2s"
  depends_on   = [ephemeral.sim_secret.s]
}`,
		calls:       []string{"StopProvider"},
		interrupted: "sim_slow.slow",
	},
}

// faultsOf returns what can go wrong with a call of a scene.
func (s *scene) faultsOf(call string) []fault {
	if attr, ok := s.objects[call]; ok {
		return slices.Concat(faultsOfCalls, faultsOfAnswers(attr))
	}
	return faultsOfCalls
}

// TestMatrixCalls lets each call go wrong in each way: the command ends, an error names who is to blame, and
// the next command has nothing to complain about. By default each call goes wrong in two or three ways; the
// variable MAYFLY_TEST_FAULTS asks for all. GetMetadata is missing: the engine never calls it.
func TestMatrixCalls(t *testing.T) {
	t.Parallel()
	n := 0
	for _, s := range scenes {
		for _, call := range s.calls {
			n++
			for i, f := range s.faultsOf(call) {
				if os.Getenv("MAYFLY_TEST_FAULTS") == "" && i%3 != n%3 {
					continue
				}
				t.Run(call+" "+f.name, func(t *testing.T) {
					t.Parallel()
					s.run(t, call, f)
				})
			}
		}
	}
}

func (s *scene) run(t *testing.T, call string, f fault) {
	w := newWorld(t, s.first)
	w.ok(command{})
	w.config(s.text)
	if s.state != "" {
		w.store.Put("default", []byte(s.state))
	}
	if s.env != nil {
		w.env = s.env
	}
	w.rules, w.unclosed, w.faulty = rules(`{"rpc":"`+call+`","nth":1,`+f.rule+`}`), true, true
	c := command{closeLimit: 500 * time.Millisecond, generate: s.generate, ctx: t.Context()}
	if f.hangs {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c.ctx = ctx
	}
	if s.interrupted != "" {
		soft, cancel := context.WithCancel(c.ctx)
		defer cancel()
		c.soft, c.onEvent = soft, during(event.OpCreate, s.interrupted, func() {
			time.Sleep(100 * time.Millisecond) // the call is on its way
			cancel()
		})
	}
	checkCall(t, w.run(c), call, f.fails || s.interrupted != "")
	w.rules = ""
	w.ok(command{generate: s.generate})
}

func checkCall(t *testing.T, r *result, call string, fails bool) {
	t.Helper()
	struck := slices.ContainsFunc(r.log(), func(e simlog.Entry) bool { return len(e.Did) > 0 }) ||
		slices.ContainsFunc(r.log().Calls(simlog.Filter{RPC: call}), simlog.Call.Aborted)
	text := texts(r.diags())
	switch {
	case !struck:
		t.Error("the rule struck no call")
	case fails && !slices.ContainsFunc(r.diags(), func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error || d.Summary == "Ephemeral resource may still be live"
	}):
		t.Errorf("nothing was reported: %s", text)
	case strings.Contains(text, "Bug in Mayfly"), len(text) > 1<<16:
		t.Errorf("the report: %.2000s", text)
	}
}
