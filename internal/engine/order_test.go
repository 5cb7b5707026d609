package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/plan"
)

// TestLongestWayFirst plans, applies, refreshes and destroys a chain of six objects beside independent ones,
// which the configuration has first. The chain decides how long each phase takes if it starts at once; if it
// came last, each would take about 1.7 times as long.
func TestLongestWayFirst(t *testing.T) {
	const object = `
resource "sim_slow" "%s" {
  name         = %s
  plan_delay   = "%[3]dms"
  read_delay   = "%[3]dms"
  create_delay = "%[3]dms"
  delete_delay = "%[3]dms"
}`
	var text strings.Builder
	for i := range 24 {
		fmt.Fprintf(&text, object, fmt.Sprint("a", i), `"a"`, 200)
	}
	for i := range 6 {
		name := `"chain"`
		if i > 0 {
			name = fmt.Sprintf("sim_slow.z%d.id", i-1)
		}
		fmt.Fprintf(&text, object, fmt.Sprint("z", i), name, 300)
	}
	inVirtualTime(t, text.String(), func(t *testing.T, w *world) {
		const bound = 6 * 300 * time.Millisecond
		begin := time.Now()
		phase := func(name string, calls int) {
			if took, most := time.Since(begin), time.Duration(calls)*bound*5/4; took > most {
				t.Errorf("%s took %s, want %s at most", name, took, most)
			}
			begin = time.Now()
		}
		all := command{parallelism: 6, between: func() { phase("the plan", 1) }}
		w.ok(all)
		phase("the apply", 2) // which plans each object again
		w.ok(command{parallelism: 6, planOnly: true})
		phase("the no-op plan", 2) // which reads and plans each object
		w.ok(command{parallelism: 6, mode: plan.Destroy, between: func() { phase("the plan to destroy", 1) }})
		phase("the destruction", 1)
	})
}

// TestNoInstances reads a resource that an update of another one leaves without instances, or without the
// one that is read: the result depends on that update alone.
func TestNoInstances(t *testing.T) {
	for _, read := range []string{`join(",", sim_thing.r[*].id)`, `try(sim_thing.r[0].id, "none")`, `length(module.m)`} {
		text := func(name string) string {
			return fmt.Sprintf(`
resource "sim_slow" "first" {
  name         = "first %[1]s"
  create_delay = "1s"
}
resource "sim_thing" "a" {
  name = "%[1]s"
  tags = { x = sim_slow.first.name }
}
resource "sim_thing" "r" {
  count = length(sim_thing.a.name)
  name  = "r"
}
module "m" {
  source = "./m"
  count  = length(sim_thing.a.name)
}
resource "sim_thing" "b" { name = "b ${%[2]s}" }
`, name, read)
		}
		inVirtualTime(t, text("x"), func(_ *testing.T, w *world) {
			w.file("m/main.tf", "")
			w.ok(command{})
			w.config(text(""))
			w.ok(command{})
		})
	}
}
