package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// victim is the configuration that the provider misbehaves on: x is struck, after depends on it, good must
// come out well whatever happens.
const victim = `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "good" { name = "good" }
resource "sim_thing" "x" {
  name   = "x"
  size   = 1
  tags   = { k = "v" }
  nested = { n = { value = "v" } }
  rule {
    port = 1
    note = "n"
  }
  zone { name = "z" }
  secret_wo         = ephemeral.sim_secret.s.lease
  secret_wo_version = 1
}
resource "sim_thing" "after" {
  name = "after"
  json = jsonencode(sim_thing.x.id)
}
`

// misdeed is one row of the matrix: what the provider does wrong and what must come of it.
type misdeed struct {
	name   string
	rule   string   // the rule's fields; the name of the object is added
	want   []string // words of the one error; none if all must go well
	more   int      // errors besides
	faulty bool     // the provider loses what it then misses
	path   string   // attribute path of the diagnostic, "" if it has none
	warn   []string // words of a warning
	// state after the command; nil means good alone where the command ends with an error, and everything
	// otherwise
	state []string
}

var everything = []string{"sim_thing.after", "sim_thing.good", "sim_thing.x"}

func (m *misdeed) check(t *testing.T, w *world, r *result) {
	t.Helper()
	errors := 1 + m.more
	if len(m.want) == 0 {
		errors = 0
	}
	if r.errors() != errors {
		t.Errorf("got %d errors, want %d: %s", r.errors(), errors, texts(r.diags()))
	}
	if len(m.want) > 0 {
		d := r.wants(diag.Error, m.want...)
		if got := schema.PathString(d.Path); m.path != "" && got != m.path && !strings.Contains(d.Detail, m.path) {
			t.Errorf("the error names the path %q, want %q: %s", got, m.path, d)
		}
	}
	if len(m.warn) > 0 {
		r.wants(diag.Warning, m.warn...)
	}
	struck := slices.ContainsFunc(r.log(), func(e simlog.Entry) bool { return len(e.Did) > 0 })
	if !struck {
		t.Errorf("the rule struck no call")
	}
}

func rules(list ...string) string { return "[" + strings.Join(list, ",") + "]" }

func quoted(rpc, rest string) string { return `{"rpc":"` + rpc + `","name":"x",` + rest + `}` }

const invalid = "Provider produced invalid plan"

var planMisdeeds = []misdeed{
	{name: "error", rule: `"do":"error","text":"quota"`, want: []string{"sim_thing.x", "Simulated misbehaviour", "quota"}},
	{name: "warning", rule: `"do":"warning","text":"old","nth":1`, warn: []string{"sim_thing.x", "old"}},
	{name: "invalid path", rule: `"do":"invalid-path"`, want: []string{"sim_thing.x", "does not exist"}},
	{name: "rpc error", rule: `"do":"rpc-error","text":"boom"`, want: []string{"sim_thing.x", "Provider call failed", "boom"}},
	{name: "unimplemented", rule: `"do":"unimplemented"`, want: []string{"sim_thing.x", "Operation not supported by provider", "PlanResourceChange"}},
	{name: "deferred", rule: `"do":"deferred"`, want: []string{"sim_thing.x", "Invalid Deferred Response"}},
	{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}},
	{name: "not an object", rule: `"do":"not-an-object"`, want: []string{"sim_thing.x"}},
	{name: "no value", rule: `"do":"no-value"`, want: []string{"sim_thing.x"}},
	{name: "wrong type", rule: `"do":"wrong-type","attr":"size"`, want: []string{"sim_thing.x"}, path: "size"},
	{name: "null object", rule: `"do":"null-object"`, want: []string{invalid, "null"}},
	{name: "changed argument", rule: `"do":"change-config","attr":"size"`, want: []string{"sim_thing.x", invalid}, path: "size"},
	{name: "changed argument in a map", rule: `"do":"set","attr":"tags","value":{"k":"other"}`, want: []string{invalid}, path: `tags`},
	{name: "changed argument in a block", rule: `"do":"change-config","attr":"rule.0.port"`, want: []string{invalid}, path: "rule[0].port"},
	{name: "changed argument in a nested attribute", rule: `"do":"change-config","attr":"nested.n.value"`, want: []string{invalid}, path: `nested["n"].value`},
	{name: "changed argument in a set block", rule: `"do":"change-config","attr":"zone.0.name"`, want: []string{invalid}, path: "zone"},
	{name: "null argument set", rule: `"do":"set-unconfigured","attr":"replace_me"`, want: []string{invalid}, path: "replace_me"},
	{name: "argument unknown", rule: `"do":"set","attr":"size","value":null`, want: []string{invalid}, path: "size"},
	{name: "block dropped", rule: `"do":"drop-block","attr":"rule"`, want: []string{invalid}, path: "rule"},
	{name: "block added", rule: `"do":"add-block","attr":"rule"`, want: []string{invalid}, path: "rule"},
	{name: "set block added", rule: `"do":"add-block","attr":"zone"`, want: []string{invalid}, path: "zone"},
	{
		name: "E62 write-only value", rule: `"do":"write-only","attr":"secret_wo","value":"CANARY-planned"`,
		want: []string{"sim_thing.x", "Provider produced invalid plan", "plan"}, path: "secret_wo",
	},
	{name: "write-only value copied", rule: `"do":"echo-write-only","attr":"status"`, want: []string{"sim_thing.x", "Provider copied a write-only value"}, path: "status"},
	{
		name: "no private in the second plan", rule: `"do":"no-private","nth":2`,
		want: []string{"sim_thing.x", "private data of the plan was not handed to apply"}, state: []string{"sim_thing.good"}, faulty: true,
	},
	{
		name: "known value unlike in the second plan", rule: `"do":"change-known","attr":"label","nth":2`,
		want: []string{"sim_thing.x", "Provider produced inconsistent final plan"}, path: "label", state: []string{"sim_thing.good"},
	},
	{
		name: "known value unknown in the second plan", rule: `"do":"unknown","attr":"label","nth":2`,
		want: []string{"Provider produced inconsistent final plan"}, path: "label", state: []string{"sim_thing.good"},
	},
	{
		name: "write-only value in the second plan", rule: `"do":"write-only","attr":"secret_wo","nth":2,"value":"CANARY-planned"`,
		want: []string{"write-only attribute"}, path: "secret_wo", state: []string{"sim_thing.good"},
	},
	{name: "error in the second plan", rule: `"do":"error","nth":2`, want: []string{"sim_thing.x", "Simulated misbehaviour"}, state: []string{"sim_thing.good"}},
	{name: "unknown becomes known in the second plan", rule: `"do":"set","attr":"status","nth":2,"value":"ready"`},
	{name: "legacy type system", rule: `"do":"legacy"`},
	{name: "replacement asked for a new object", rule: `"do":"replace"`},
	{name: "bad replacement path", rule: `"do":"bad-replace"`},
	{name: "no identity", rule: `"do":"no-identity"`},
	{name: "stderr", rule: `"do":"stderr","text":"chatter"`},
	{name: "slow", rule: `"do":"delay","ms":30`},
	{name: "huge", rule: `"do":"huge","attr":"status","nth":2`},
}

// TestMatrixPlan strikes the plan of a creation: nothing may be changed, except where the row says that all
// goes well.
func TestMatrixPlan(t *testing.T) {
	t.Parallel()
	for _, m := range planMisdeeds {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, victim)
			w.rules, w.faulty = rules(quoted("PlanResourceChange", m.rule)), m.faulty
			r := w.run(command{})
			m.check(t, w, r)
			switch {
			case m.state != nil:
				w.has(m.state...)
			case len(m.want) > 0:
				w.has()
				w.exists()
			default:
				w.has(everything...)
			}
		})
	}
}

// What may be left in the state of an object whose creation was struck.
var tainted, kept, none = []string{"sim_thing.good", "sim_thing.x tainted"}, []string{"sim_thing.good", "sim_thing.x"}, []string{"sim_thing.good"}

const inconsistent = "Provider produced inconsistent result after apply"

var createMisdeeds = []misdeed{
	{name: "error with the new object", rule: `"do":"error","text":"half done"`, want: []string{"sim_thing.x", "half done"}, state: tainted},
	{name: "warning", rule: `"do":"warning","text":"old"`, warn: []string{"sim_thing.x", "old"}},
	{name: "invalid path", rule: `"do":"invalid-path"`, want: []string{"sim_thing.x", "does not exist"}, state: tainted},
	{name: "rpc error", rule: `"do":"rpc-error","text":"boom"`, want: []string{"sim_thing.x", "Provider call failed", "boom"}, state: none},
	{name: "unimplemented", rule: `"do":"unimplemented"`, want: []string{"sim_thing.x", "Operation not supported"}, state: none},
	{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}, state: none},
	{name: "not an object", rule: `"do":"not-an-object"`, want: []string{"sim_thing.x"}, state: none},
	{name: "no value", rule: `"do":"no-value"`, want: []string{"sim_thing.x"}, state: none},
	{name: "null object", rule: `"do":"null-object"`, want: []string{"sim_thing.x", "null"}, state: none},
	{name: "wrong type", rule: `"do":"wrong-type","attr":"size"`, want: []string{"sim_thing.x"}, path: "size", state: none},
	{name: "argument changed", rule: `"do":"change-config","attr":"size"`, want: []string{"sim_thing.x", inconsistent}, path: "size", state: tainted},
	{name: "known value changed", rule: `"do":"change-known","attr":"label"`, want: []string{inconsistent}, path: "label", state: tainted},
	{name: "nested value changed", rule: `"do":"change-known","attr":"nested.n.hash"`, want: []string{inconsistent}, path: `nested["n"].hash`, state: tainted},
	{name: "null argument set", rule: `"do":"set-unconfigured","attr":"replace_me"`, want: []string{inconsistent}, path: "replace_me", state: tainted},
	{name: "unknown left", rule: `"do":"unknown","attr":"status"`, want: []string{"sim_thing.x", "unknown"}, path: "status", state: tainted},
	{name: "unknown left in a block", rule: `"do":"unknown","attr":"rule.0.rule_id"`, want: []string{"unknown"}, path: "rule[0].rule_id", state: tainted},
	{name: "block dropped", rule: `"do":"drop-block","attr":"rule"`, want: []string{inconsistent}, path: "rule", state: tainted},
	{name: "block added", rule: `"do":"add-block","attr":"rule"`, want: []string{inconsistent}, path: "rule", state: tainted},
	{
		name: "E62 write-only value", rule: `"do":"write-only","attr":"secret_wo","value":"CANARY-applied"`,
		want: []string{"sim_thing.x", "Provider produced invalid object"}, path: "secret_wo", state: kept,
	},
	{
		name: "write-only value copied", rule: `"do":"echo-write-only"`,
		want: []string{"sim_thing.x", "Provider copied a write-only value"}, path: "status", state: kept,
	},
	{
		name: "write-only value copied into a block", rule: `"do":"echo-write-only","attr":"rule.0.rule_id"`,
		want: []string{"Provider copied a write-only value"}, path: "rule[0].rule_id", state: kept,
	},
	{name: "legacy with a changed value", rule: `"do":"legacy"},{"rpc":"ApplyResourceChange","name":"x","do":"change-known","attr":"label"`},
	{name: "identity changed", rule: `"do":"change-identity"`},
	{name: "no identity", rule: `"do":"no-identity"`},
	{name: "no private", rule: `"do":"no-private"`},
	{name: "crash before", rule: `"do":"exit","when":"before","text":"last words"`, want: []string{"sim_thing.x", "Provider stopped unexpectedly", "last words"}, more: 1},
	{name: "crash during", rule: `"do":"exit","text":"last words"`, want: []string{"sim_thing.x", "Provider stopped unexpectedly", "last words"}, more: 1},
	{name: "panic", rule: `"do":"panic","text":"no good"`, want: []string{"sim_thing.x", "Provider stopped unexpectedly", "no good"}, more: 1},
	{name: "huge", rule: `"do":"huge","attr":"status"`, state: []string{"sim_thing.after", "sim_thing.good", "sim_thing.x"}},
}

// TestMatrixApplyCreate strikes the creation. What the provider created stays in the state, whatever else is
// wrong with its answer.
func TestMatrixApplyCreate(t *testing.T) {
	t.Parallel()
	for _, m := range createMisdeeds {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, victim)
			w.rules = rules(quoted("ApplyResourceChange", m.rule))
			crash := strings.HasPrefix(m.name, "crash") || m.name == "panic"
			w.unclosed = crash // the process that had opened it is gone
			r := w.run(command{parallelism: 1})
			m.check(t, w, r)
			switch {
			case crash:
				r.wants(diag.Error, "Ephemeral resource may still be live", "ephemeral.sim_secret.s")
				if _, ok := find(w.addresses(), "sim_thing.after"); ok {
					t.Error("what depends on the failed resource was made")
				}
			case m.state != nil:
				w.has(m.state...)
			default:
				w.has(everything...)
			}
			if slices.Contains(w.addresses(), "sim_thing.x") || slices.Contains(w.addresses(), "sim_thing.x tainted") {
				if got := w.attr("sim_thing.x", "secret_wo"); got != "null" {
					t.Errorf("secret_wo = %s in the state, want %s", got, "null")
				}
				if got := w.attr("sim_thing.x", "id"); got != `"x-1"` {
					t.Errorf("id: got %s, want %s: the rest of the object was not kept", got, `"x-1"`)
				}
			}
		})
	}
}

func find(list []string, prefix string) (string, bool) {
	i := slices.IndexFunc(list, func(s string) bool { return strings.HasPrefix(s, prefix) })
	if i < 0 {
		return "", false
	}
	return list[i], true
}

// TestMatrixApplyUpdate strikes an update: the object that was there stays, as far as the provider does not
// say otherwise.
func TestMatrixApplyUpdate(t *testing.T) {
	t.Parallel()
	rows := []struct {
		misdeed
		size string // in the state afterwards
	}{
		{misdeed{name: "error with the new object", rule: `"do":"error","text":"half done"`, want: []string{"half done"}}, "2"},
		{misdeed{name: "rpc error", rule: `"do":"rpc-error"`, want: []string{"Provider call failed"}}, "1"},
		{misdeed{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}}, "1"},
		{misdeed{name: "no value", rule: `"do":"no-value"`, want: []string{"sim_thing.x"}}, "1"},
		{misdeed{name: "null object", rule: `"do":"null-object"`, want: []string{"sim_thing.x", "null"}}, "1"},
		{misdeed{name: "argument changed", rule: `"do":"change-config","attr":"size"`, want: []string{"inconsistent result after apply"}, path: "size"}, "3"},
		{misdeed{
			name: "E62 write-only value", rule: `"do":"write-only","attr":"secret_wo","value":"CANARY-applied"`,
			want: []string{"write-only attribute"}, path: "secret_wo",
		}, "2"},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, victim)
			w.ok(command{})
			w.config(strings.Replace(victim, "size   = 1", "size   = 2", 1))
			w.rules = rules(quoted("ApplyResourceChange", m.rule))
			r := w.run(command{})
			m.check(t, w, r)
			w.has(everything...)
			if got := w.attr("sim_thing.x", "size"); got != m.size {
				t.Errorf("size: got %s, want %s", got, m.size)
			}
		})
	}
}

// TestMatrixDelete strikes the destruction.
func TestMatrixDelete(t *testing.T) {
	t.Parallel()
	kept := []string{"sim_thing.x"}
	rows := []misdeed{
		{name: "error", rule: `"do":"error"`, want: []string{"sim_thing.x", "Simulated misbehaviour"}, state: []string{}},
		{name: "object kept", rule: `"do":"keep-object"`, want: []string{"sim_thing.x", "not null"}, state: kept},
		{
			name: "object kept and error", rule: `"do":"keep-object"},{"rpc":"ApplyResourceChange","name":"x","action":"delete","do":"error"`,
			want: []string{"sim_thing.x", "Simulated misbehaviour"}, state: kept,
		},
		{name: "rpc error", rule: `"do":"rpc-error"`, want: []string{"sim_thing.x", "Provider call failed"}, state: kept},
		{name: "garbage", rule: `"do":"garbage"`, want: []string{"sim_thing.x"}, state: kept},
		{name: "crash", rule: `"do":"exit","when":"before"`, want: []string{"sim_thing.x", "stopped unexpectedly"}, state: kept},
	}
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
			w.ok(command{})
			w.rules = rules(quoted("ApplyResourceChange", `"action":"delete",`+m.rule))
			m.check(t, w, w.run(command{mode: plan.Destroy}))
			w.has(m.state...)
		})
	}
	t.Run("planned", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
		w.ok(command{})
		w.rules = rules(quoted("PlanResourceChange", `"do":"keep-object"`))
		w.fails(command{mode: plan.Destroy}, "sim_thing.x", "not null")
		w.rules = rules(quoted("PlanResourceChange", `"do":"deferred"`))
		w.fails(command{mode: plan.Destroy}, "sim_thing.x", "Invalid Deferred Response")
		w.has("sim_thing.x")
	})
}
