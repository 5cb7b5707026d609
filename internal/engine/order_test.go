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
