package engine_test

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestMatrixRead strikes the refreshing of an object. Whatever the answer, the stored object stays unless the
// provider says that it is gone.
func TestMatrixRead(t *testing.T) {
	t.Parallel()
	invalid := "Provider produced invalid object read"
	rows := []misdeed{
		{name: "error", rule: `"do":"error"`, want: []string{"sim_thing.x", "Simulated misbehaviour"}},
		{name: "warning", rule: `"do":"warning"`, warn: []string{"sim_thing.x", "warns on purpose"}},
		{name: "rpc error", rule: `"do":"rpc-error"`, want: []string{"sim_thing.x", "Provider call failed"}},
		{name: "deferred", rule: `"do":"deferred"`, want: []string{"sim_thing.x", "Invalid Deferred Response"}},
		{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}},
		{name: "not an object", rule: `"do":"not-an-object"`, want: []string{"sim_thing.x"}},
		{name: "wrong type", rule: `"do":"wrong-type","attr":"size"`, want: []string{"sim_thing.x"}, path: "size"},
		{name: "unknown", rule: `"do":"unknown","attr":"status"`, want: []string{"sim_thing.x", invalid}, path: "status"},
		{
			name: "E62 write-only value", rule: `"do":"write-only","attr":"secret_wo","value":"CANARY-read"`,
			want: []string{"sim_thing.x", "Provider produced invalid object", "object read"}, path: "secret_wo",
		},
		{name: "identity changed", rule: `"do":"change-identity"`},
		{name: "no identity", rule: `"do":"no-identity"`},
		{name: "no private", rule: `"do":"no-private"`},
		{name: "crash", rule: `"do":"exit","text":"last words"`, want: []string{"stopped unexpectedly", "last words"}},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, victim)
			w.ok(command{})
			w.rules = rules(quoted("ReadResource", m.rule))
			r := w.run(command{})
			m.check(t, w, r)
			r.did()
			w.has(everything...)
			if len(m.want) == 0 {
				r.plans()
			}
			w.rules = ""
			w.ok(command{}).plans()
		})
	}
	t.Run("null object", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
		w.ok(command{})
		w.rules = rules(quoted("ReadResource", `"do":"null-object"`))
		w.ok(command{planOnly: true}).plans("sim_thing.x create")
	})
	t.Run("no value", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
		w.ok(command{})
		w.rules = rules(quoted("ReadResource", `"do":"no-value"`))
		r := w.run(command{planOnly: true})
		for _, a := range r.actions() {
			if a != "sim_thing.x create" {
				t.Errorf("planned: got %q, want %q", a, "sim_thing.x create")
			}
		}
	})
}

// TestMatrixUpgrade strikes the upgrade of an object of an older schema version.
func TestMatrixUpgrade(t *testing.T) {
	t.Parallel()
	old := []byte(`{"version":4,"terraform_version":"1.5.0","serial":7,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"sim_thing",
"name":"x","provider":"provider[\"mayfly.dev/test/sim\"]","instances":[{"schema_version":0,"attributes":{"id":"x-1","name":"x","size":"3","labels":null}}]}]}`)
	rows := []misdeed{
		{name: "error", rule: `"do":"error"`, want: []string{"sim_thing.x", "Simulated misbehaviour"}},
		{name: "rpc error", rule: `"do":"rpc-error"`, want: []string{"sim_thing.x", "Provider call failed"}},
		{name: "unimplemented", rule: `"do":"unimplemented"`, want: []string{"sim_thing.x", "not supported"}},
		{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}},
		{name: "unknown", rule: `"do":"unknown","attr":"status"`, want: []string{"sim_thing.x", "upgraded state"}, path: "status"},
		{name: "wrong type", rule: `"do":"wrong-type","attr":"size"`, want: []string{"sim_thing.x"}, path: "size"},
		{
			name: "E62 write-only value", rule: `"do":"write-only","attr":"secret_wo","value":"CANARY-upgraded"`,
			want: []string{"sim_thing.x", "Invalid resource state upgrade", "upgraded state"}, path: "secret_wo",
		},
		{name: "null object", rule: `"do":"null-object"`, want: []string{"sim_thing.x", "null"}},
		{name: "no value", rule: `"do":"no-value"`, want: []string{"sim_thing.x"}},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_thing" "x" {
  name = "x"
  size = 3
}`)
			w.ok(command{})
			w.store.Put("default", old)
			w.rules = rules(`{"rpc":"UpgradeResourceState",` + m.rule + `}`)
			r := w.run(command{})
			m.check(t, w, r)
			w.has("sim_thing.x")
			if o := w.object("sim_thing.x"); o.SchemaVersion != 0 {
				t.Errorf("the object was stored with version: got %d, want 0", o.SchemaVersion)
			}
		})
	}
}

func TestMatrixImport(t *testing.T) {
	t.Parallel()
	rows := []misdeed{
		{name: "error", rule: `"do":"error"`, want: []string{"sim_thing.x", "Simulated misbehaviour"}},
		{name: "rpc error", rule: `"do":"rpc-error"`, want: []string{"sim_thing.x", "Provider call failed"}},
		{name: "empty", rule: `"do":"empty-import"`, want: []string{"sim_thing.x", "Nothing imported"}},
		{name: "wrong type name", rule: `"do":"wrong-type-name"`, want: []string{"sim_thing.x", "sim_no_such_type"}},
		{name: "another type", rule: `"do":"wrong-type-name","text":"sim_old"`, want: []string{"sim_thing.x"}},
		{name: "twice", rule: `"do":"twice"`},
		{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}},
		{name: "null object", rule: `"do":"null-object"`, want: []string{"sim_thing.x", "null"}},
		{name: "unknown", rule: `"do":"unknown","attr":"status"`, want: []string{"sim_thing.x", "imported object"}, path: "status"},
		{
			name: "E62 write-only value", rule: `"do":"write-only","attr":"secret_wo","value":"CANARY-imported"`,
			want: []string{"sim_thing.x", "Import returned a non-null value for a write-only attribute"}, path: "secret_wo",
		},
		{name: "no private", rule: `"do":"no-private"`},
		{name: "deferred", rule: `"do":"deferred"`, want: []string{"sim_thing.x", "Deferred"}},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_thing" "first" { name = "x" }`)
			w.ok(command{})
			w.store.Put("default", nil)
			w.config(`
import {
  to = sim_thing.x
  id = "x-1"
}
resource "sim_thing" "x" { name = "x" }`)
			w.rules = rules(`{"rpc":"ImportResourceState",` + m.rule + `}`)
			r := w.run(command{})
			m.check(t, w, r)
			r.did()
			if len(m.want) == 0 {
				w.has("sim_thing.x")
			} else {
				w.has()
			}
		})
	}
}

func TestMatrixMove(t *testing.T) {
	t.Parallel()
	rows := []misdeed{
		{name: "error", rule: `"do":"error"`, want: []string{"sim_thing.x", "Simulated misbehaviour"}},
		{name: "unimplemented", rule: `"do":"unimplemented"`, want: []string{"sim_thing.x", "not supported"}},
		{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}},
		{name: "null object", rule: `"do":"null-object"`, want: []string{"sim_thing.x", "null"}},
		{name: "unknown", rule: `"do":"unknown","attr":"status"`, want: []string{"sim_thing.x", "moved object"}, path: "status"},
		{
			name: "E62 write-only value", rule: `"do":"write-only","attr":"secret_wo","value":"CANARY-moved"`,
			want: []string{"sim_thing.x", "Provider returned invalid value"}, path: "secret_wo",
		},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_old" "x" { name = "x" }`)
			w.ok(command{})
			w.config(`
resource "sim_thing" "x" { name = "x" }
moved {
  from = sim_old.x
  to   = sim_thing.x
}`)
			w.rules = rules(`{"rpc":"MoveResourceState",` + m.rule + `}`)
			r := w.run(command{})
			m.check(t, w, r)
			r.did()
			w.has("sim_old.x")
		})
	}
}

func TestMatrixData(t *testing.T) {
	t.Parallel()
	invalid := "Provider produced invalid object read"
	rows := []misdeed{
		{name: "error", rule: `"do":"error"`, want: []string{"data.sim_lookup.d", "Simulated misbehaviour"}},
		{name: "rpc error", rule: `"do":"rpc-error"`, want: []string{"data.sim_lookup.d", "Provider call failed"}},
		{name: "deferred", rule: `"do":"deferred"`, want: []string{"data.sim_lookup.d", "Deferred"}},
		{name: "garbage", rule: `"do":"garbage"`, want: []string{"data.sim_lookup.d"}},
		{name: "null object", rule: `"do":"null-object"`, want: []string{"data.sim_lookup.d", "null"}},
		{name: "no value", rule: `"do":"no-value"`, want: []string{"data.sim_lookup.d"}},
		{name: "wrong type", rule: `"do":"wrong-type","attr":"size"`, want: []string{"data.sim_lookup.d"}, path: "size"},
		{name: "unknown", rule: `"do":"unknown","attr":"label"`, want: []string{"data.sim_lookup.d", invalid}, path: "label"},
		{name: "argument changed", rule: `"do":"change-config","attr":"hint"`}, // what was read counts
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
			w.ok(command{})
			w.config(`
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "good" { name = "good" }
data "sim_lookup" "d" {
  name = "x"
  hint = "h"
}
resource "sim_thing" "after" {
  name = "after"
  json = jsonencode(data.sim_lookup.d.label)
}`)
			w.rules = rules(quoted("ReadDataSource", m.rule))
			m.check(t, w, w.run(command{}))
		})
	}
}

// TestMatrixProvider strikes what comes before any resource.
func TestMatrixProvider(t *testing.T) {
	t.Parallel()
	source := "mayfly.dev/test/sim"
	rows := []misdeed{
		{name: "configure error", rule: `{"rpc":"ConfigureProvider","do":"error","text":"bad token"}`, want: []string{source, "bad token"}},
		{name: "configure rpc error", rule: `{"rpc":"ConfigureProvider","do":"rpc-error"}`, want: []string{source, "Provider call failed"}},
		{name: "configure crash", rule: `{"rpc":"ConfigureProvider","do":"exit","text":"last words"}`, want: []string{source, "stopped unexpectedly", "last words"}},
		{name: "config invalid", rule: `{"rpc":"ValidateProviderConfig","do":"error","text":"bad region"}`, want: []string{source, "bad region"}},
		{name: "schema error", rule: `{"rpc":"GetProviderSchema","do":"error","text":"no schema"}`, want: []string{"no schema"}},
		{name: "schema crash", rule: `{"rpc":"GetProviderSchema","do":"exit","text":"last words"}`, want: []string{"stopped unexpectedly", "last words"}},
		{name: "resource invalid", rule: quoted("ValidateResourceConfig", `"do":"error","text":"bad size"`), want: []string{"sim_thing.x", "bad size"}},
		{name: "resource invalid at a path", rule: quoted("ValidateResourceConfig", `"do":"invalid-path"`), want: []string{"sim_thing.x", "does not exist"}},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `
provider "sim" { region = "r" }
resource "sim_thing" "x" { name = "x" }`)
			w.rules = rules(m.rule)
			r := w.run(command{})
			if m.name == "schema error" || m.name == "schema crash" {
				r.wants(diag.Error, m.want...)
			} else {
				m.check(t, w, r)
			}
			w.exists()
		})
	}
}

func TestMatrixStart(t *testing.T) {
	t.Parallel()
	for _, deed := range []string{"garbage-stdout", "wrong-protocol", "exit", "panic"} {
		t.Run(deed, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
			w.rules = rules(`{"rpc":"Start","do":"` + deed + `","text":"last words"}`)
			r := w.fails(command{}, "mayfly.dev/test/sim")
			if r.errors() != 1 {
				t.Errorf("got %d errors, want 1: %s", r.errors(), texts(r.diags()))
			}
		})
	}
}

// hashed reports whether one of the hashes of a transcript entry is of a value.
func hashed(list string) bool {
	for h := range strings.SplitSeq(list, ",") {
		if len(h) == 12 {
			return true
		}
	}
	return false
}

func TestMatrixFunctions(t *testing.T) {
	t.Parallel()
	text := `
resource "sim_thing" "x" {
  name = "x"
  json = jsonencode(provider::sim::concat2("a", "b"))
}
output "o" { value = provider::sim::echo({ k = [1] }).k[0] }`
	w := newWorld(t, text)
	w.ok(command{})
	if w.attr("sim_thing.x", "json") != `"\"ab\""` {
		t.Errorf("json: got %s, want %s", w.attr("sim_thing.x", "json"), `"\"ab\""`)
	}
	for _, row := range [][2]string{
		{`"do":"error","text":"no luck"`, "no luck"}, {`"do":"rpc-error","text":"boom"`, "boom"}, {`"do":"garbage"`, "concat2"}, {`"do":"exit","text":"last words"`, "last words"},
	} {
		w := newWorld(t, text)
		w.rules = rules(`{"rpc":"CallFunction","name":"concat2",` + row[0] + `}`)
		w.fails(command{}, row[1])
	}
	w = newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = provider::sim::fail(ephemeral.sim_secret.s.value)
}`)
	w.fails(command{}, "sim_thing.x")
}

func TestMatrixNoCapabilities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, victim)
	w.env["SIM_SCHEMA"] = "no-capabilities"
	w.ok(command{})
	r := w.ok(command{mode: plan.Destroy})
	if n := r.planLog.Count(simlog.Filter{RPC: "PlanResourceChange"}); n != 0 {
		t.Errorf("%d destructions were planned with a provider that does not plan them, want 0", n)
	}
	w.exists()
}

// TestProtocol5 runs the same life through protocol 5.
func TestProtocol5(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(victim, `  nested = { n = { value = "v" } }`+"\n", "", 1))
	w.env["SIM_PROTOCOL"] = "5"
	w.ok(command{})
	w.has(everything...)
	w.ok(command{planOnly: true}).plans()
	w.rules = rules(quoted("ReadResource", `"do":"write-only","attr":"secret_wo","value":"CANARY-read"`))
	w.fails(command{}, "sim_thing.x", "write-only attribute", "secret_wo")
	w.rules = ""
	w.ok(command{mode: plan.Destroy})
	w.exists()
}

// TestLegacyTypes lets a provider of the legacy type system change what it likes.
func TestLegacyTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_legacy" "x" {
  name  = "x"
  value = "lower"
}`)
	w.ok(command{})
	if got := w.attr("sim_legacy.x", "value") + w.attr("sim_legacy.x", "defaulted"); got != `"LOWER""legacy default"` {
		t.Errorf("attributes: got %s, want %s", got, `"LOWER""legacy default"`)
	}
	w.ok(command{planOnly: true}).plans()
}
