package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// TestDuplicateImports reports two imports of one object before the provider is asked for it, wherever the
// addresses come from, and does not mind those of objects that are there.
func TestDuplicateImports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ blocks, want string }{
		"within a for_each": {`
import {
  for_each = { one = "a-1", two = "b-1" }
  to       = sim_thing.x["a"]
  id       = each.value
}
`, `The for_each of this block imports sim_thing.x["a"] more than once`},
		"computed keys": {`
import {
  for_each = toset(["a", "b"])
  to       = sim_thing.x[each.key]
  id       = "${each.key}-1"
}
import {
  to = sim_thing.x["a"]
  id = "a-1"
}
`, `sim_thing.x["a"] is imported here and at `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource := `
resource "sim_thing" "x" {
  for_each = toset(["a", "b"])
  name     = each.key
}
`
			w := newWorld(t, resource+c.blocks)
			r := w.fails(command{}, "Duplicate import configuration", c.want)
			if n := r.errors(); n != 1 {
				t.Errorf("got %d errors, want 1: %s", n, r.diags())
			}
			if n := r.planLog.Count(simlog.Filter{RPC: "ImportResourceState"}); n != 0 {
				t.Errorf("the provider was asked for an object %d times, want 0", n)
			}
			w.config(resource)
			w.ok(command{})
			w.config(resource + c.blocks)
			w.ok(command{})
		})
	}
}
