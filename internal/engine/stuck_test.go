package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/plan"
)

// stuck is a function that returns its argument, except for one call, which does not return before the test
// ends: no context, budget or channel of the run tells it to.
type stuck struct {
	call    int64 // the number of that call
	calls   atomic.Int64
	entered func() // called once by that call
	over    chan struct{}
}

func (s *stuck) function() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if s.calls.Add(1) == s.call {
				s.entered()
				<-s.over
			}
			return args[0], nil
		},
	})
}

// stuckEverywhere calls the function at every kind of place that is evaluated.
const stuckEverywhere = `
variable "v" {
  type    = string
  default = "v"
  validation {
    condition     = stuck(var.v) != ""
    error_message = "Empty: ${stuck(var.v)}."
  }
}
locals { l = stuck(var.v) }
provider "sim" {
  alias = "p"
  token = stuck(ephemeral.sim_secret.s.lease)
}
ephemeral "sim_secret" "s" {
  name = stuck("s")
  lifecycle {
    precondition {
      condition     = stuck(local.l) != ""
      error_message = "no"
    }
    postcondition {
      condition     = stuck(self.lease) != ""
      error_message = "no"
    }
  }
}
resource "sim_thing" "first" { name = "first" }
resource "sim_thing" "a" {
  for_each          = stuck(toset(["a"]))
  name              = stuck("${each.key}${local.l}")
  json              = jsonencode(sim_thing.first.id)
  secret_wo         = stuck(ephemeral.sim_secret.s.lease)
  secret_wo_version = 1
  lifecycle {
    precondition {
      condition     = stuck(local.l) != ""
      error_message = "no"
    }
    postcondition {
      condition     = stuck(self.name) != ""
      error_message = "no"
    }
  }
  provisioner "local-exec" { command = stuck("true") }
  provisioner "local-exec" {
    when    = destroy
    command = stuck("true")
  }
}
resource "sim_thing" "b" {
  count    = stuck(1)
  provider = sim.p
  name     = "b"
  json     = jsonencode(sim_thing.a["a"].id)
}
data "sim_lookup" "d" {
  name       = stuck("first")
  depends_on = [sim_thing.b]
}
module "m" {
  source = "./m"
  given  = stuck(sim_thing.b[0].id)
}
output "o" {
  value = stuck(module.m.o)
  precondition {
    condition     = stuck(local.l) != ""
    error_message = "no"
  }
}
check "c" {
  assert {
    condition     = stuck(ephemeral.sim_secret.s.lease) != ""
    error_message = "no"
  }
}
`

// stuckModule is the module that stuckEverywhere calls.
const stuckModule = `
variable "given" { type = string }
output "o" { value = stuck(var.given) }
`

// TestE53SecondInterruptEndsWhateverIsEvaluated has each call of a function in turn that never returns, in
// validation, plan and apply and in a destruction, and interrupts twice: the command ends within seconds.
// That all is closed exactly once is checked for every command.
func TestE53SecondInterruptEndsWhateverIsEvaluated(t *testing.T) {
	t.Parallel()
	for _, mode := range []plan.Mode{plan.Normal, plan.Destroy} {
		for call, more := int64(1), true; more; call++ {
			t.Run(fmt.Sprint(mode, " ", call), func(t *testing.T) {
				inVirtualTime(t, stuckEverywhere, func(t *testing.T, w *world) { more = w.interruptStuck(mode, call) })
			})
			if call > 500 || t.Failed() {
				t.Fatalf("stopped at call %d", call)
			}
		}
	}
}

// interruptStuck runs one command in which one call of the function is stuck, and reports whether there was
// such a call.
func (w *world) interruptStuck(mode plan.Mode, call int64) bool {
	w.t.Helper()
	w.file("m/main.tf", stuckModule)
	never := &stuck{}
	w.functions = map[string]function.Function{"stuck": never.function()}
	if mode == plan.Destroy {
		w.ok(command{})
	}
	hard, insist := context.WithCancel(w.t.Context())
	soft, interrupt := context.WithCancel(hard)
	var interrupted time.Time
	s := &stuck{call: call, over: make(chan struct{}), entered: func() {
		go func() {
			time.Sleep(time.Minute) // which it would have waited
			interrupted = time.Now()
			interrupt()
			time.Sleep(300 * time.Millisecond)
			insist()
		}()
	}}
	defer close(s.over)
	defer insist()
	w.functions["stuck"] = s.function()
	r := w.run(command{mode: mode, ctx: hard, soft: soft})
	if s.calls.Load() < call {
		return false
	}
	if took := time.Since(interrupted); took > 5*time.Second {
		w.t.Errorf("the command ended %s after the first interrupt: %s", took, texts(r.diags()))
	}
	if !r.diags().HasErrors() {
		w.t.Errorf("nothing was said about the interrupt")
	}
	w.recorded()
	return true
}

// recorded checks that the state has what exists, and nothing else.
func (w *world) recorded() {
	w.t.Helper()
	stored := 0
	for _, a := range w.addresses() {
		if !strings.HasPrefix(a, "data.") && !strings.Contains(a, ".data.") {
			stored++
		}
	}
	if live := w.live(); len(slices.Compact(slices.Sorted(slices.Values(live)))) != stored {
		w.t.Errorf("in the cloud: got %q, want the %d objects of the state: %q", live, stored, w.addresses())
	}
}

// TestFirstInterruptEndsAPlanThatIsStuck needs no second interrupt where nothing is changed.
func TestFirstInterruptEndsAPlanThatIsStuck(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"validation", "plan"} {
		inVirtualTime(t, `resource "sim_thing" "a" { name = stuck("a") }`, func(t *testing.T, w *world) {
			soft, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s := &stuck{call: 1, over: make(chan struct{}), entered: interrupt}
			if phase == "plan" {
				s.call = 2
			}
			defer close(s.over)
			w.functions = map[string]function.Function{"stuck": s.function()}
			begun := time.Now()
			w.fails(command{soft: soft, planOnly: true}, "nterrupted")
			if took := time.Since(begun); took > 5*time.Second || s.calls.Load() < s.call {
				t.Errorf("%s: it took %s, with %d calls", phase, took, s.calls.Load())
			}
		})
	}
}
