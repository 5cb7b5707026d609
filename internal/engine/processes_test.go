package engine_test

import (
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
)

// processes returns how many processes were configured, and fails the test if one was started for nothing.
func processes(t *testing.T, l simlog.Log) int {
	t.Helper()
	all, configured := map[int]int{}, map[int]int{}
	for _, e := range l {
		all[e.PID]++
	}
	for _, c := range l.Calls(simlog.Filter{RPC: "ConfigureProvider"}) {
		configured[c.Begin.PID]++
	}
	if len(all) != len(configured) || slices.Max(slices.Collect(maps.Values(configured))) > 1 {
		t.Errorf("processes: got the calls %v and configurations %v, want each configured once", all, configured)
	}
	return len(all)
}

// TestOneProcessPerConfiguration counts processes: what is destroyed, replaced, made and read shares the
// process of a configuration.
func TestOneProcessPerConfiguration(t *testing.T) {
	t.Parallel()
	const text = `
variable "name" { default = "one" }
provider "sim" { region = var.name }
provider "sim" {
  alias  = "second"
  region = "two"
}
resource "sim_thing" "a" {
  count = 4
  name  = "a${count.index}"
}
resource "sim_thing" "b" {
  provider = sim.second
  name     = "b"
}
`
	const changed = `
variable "name" { default = "one" }
provider "sim" { region = var.name }
provider "sim" {
  alias  = "second"
  region = "two"
}
resource "sim_thing" "c" {
  count = 4
  name  = "c${count.index}"
}
resource "sim_thing" "a" {
  count = 2
  name  = "new${count.index}"
}
resource "sim_thing" "d" {
  provider = sim.second
  name     = "d"
}
`
	w := newWorld(t, text)
	check := func(what string, c command) {
		t.Helper()
		if n := processes(t, w.ok(c).log()); n != 2 {
			t.Errorf("%s: %d processes for 2 configurations, want 2", what, n)
		}
	}
	check("create", command{})
	w.config(changed)
	check("create and destroy", command{})
	check("create and destroy", command{vars: map[string]cty.Value{"name": cty.StringVal("three")}})
	check("destroy", command{mode: plan.Destroy})
}

// TestOneProcessForSavedPlan applies a plan that an earlier command made, which begins with steps that create
// and destroy at once.
func TestOneProcessForSavedPlan(t *testing.T) {
	t.Parallel()
	for range 5 { // which of two steps is first is chance
		w := newWorld(t, "resource \"sim_thing\" \"a\" {\n  count = 4\n  name = \"a${count.index}\"\n}")
		w.ok(command{})
		w.config("resource \"sim_thing\" \"b\" {\n  count = 4\n  name = \"b${count.index}\"\n}")
		planned := w.ok(command{planOnly: true})
		r := w.applySaved(planned.plan)
		if r.applyDiags.HasErrors() {
			t.Error(r.applyDiags.Err())
		}
		if n := processes(t, r.applyLog); n != 1 {
			t.Errorf("%d processes for 1 configuration, want 1", n)
		}
	}
}

// TestEphemeralConfigurationEndsWithPhase looks between plan and apply for running providers: one that is
// configured from an ephemeral value must not run.
func TestEphemeralConfigurationEndsWithPhase(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]int{`"plain"`: 1, "var.region": 0, `tofu.applying ? "plain" : "plan"`: 0} {
		w := newWorld(t, "variable \"region\" {\n  ephemeral = true\n}\nprovider \"sim\" { region = "+region+" }\nresource \"sim_thing\" \"a\" { name = \"a\" }")
		w.ok(command{vars: map[string]cty.Value{"region": cty.StringVal("plain")}, between: func() {
			calls, err := w.calls.Read()
			if err != nil {
				t.Fatal(err)
			}
			running := map[int]bool{}
			for _, c := range calls.Calls(simlog.Filter{RPC: "ConfigureProvider"}) {
				if p, err := os.FindProcess(c.Begin.PID); err == nil && p.Signal(syscall.Signal(0)) == nil {
					running[c.Begin.PID] = true
				}
			}
			if len(running) != want {
				t.Errorf("region = %s: got %d configured processes between plan and apply, want %d", region, len(running), want)
			}
		}})
	}
}

// applySaved applies a plan with processes of its own.
func (w *world) applySaved(p *plan.Plan) *result {
	w.t.Helper()
	r := &result{w: w, plan: p}
	c := command{ctx: w.t.Context()}
	e := w.engine(&c, func(event.Event) {})
	tree, diags := (&config.Loader{}).Load(w.dir)
	if diags.HasErrors() {
		w.t.Fatal(diags.Err())
	}
	cfg, diags := e.Compile(c.ctx, tree)
	if diags.HasErrors() {
		w.t.Fatal(diags.Err())
	}
	manager, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		w.t.Fatal(err)
	}
	f := w.stored(manager)
	w.apply(e, c, r, manager, f, engine.ApplyRequest{Config: cfg, Plan: p, Salts: f.State.Salts})
	e.Close()
	r.applyLog = append(r.applyLog, w.newEntries()...)
	return r
}
