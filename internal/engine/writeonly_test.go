package engine_test

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// TestE61SentInConfigurationOnly reads in the transcript where the secret was.
func TestE61SentInConfigurationOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, secretUser)
	r := w.ok(command{})
	for _, c := range append(r.planLog.Calls(simlog.Filter{RPC: "PlanResourceChange"}), r.applyLog.Calls(simlog.Filter{RPC: "PlanResourceChange"})...) {
		if !hashed(c.Begin.Hash["config.secret_wo"]) {
			t.Errorf("the configuration to plan held %q", c.Begin.Hash["config.secret_wo"])
		}
	}
	a := applyOf(t, r.applyLog, "x")
	if h := a.Begin.Hash; !hashed(h["config.secret_wo"]) || h["planned.secret_wo"] != "null" {
		t.Errorf("sent to apply: got %v, want the secret configured, and planned as null", h)
	}
	for _, v := range r.planLog.Calls(simlog.Filter{RPC: "ValidateResourceConfig"}) {
		if !v.Begin.Caps["write_only"] {
			t.Error("the capability was not announced")
		}
	}
	r = w.ok(command{planOnly: true})
	c := call(t, r.planLog, simlog.Filter{RPC: "PlanResourceChange"})
	if c.Begin.Hash["prior.secret_wo"] != "null" {
		t.Errorf("prior state held: got %q, want %q", c.Begin.Hash["prior.secret_wo"], "null")
	}
	if got := w.attr("sim_thing.x", "secret_wo"); got != "null" {
		t.Errorf("state holds: got %s, want %s", got, "null")
	}
}

// TestE61StaleValuesAreInNoPlan plans with a state in which another engine has left write-only values: also
// with one that this plan does not look at.
func TestE61StaleValuesAreInNoPlan(t *testing.T) {
	t.Parallel()
	text := func(size string) string {
		return `
resource "sim_thing" "x" {
  name              = "x"
  size              = ` + size + `
  secret_wo         = "new"
  secret_wo_version = 1
}
resource "sim_thing" "other" { name = "other" }
resource "sim_vault" "v" { name = "v" }
`
	}
	w := newWorld(t, text("1"))
	w.ok(command{})
	leaked := func(text string) string {
		text = strings.ReplaceAll(text, `"secret_wo": null`, `"secret_wo": "left_behind"`)
		return strings.ReplaceAll(text, `"dynamic_wo": null`, `"dynamic_wo": {"type": ["object", {"left_behind": "string"}], "value": {"left_behind": "x"}}`)
	}
	m, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	stateText := func(s *state.State) string {
		b, err := state.Write(&state.File{Meta: state.Meta{Lineage: "l", Serial: 9}, State: s})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	f, err := state.Read([]byte(leaked(stateText(w.state()))))
	if err == nil {
		err = m.Write(t.Context(), f)
	}
	if err != nil || !strings.Contains(stateText(w.state()), "left_behind") {
		t.Fatalf("the state was not prepared: %v", err)
	}
	for name, c := range map[string]command{
		"refreshed": {planOnly: true}, "not refreshed": {planOnly: true, skipRefresh: true}, "other": {planOnly: true, targets: []string{"sim_thing.x"}},
		"destroyed": {planOnly: true, mode: plan.Destroy},
	} {
		r := w.ok(c)
		for part, s := range map[string]*state.State{"base": r.plan.Base, "prior": r.plan.Prior} {
			if strings.Contains(stateText(s), "left_behind") {
				t.Errorf("%s: the plan's %s state has the value", name, part)
			}
		}
		for _, obj := range []string{"sim_thing.x", "sim_thing.other", "sim_vault.v"} {
			n := 0
			for _, d := range r.diags() {
				if d.Summary == "State holds a write-only value" && strings.Contains(d.Detail, " of "+obj+",") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: %d warnings about %s, want 1", name, n, obj)
			}
		}
	}
	w.ok(command{})
	if text := stateText(w.state()); strings.Contains(text, "left_behind") {
		t.Errorf("the state still has the values: %s", text)
	}
}

// TestWriteOnlyWithoutVersion warns of it once, for all instances and in one phase.
func TestWriteOnlyWithoutVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  count     = 2
  name      = "x${count.index}"
  secret_wo = "s"
}
resource "sim_thing" "y" {
  name              = "y"
  secret_wo         = "s"
  secret_wo_version = 1
}`)
	var warned int
	for _, d := range w.ok(command{}).diags() {
		if d.Summary == "Write-only value without a version" {
			warned++
		}
	}
	if warned != 1 {
		t.Errorf("got %d warnings, want 1", warned)
	}
}
