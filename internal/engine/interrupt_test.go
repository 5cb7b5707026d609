package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

const slowChain = `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "quick" { name = "quick" }
resource "sim_thing" "slow" {
  name      = "slow"
  json      = jsonencode(sim_thing.quick.id)
  delay     = "SLOW"
  secret_wo = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "next" {
  name = "next"
  json = jsonencode(sim_thing.slow.id)
}
`

// during returns an observer that calls f once, when the operation on the object has started.
func during(op event.Op, object string, f func()) func(event.Event) {
	done := false
	return func(ev event.Event) {
		if !done && ev.Kind == event.Started && ev.Op == op && ev.Object.String() == object {
			done = true
			go f()
		}
	}
}

// atLine returns an observer that calls f for each such line that a command prints.
func atLine(line string, f func()) func(event.Event) {
	return func(ev event.Event) {
		if ev.Kind == event.Output && ev.Line == line {
			f()
		}
	}
}

// TestSoftInterrupt interrupts a slow apply once: what runs comes to its end, nothing new starts, all is
// recorded and closed.
func TestSoftInterrupt(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, strings.Replace(slowChain, "SLOW", "30s", 1), func(t *testing.T, w *world) {
		soft, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin := time.Now()
		r := w.fails(command{soft: soft, onEvent: during(event.OpCreate, "sim_thing.slow", func() {
			time.Sleep(100 * time.Millisecond) // the call is on its way
			cancel()
		})}, "interrupted")
		if d := time.Since(begin); d > 15*time.Second {
			t.Errorf("the provider was not asked to stop: the command took %s", d)
		}
		r.did("create quick", "create slow")
		w.has("sim_thing.quick")
		if n := r.applyLog.Count(simlog.Filter{RPC: "StopProvider"}); n == 0 {
			t.Error("no provider was asked to stop")
		}
		w.config(strings.Replace(slowChain, "SLOW", "0s", 1))
		w.ok(command{}).plans("sim_thing.next create", "sim_thing.slow create")
	})
}

// TestSoftInterruptLetsFinish has a provider that does not heed a stop: its result is kept.
func TestSoftInterruptLetsFinish(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, strings.Replace(slowChain, `"SLOW"`, "null", 1), func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"ApplyResourceChange","name":"slow","do":"delay","ms":700}`)
		soft, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := w.fails(command{soft: soft, onEvent: during(event.OpCreate, "sim_thing.slow", cancel)}, "Apply interrupted")
		r.did("create quick", "create slow")
		w.has("sim_thing.quick", "sim_thing.slow")
	})
}

// TestHardCancel gives up a call that hangs. The state has what was done before, and everything that answers
// is closed.
func TestHardCancel(t *testing.T) {
	t.Parallel()
	for _, deed := range []string{"hang", "hang-until-stop", "answer-late"} {
		t.Run(deed, func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, strings.Replace(slowChain, "SLOW", "0s", 1), func(t *testing.T, w *world) {
				w.rules = rules(`{"rpc":"ApplyResourceChange","name":"slow","do":"` + deed + `"}`)
				w.faulty = deed == "answer-late" // it goes on after it was given up, when its secret is closed
				hard, cancelHard := context.WithCancel(t.Context())
				defer cancelHard()
				soft, cancelSoft := context.WithCancel(hard)
				defer cancelSoft()
				words := "sim_thing.slow"
				if deed == "answer-late" {
					words = "was interrupted" // the answer may come just before the second interrupt: it counts then
				}
				begin := time.Now()
				w.fails(command{ctx: hard, soft: soft, onEvent: during(event.OpCreate, "sim_thing.slow", func() {
					time.Sleep(150 * time.Millisecond)
					cancelSoft()
					time.Sleep(50 * time.Millisecond)
					cancelHard()
				})}, words)
				if d := time.Since(begin); d > 20*time.Second {
					t.Errorf("the command took %s", d)
				}
				if _, ok := find(w.addresses(), "sim_thing.quick"); !ok {
					t.Errorf("the state lost what was done before: %q", w.addresses())
				}
				if _, ok := find(w.addresses(), "sim_thing.next"); ok {
					t.Error("something new was started")
				}
			})
		})
	}
}

// TestInterruptInPlan ends a plan early; what was opened is closed.
func TestInterruptInPlan(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" { name = "s" }
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}
resource "sim_slow" "a" {
  provider   = sim.p
  name       = "a"
  read_delay = "20s"
}
resource "sim_slow" "b" {
  name    = "b"
  trigger = sim_slow.a.serial
}`, func(t *testing.T, w *world) {
		w.ok(command{})
		soft, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin := time.Now()
		r := w.run(command{soft: soft, onEvent: during(event.OpRefresh, "sim_slow.a", func() {
			time.Sleep(50 * time.Millisecond)
			cancel()
		})})
		if !r.planDiags.HasErrors() || r.applied != nil {
			t.Errorf("an interrupted plan was applied: %s", texts(r.diags()))
		}
		if d := time.Since(begin); d > 15*time.Second {
			t.Errorf("the command took %s", d)
		}
		w.has("sim_slow.a", "sim_slow.b")
	})
}

// TestInterruptBeforeApply starts nothing.
func TestInterruptBeforeApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, secretUser)
	soft, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := w.fails(command{soft: soft, between: cancel}, "interrupted")
	r.did()
	if n := opens(r.applyLog, ""); n != 0 {
		t.Errorf("%d openings after the interrupt, want 0", n)
	}
	w.has()
}

// TestInterruptedProvisioner taints what was not provisioned.
func TestInterruptedProvisioner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  name = "x"
  provisioner "local-exec" { command = "echo begun; exec sleep 30" }
}`)
	soft, cancel := context.WithCancel(t.Context())
	defer cancel()
	begin := time.Now()
	w.fails(command{soft: soft, onEvent: atLine("begun", cancel)}, "local-exec provisioner error")
	if d := time.Since(begin); d > 15*time.Second {
		t.Errorf("the command took %s", d)
	}
	w.has("sim_thing.x tainted")
}

func TestProviderForEach(t *testing.T) {
	t.Parallel()
	text := func(keys string) string {
		return `
locals { regions = toset([` + keys + `]) }
provider "sim" {
  alias    = "by"
  for_each = toset(["eu", "us"])
  prefix   = "${each.key}-"
}
resource "sim_thing" "x" {
  for_each = local.regions
  provider = sim.by[each.key]
  name     = each.key
}`
	}
	w := newWorld(t, text(`"eu", "us"`))
	r := w.ok(command{})
	for _, key := range []string{"eu", "us"} {
		if got := w.attr(`sim_thing.x["`+key+`"]`, "label"); got != `"`+key+`-`+key+`"` {
			t.Errorf("label of %s: got %s, want %s", key, got, `"`+key+`-`+key+`"`)
		}
	}
	if n := pids(r.log()); n != 2 {
		t.Errorf("%d processes for two configurations, want 2", n)
	}
	w.config(text(`"eu"`))
	w.ok(command{}).did("delete us")
	w.ok(command{mode: plan.Destroy})
	w.exists()
}

func TestProvidersInModules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
provider "sim" { prefix = "default-" }
provider "sim" {
  alias  = "other"
  prefix = "other-"
}
module "inherits" { source = "./m" }
module "passed" {
  source    = "./m"
  providers = { sim = sim.other }
}
module "aliased" {
  source    = "./aliased"
  providers = { sim.inner = sim.other }
}`)
	w.file("m/main.tf", prelude+`resource "sim_thing" "x" { name = "m" }`)
	w.file("aliased/main.tf", `
terraform {
  required_providers {
    sim = {
      source                = "mayfly.dev/test/sim"
      configuration_aliases = [sim.inner]
    }
  }
}
resource "sim_thing" "x" {
  provider = sim.inner
  name     = "a"
}`)
	r := w.ok(command{})
	for address, want := range map[string]string{
		"module.inherits.sim_thing.x": `"default-m"`, "module.passed.sim_thing.x": `"other-m"`, "module.aliased.sim_thing.x": `"other-a"`,
	} {
		if got := w.attr(address, "label"); got != want {
			t.Errorf("%s: label: got %s, want %s", address, got, want)
		}
	}
	if n := pids(r.log()); n != 2 {
		t.Errorf("%d processes for two configurations, want 2", n)
	}
	w.config(`
provider "sim" { prefix = "default-" }
provider "sim" {
  alias  = "other"
  prefix = "other-"
}`)
	w.ok(command{})
	w.exists()
}

// TestProviderConfigurationUnknown plans with a provider configuration that another resource will give.
func TestProviderConfigurationUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
provider "sim" {
  alias  = "p"
  prefix = sim_thing.a.id
}
resource "sim_old" "x" {
  provider = sim.p
  name     = "x"
}`)
	r := w.ok(command{})
	if n := r.applyLog.Count(simlog.Filter{RPC: "ConfigureProvider"}); n != 1 {
		t.Errorf("%d configurations in apply, want 1: anew with what became known", n)
	}
	before(t, "configured before what it depends on", applyOf(t, r.applyLog, "a").End.T, applyOf(t, r.applyLog, "x").Begin.T)
	r = w.ok(command{mode: plan.Destroy})
	if got := applied(r.applyLog); !slices.Equal(got, []string{"delete x", "delete a"}) {
		t.Errorf("destroyed: got %q, want %q: what the provider needs must outlive what it manages", got, []string{"delete x", "delete a"})
	}
}

// TestOneSchemaCallPerProcess counts what is asked besides the work.
func TestOneSchemaCallPerProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain)
	r := w.ok(command{})
	if n := pids(r.log()); n != 1 {
		t.Errorf("got %d processes, want 1", n)
	}
	counts := r.log().Counts()
	if counts["GetProviderSchema"] != 1 || counts["ConfigureProvider"] != 1 {
		t.Errorf("calls: got %v, want one GetProviderSchema, one ConfigureProvider", counts)
	}
	for _, d := range r.diags() {
		if d.Severity == diag.Warning {
			t.Errorf("unexpected warning: %s", d)
		}
	}
}

// TestE53SoftInterruptLeavesQueue has more steps ready than slots: those that wait for one when the interrupt
// comes are not begun, and open nothing.
func TestE53SoftInterruptLeavesQueue(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  count = 5
  name  = "s${count.index}"
}
resource "sim_thing" "x" {
  count             = 5
  name              = "x${count.index}"
  secret_wo         = ephemeral.sim_secret.s[count.index].lease
  secret_wo_version = 1
}`, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"ApplyResourceChange","do":"delay","ms":500}`)
		soft, cancel := context.WithCancel(t.Context())
		defer cancel()
		started := false
		r := w.fails(command{soft: soft, parallelism: 1, onEvent: func(ev event.Event) {
			if ev.Kind == event.Started && ev.Op == event.OpCreate && !started {
				started = true
				go cancel()
			}
		}}, "Apply interrupted")
		if n := r.applyLog.Count(simlog.Filter{RPC: "ApplyResourceChange"}); n != 1 {
			t.Errorf("got %d things made, want 1, which was under way", n)
		}
		if n := len(r.applyLog.Windows()); n != 1 {
			t.Errorf("got %d secrets opened, want 1, which was in use", n)
		}
	})
}

// TestE53InterruptedPlanSaysSo interrupts a plan while its only instances are being read.
func TestE53InterruptedPlanSaysSo(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `resource "sim_thing" "x" { name = "x" }`, func(t *testing.T, w *world) {
		w.ok(command{})
		w.rules = rules(`{"rpc":"ReadResource","do":"delay","ms":500}`)
		soft, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.fails(command{planOnly: true, soft: soft, onEvent: during(event.OpRefresh, "sim_thing.x", cancel)}, "Planning was interrupted")
	})
}

// TestE53InterruptWhileAPlanCloses interrupts once all is planned, while the last thing that was open is
// being closed: an interrupted plan is an error, so that no apply follows.
func TestE53InterruptWhileAPlanCloses(t *testing.T) {
	t.Parallel()
	for _, deed := range []string{`"do":"hang"`, `"do":"delay","ms":2000`} {
		inVirtualTime(t, secretUser, func(t *testing.T, w *world) {
			w.rules = rules(`{"rpc":"CloseEphemeralResource",` + deed + `}`)
			w.unclosed = true // a call that hangs has no end
			soft, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := w.run(command{soft: soft, onEvent: during(event.OpClose, "ephemeral.sim_secret.s", func() {
				time.Sleep(time.Second)
				cancel()
			})})
			if r.applied != nil || !r.planDiags.HasErrors() || !strings.Contains(texts(r.diags()), "Planning was interrupted") {
				t.Errorf("%s: applied: %v: %s", deed, r.applied != nil, texts(r.diags()))
			}
			w.exists()
		})
	}
}
