package engine_test

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/simprovider"
	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
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
		t.Errorf("apply was sent %v", h)
	}
	for _, v := range r.planLog.Calls(simlog.Filter{RPC: "ValidateResourceConfig"}) {
		if !v.Begin.Caps["write_only"] {
			t.Error("the capability was not announced")
		}
	}
	r = w.ok(command{planOnly: true})
	c := call(t, r.planLog, simlog.Filter{RPC: "PlanResourceChange"})
	if c.Begin.Hash["prior.secret_wo"] != "null" {
		t.Errorf("prior state held %q", c.Begin.Hash["prior.secret_wo"])
	}
	if got := w.attr("sim_thing.x", "secret_wo"); got != "null" {
		t.Errorf("state holds %s", got)
	}
}

// TestE63DiffByVersionOnly changes the secret alone, then its version.
func TestE63DiffByVersionOnly(t *testing.T) {
	t.Parallel()
	text := func(secret, version string) string {
		return `
resource "sim_thing" "x" {
  name              = "x"
  secret_wo         = "` + secret + `"
  secret_wo_version = ` + version + `
}
output "wo" {
  value     = sim_thing.x.secret_wo == null
  sensitive = true
}`
	}
	w := newWorld(t, text("one", "1"))
	w.ok(command{})
	if w.output("wo") != "cty.True" {
		t.Errorf("a reference to a write-only attribute gives %s, want null", w.output("wo"))
	}
	w.config(text("two", "1"))
	w.ok(command{}).plans().did()
	w.config(text("two", "2"))
	w.ok(command{}).plans("sim_thing.x update").did("update x")
	if o, err := simprovider.ReadObject(w.cloud, "x-1"); err != nil || o.SecretHash != simlog.Hash("two") {
		t.Errorf("the cloud holds %+v, %v", o, err)
	}
}

// TestE64IgnoredWriteOnlyIsSent changes something else while ignore_changes names the write-only attribute.
func TestE64IgnoredWriteOnlyIsSent(t *testing.T) {
	t.Parallel()
	for _, ignore := range []string{"[secret_wo]", "[secret_wo, secret_wo_version]", "all"} {
		t.Run(ignore, func(t *testing.T) {
			t.Parallel()
			text := func(size string) string {
				return `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name              = "x"
  size              = ` + size + `
  secret_wo         = ephemeral.sim_secret.s.lease
  secret_wo_version = 1
  lifecycle { ignore_changes = ` + ignore + ` }
}`
			}
			w := newWorld(t, text("1"))
			w.ok(command{})
			w.config(text("2"))
			if ignore == "all" {
				w.drift("x-1", "status", `"lost"`)
			}
			r := w.ok(command{})
			for _, c := range r.log().Calls(simlog.Filter{RPC: "PlanResourceChange"}) {
				if !hashed(c.Begin.Hash["config.secret_wo"]) {
					t.Errorf("plan was sent %q", c.Begin.Hash["config.secret_wo"])
				}
			}
			for _, c := range r.log().Calls(simlog.Filter{RPC: "ApplyResourceChange"}) {
				if !hashed(c.Begin.Hash["config.secret_wo"]) {
					t.Errorf("apply was sent %q", c.Begin.Hash["config.secret_wo"])
				}
			}
			if ignore != "all" {
				r.did("update x")
			}
		})
	}
}

// TestE70ProviderConfiguration configures a provider with a secret, which is kept nowhere, and starts one
// process for each configuration.
func TestE70ProviderConfiguration(t *testing.T) {
	t.Parallel()
	text := `
ephemeral "sim_secret" "s" { name = "s" }
provider "sim" {
  alias  = "p"
  prefix = "p-"
  token  = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "x" {
  count    = 3
  provider = sim.p
  name     = "x${count.index}"
}
resource "sim_thing" "plain" { name = "plain" }
`
	w := newWorld(t, text)
	r := w.ok(command{})
	if n := r.planLog.Count(simlog.Filter{RPC: "ConfigureProvider"}); n != 2 {
		t.Errorf("%d configurations in plan, want 2", n)
	}
	if n := r.applyLog.Count(simlog.Filter{RPC: "ConfigureProvider"}); n != 1 {
		t.Errorf("%d configurations in apply, want 1: only the one with a secret is made anew", n)
	}
	if n := pids(r.log()); n != 3 {
		t.Errorf("%d processes, want 3: one for the plain configuration, one for the secret one in each phase", n)
	}
	if got := w.attr("sim_thing.x[1]", "label"); got != `"p-x1"` {
		t.Errorf("label = %s: it was made by another configuration", got)
	}
	r = w.ok(command{mode: plan.Destroy})
	if o := window(t, r.applyLog, "s"); len(r.applyLog.Windows()) != 1 || !o.Covers(applyOf(t, r.applyLog, "x0")) {
		t.Error("the provider of what is destroyed was not configured with a live secret")
	}
	w.exists()
}

// TestE71Provisioner hides the output, the command line and the environment, and tells the exit status.
func TestE71Provisioner(t *testing.T) {
	t.Parallel()
	text := func(command, lifecycle string) string {
		return `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name = "x"
  provisioner "local-exec" {
    command     = "` + command + `"
    environment = { V = nonsensitive(ephemeral.sim_secret.s.value) }
  }
  provisioner "local-exec" { command = "echo plain-words" }
  ` + lifecycle + `
}`
	}
	w := newWorld(t, text("echo $V; test -n $V", ""))
	r := w.ok(command{})
	if lines := outputLines(r); !strings.Contains(lines, "(output suppressed due to ephemeral value in config)") || !strings.Contains(lines, "plain-words") {
		t.Errorf("output:\n%s", lines)
	}
	w = newWorld(t, text("echo $V $V-more; exit 7", ""))
	r = w.fails(command{}, "sim_thing.x", "exit status 7", "suppressed due to ephemeral value in config")
	for _, d := range r.diags() {
		if strings.Contains(d.String(), "-more") {
			t.Errorf("the error shows the command line: %s", d)
		}
	}
	w.has("sim_thing.x tainted")

	w = newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name = "x"
  provisioner "local-exec" { command = "echo ${ephemeral.sim_secret.s.value}; exit 7" }
}`)
	w.fails(command{}, "exit status 7", "suppressed due to sensitive, ephemeral value in config")
}

func outputLines(r *result) string {
	var sb strings.Builder
	for _, ev := range r.events {
		if ev.Kind == event.Output {
			sb.WriteString(ev.Line + "\n")
		}
	}
	return sb.String()
}

// TestE63ReplacementByWriteOnly believes a provider that wants a replacement for a write-only attribute.
func TestE63ReplacementByWriteOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, secretUser)
	w.ok(command{})
	w.config(strings.Replace(secretUser, "= 1", "= 2", 1))
	w.rules = rules(quoted("PlanResourceChange", `"do":"replace","attr":"secret_wo","nth":1`))
	r := w.ok(command{})
	r.plans("sim_thing.x delete-create replace_because_cannot_update").did("delete x", "create x")
	w.has("sim_thing.x")
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
				t.Errorf("%s: %d warnings about %s", name, n, obj)
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
		t.Errorf("%d warnings, want 1", warned)
	}
}
