package engine_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// TestDeferredThroughActions defers objects each of which has an action that needs the next one, through
// another object between them. Because of the conditions, an instance is planned before that is known. One
// more attempt defers all objects, however many there are.
func TestDeferredThroughActions(t *testing.T) {
	t.Parallel()
	const plain = "resource \"sim_thing\" \"userI\" {\n name = \"userI\"\n json = jsonencode(sim_thing.actsI.id)\n}"
	for name, row := range map[string]struct {
		needed, awaited string // by the instance before it
		condition, text string
		user            string
		follows         string // a deferral
	}{
		"configuration":    {"sim_thing.userI.id", "sim_thing.userI", "true", "NEEDED", plain, "sim_thing.userI create deferred_prereq sim_thing.actsI"},
		"condition":        {"sim_thing.userI.id", "sim_thing.userI", "NEEDED == \"\"", "\"\"", plain, "sim_thing.userI create deferred_prereq sim_thing.actsI"},
		"failed condition": {"sim_thing.userI.name", "sim_thing.userI", "NEEDED == \"\"", "\"\"", plain, "sim_thing.userI create deferred_prereq sim_thing.actsI"},
		"data source": {
			"data.sim_lookup.userI.id", "data.sim_lookup.userI sim_thing.actsI", "true", "NEEDED",
			"data \"sim_lookup\" \"userI\" { name = sim_thing.actsI.id }",
			"data.sim_lookup.userI read deferred_prereq sim_thing.actsI",
		},
		"ephemeral": {
			"sim_thing.userI.id", "sim_thing.userI", "true", "NEEDED",
			"ephemeral \"sim_secret\" \"sI\" {\n name = \"sI\"\n hint = sim_thing.actsI.id\n}\nresource \"sim_thing\" \"userI\" {\n name = \"userI\"\n secret_wo = ephemeral.sim_secret.sI.value\n}",
			"sim_thing.userI create deferred_prereq sim_thing.actsI",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []int
			for _, n := range []int{5, 10} {
				text := `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "late" {
  for_each = toset([sim_thing.base.id])
  name     = "late"
}
`
				want := []string{`sim_thing.late["*"] create instance_count_unknown sim_thing.base`}
				for i := range n {
					needed, waits := "jsonencode(sim_thing.late)", "sim_thing.late"
					if i < n-1 {
						next := strings.NewReplacer("I", strconv.Itoa(i+1))
						needed, waits = next.Replace(row.needed), next.Replace(row.awaited)
					}
					numbered := strings.NewReplacer("I", strconv.Itoa(i), "NEEDED", needed)
					text += numbered.Replace(`
action "sim_note" "aI" {
  config {
    name = "aI"
    text = ` + row.text + `
  }
}
resource "sim_thing" "actsI" {
  name = "actsI"
  lifecycle {
    action_trigger {
      events    = [after_create]
      condition = ` + row.condition + `
      actions   = [action.sim_note.aI]
    }
  }
}
` + row.user + "\n")
					want = append(want, numbered.Replace(row.follows), numbered.Replace("sim_thing.actsI create deferred_prereq "+waits))
				}
				slices.Sort(want)
				r := newWorld(t, text).ok(command{deferral: true, planOnly: true}).defers(want...)
				calls = append(calls, r.planLog.Count(simlog.Filter{RPC: "PlanResourceChange"}))
			}
			if calls[1] > 2*calls[0] {
				t.Errorf("calls of PlanResourceChange: got %d for twice as many objects as with %d calls, want at most twice as many", calls[1], calls[0])
			}
		})
	}
}

// TestDeferredThroughNoChange has an object that depends on something deferred only through an ephemeral
// value. It stays as it is, so that an action which needs it does not wait.
func TestDeferredThroughNoChange(t *testing.T) {
	t.Parallel()
	text := func(size, more string) string {
		return `
resource "sim_thing" "base" {
  name = "base"
  size = ` + size + `
}
resource "sim_thing" "late" {
  for_each = toset([tostring(sim_thing.base.serial)])
  name     = "late"
}
action "sim_note" "a" {
  config {
    name = "a"
    text = jsonencode(sim_thing.late)
  }
}
resource "sim_thing" "acts" {
  name = "acts"
  size = ` + size + `
  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.sim_note.a]
    }
  }
}
ephemeral "sim_secret" "s" {
  name = "s"
  hint = sim_thing.acts.id
}
resource "sim_thing" "user" {
  name      = "user"
  secret_wo = ephemeral.sim_secret.s.value
}` + more
	}
	w := newWorld(t, text("1", ""))
	w.ok(command{deferral: true})
	w.ok(command{deferral: true})
	w.config(text("2", `
action "sim_note" "b" {
  config {
    name = "b"
    text = sim_thing.user.id
  }
}
resource "sim_thing" "last" {
  name = "last"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.b]
    }
  }
}`))
	w.ok(command{deferral: true}).defers("sim_thing.acts update deferred_prereq sim_thing.late", `sim_thing.late["*"] create instance_count_unknown sim_thing.base`)
	w.has("sim_thing.acts", "sim_thing.base", "sim_thing.last", `sim_thing.late["1"]`, "sim_thing.user")
}
