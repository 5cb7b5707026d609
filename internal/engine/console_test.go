package engine_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state/store"
)

// talk is a console with what came of it.
type talk struct {
	w       *world
	console *engine.Console
	first   diag.List // of starting it
	said    diag.List // all
	end     func() *result
}

// talk starts a console on the configuration and the state of the world. What every command is checked for is
// checked when it ends.
func (w *world) talk(planned bool, vars map[string]cty.Value) *talk {
	w.t.Helper()
	r := &result{w: w}
	var mu sync.Mutex
	e := w.engine(&command{}, func(ev event.Event) {
		mu.Lock()
		defer mu.Unlock()
		r.events = append(r.events, ev)
	})
	tree, diags := (&config.Loader{}).Load(w.dir)
	if diags.HasErrors() {
		w.t.Fatal(diags.Err())
	}
	cfg, diags := e.Compile(w.t.Context(), tree)
	if diags.HasErrors() {
		w.t.Fatal(diags.Err())
	}
	manager, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		w.t.Fatal(err)
	}
	req := engine.ConsoleRequest{Planned: planned}
	req.Config, req.State, req.Variables = cfg, w.stored(manager).State, vars
	k := &talk{w: w}
	k.console, k.first = e.Console(w.t.Context(), req)
	k.said = k.first
	k.end = sync.OnceValue(func() *result {
		k.said = append(k.said, k.console.Close()...)
		k.said = append(k.said, e.Flush()...) // the events that closing has reported
		e.Close()
		r.planDiags, r.planLog = k.said, w.newEntries()
		mu.Lock()
		defer mu.Unlock()
		w.checkAlways(r)
		return r
	})
	w.t.Cleanup(func() { k.end() })
	return k
}

// shows evaluates expressions, which come in pairs with how they are shown.
func (k *talk) shows(pairs ...string) {
	k.w.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		v, diags := k.console.Evaluate(pairs[i])
		k.said = append(k.said, diags...)
		if diags.HasErrors() {
			k.w.t.Errorf("%s: %s", pairs[i], diags.Err())
			continue
		}
		got := view.FormatValue(v, view.Options{ShowSensitive: true})
		if ty, err := funcs.TypeOf(v); err == nil {
			got = funcs.TypeText(ty)
		}
		if diff := cmp.Diff(pairs[i+1], got); diff != "" {
			k.w.t.Errorf("%s: %s", pairs[i], diff)
		}
		k.withheld(v)
	}
}

// withheld checks that no ephemeral part of a value is known.
func (k *talk) withheld(v cty.Value) {
	k.w.t.Helper()
	_ = cty.Walk(v, func(path cty.Path, v cty.Value) (bool, error) {
		raw, marks := v.Unmark()
		if _, ok := marks[value.Ephemeral]; ok && raw.IsKnown() {
			k.w.t.Errorf("the value at %#v is ephemeral and known", path)
		}
		return true, nil
	})
}

// fails evaluates an expression whose error must have the words.
func (k *talk) fails(expr string, words ...string) {
	k.w.t.Helper()
	v, diags := k.console.Evaluate(expr)
	k.said = append(k.said, diags...)
	if !diags.HasErrors() || v.IsKnown() {
		k.w.t.Errorf("%s: no error but %#v", expr, v)
		return
	}
	for _, word := range words {
		if !strings.Contains(diags.Err().Error(), word) {
			k.w.t.Errorf("%s: the error says nothing of %q: %s", expr, word, diags.Err())
		}
	}
}

const consoleConfig = `
variable "size" { type = number }
variable "small" {
  default = 3
  validation {
    condition     = var.small < 10
    error_message = "too large"
  }
}
locals {
  twice  = var.size * 2
  broken = tonumber("x${var.small}")
  now    = timestamp()
}
ephemeral "sim_secret" "s" { name = "s" }
ephemeral "sim_secret" "later" { name = sim_thing.x.id }
ephemeral "sim_secret" "after" {
  name       = "after"
  depends_on = [sim_thing.x]
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.value
}
resource "sim_thing" "many" {
  count = var.small
  name  = "many-${count.index}"
}
data "sim_lookup" "x" {
  name       = "x"
  depends_on = [sim_thing.x]
}
module "m" {
  source = "./m"
  count  = 2
  in     = sim_thing.many[count.index].name
}
`

const consoleModule = `
variable "in" {}
output "out" { value = "${var.in}!" }
`

func TestConsoleWithoutState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, consoleConfig)
	w.file("m/main.tf", consoleModule)
	k := w.talk(false, nil)
	k.shows(
		"1 + 1", "2",
		"var.size", "(known after apply)", // not set
		"local.twice", "(known after apply)",
		"sim_thing.x.id", "(known after apply)",
		"sim_thing.many", "(known after apply)",
		"data.sim_lookup.x.label", "(known after apply)",
		"module.m[*].out", "[\n  (known after apply),\n  (known after apply),\n]",
		"ephemeral.sim_secret.later.value", "(sensitive, ephemeral value)", // not opened: its name is not known
		"ephemeral.sim_secret.after.opened", "(ephemeral value)", // not opened: what it depends on is not there
		"type(sim_thing.x.tags)", "map(string)",
		"length(local.now) > 10", "true",
	)
	if n := k.end().log().Count(simlog.Filter{RPC: "OpenEphemeralResource"}); n != 0 {
		t.Errorf("got %d openings, want 0", n)
	}
}

func TestConsoleLooksAtTheState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(consoleConfig, `tonumber("x${var.small}")`, "1", 1))
	w.file("m/main.tf", consoleModule)
	w.ok(command{vars: map[string]cty.Value{"size": cty.NumberIntVal(4)}})
	w.config(strings.Replace(consoleConfig, `"many-${count.index}"`, `"new-${count.index}"`, 1))
	k := w.talk(false, map[string]cty.Value{"size": cty.NumberIntVal(5), "small": cty.NumberIntVal(11)})
	if len(k.first) != 1 || !strings.Contains(k.first.Err().Error(), "too large") {
		t.Errorf("invalid value: got %v, want one error: too large", k.first)
	}
	k.shows(
		"local.twice", "10",
		"sim_thing.x.name", `"x"`,
		"sim_thing.x.secret_wo", "tostring(null)",
		"length(sim_thing.many)", "3", // as many as the state has
		"sim_thing.many[1].name", `"many-1"`,
		"data.sim_lookup.x.label", `"x"`,
		"module.m[*].out", "[\n  \"many-0!\",\n  \"many-1!\",\n]",
		"ephemeral.sim_secret.after.opened", "(ephemeral value)",
		"ephemeral.sim_secret.later.opened", "(ephemeral value)",
	)
	k.fails("sim_thing.many[3]", "Invalid index")
	k.fails("sim_thing.none", "undeclared resource")
	k.fails("each.key", "for_each")
	k.fails("1 +", "Missing expression")
	k.fails("{ a = type(1) }", "Invalid use of type function")
	k.fails("local.broken", "Invalid function argument")
	k.fails("local.broken", "Invalid function argument") // not only the first time
	log := k.end().log()
	for rpc, want := range map[string]int{"OpenEphemeralResource": 2, "ReadResource": 0, "ReadDataSource": 0, "PlanResourceChange": 0} {
		if n := log.Count(simlog.Filter{RPC: rpc}); n != want {
			t.Errorf("%d calls of %s, want %d", n, rpc, want)
		}
	}
}

// TestE82_FailedOpeningIsTriedAgain lets an expression succeed whose ephemeral resource could not be opened
// before.
func TestE82_FailedOpeningIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
ephemeral "sim_token" "t" {
  name         = "t"
  parent_token = ephemeral.sim_secret.s.lease
}
locals { token = ephemeral.sim_token.t.value }`)
	w.rules = `[{"rpc": "OpenEphemeralResource", "name": "t", "nth": 1, "do": "error", "text": "not just now"}, {"rpc": "OpenEphemeralResource", "name": "t", "nth": 2, "do": "error", "text": "not yet"}]`
	w.unclosed = true // what is opened beside an error is closed, which the transcript counts as an opening of its own
	k := w.talk(false, nil)
	k.fails("local.token", "not just now")
	k.fails("[ephemeral.sim_token.t.opened]", "not yet")
	k.shows("local.token", "(sensitive, ephemeral value)", "ephemeral.sim_secret.s.opened", "(ephemeral value)")
	if n := k.end().log().Count(simlog.Filter{RPC: "OpenEphemeralResource", Name: "s"}); n != 1 {
		t.Errorf("what could be opened was opened %d times, want 1", n)
	}
}

// TestE82_ExpiredIsNotUsed makes an error of each expression that needs what could not be renewed, and of no
// other.
func TestE82_ExpiredIsNotUsed(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name         = "s"
  renew_after  = "50ms"
  expire_after = "10s"
  fail_on      = "renew"
}`, func(t *testing.T, w *world) {
		k := w.talk(false, nil)
		k.shows("ephemeral.sim_secret.s.opened", "(ephemeral value)")
		time.Sleep(200 * time.Millisecond) // the provider process tells the time by its own clock
		k.fails("ephemeral.sim_secret.s.opened", "Ephemeral resource expired")
		k.shows("1 + 1", "2")
		k.fails("ephemeral.sim_secret.s.opened", "Ephemeral resource expired")
	})
}

// TestE82_SecretsInErrors shows no part of a value in the errors of an expression.
func TestE82_SecretsInErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `ephemeral "sim_secret" "s" { name = "s" }`)
	k := w.talk(false, nil)
	const secret = "ephemeral.sim_secret.s.value"
	for _, expr := range []string{
		`tonumber(%s)`, `%s + 1`, `{ a = 1 }[%s]`, `[1][%s]`, `regex("z", %s)`, `file(%s)`, `jsondecode(%s)`, `{ (%s) = 1 }.a`, `%s.x`, `%s[0]`,
		`provider::sim::fail(%s)`, `{ for k in [%s, %s] : k => 1 }`, `tobool({ (%s) = 1 })`, `parseint(%s, 10)`, `templatestring(%s, {})`,
		`true ? { (%s) = 1 } : [1]`, `"a" < %s`, `cidrhost(%s, 1)`, `timeadd(%s, "1h")`, `formatdate(%s, "x")`, `format("%%d", %s)`,
	} {
		v, diags := k.console.Evaluate(strings.ReplaceAll(strings.ReplaceAll(expr, "%s", secret), "%%", "%"))
		k.said = append(k.said, diags...)
		k.withheld(v)
		for _, d := range diags {
			var shown strings.Builder
			if err := view.Diagnostics(&shown, diag.List{d}, document.Sources{engine.ConsoleInput: []byte(expr)}, view.Options{}); err != nil {
				t.Fatal(err)
			}
			w.noSecret("the error of "+expr, shown.String())
		}
	}
}

// TestConsoleUpgradesObjects asks the provider about an object that was stored under an earlier schema.
func TestConsoleUpgradesObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name       = "x"
  depends_on = [ephemeral.sim_secret.s]
}`)
	w.ok(command{})
	text := string(w.store.Get(store.DefaultWorkspace))
	older := strings.Replace(text, `"schema_version": 1`, `"schema_version": 0`, 1)
	if older == text {
		t.Fatalf("the state has no version to change:\n%s", text)
	}
	w.store.Put(store.DefaultWorkspace, []byte(older))
	k := w.talk(false, nil)
	k.shows("sim_thing.x.name", `"x"`)
	log := k.end().log()
	if n := log.Count(simlog.Filter{RPC: "UpgradeResourceState"}); n != 1 {
		t.Errorf("got %d upgrades, want 1", n)
	}
	if n := len(log.Windows()); n != 0 {
		t.Errorf("%d instances are opened, want none: an upgrade needs only the provider", n)
	}
}
