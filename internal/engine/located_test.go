package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
)

// TestDiagnosticsPointAtTheBlock: what a provider says of an object at a step that evaluates no configuration
// is shown at the block that declares the object, and at the argument that it names.
func TestDiagnosticsPointAtTheBlock(t *testing.T) {
	t.Parallel()
	const other = `resource "sim_old" "x" { name = "x" }`
	const declared = `resource "sim_thing" "x" {
  name      = "x"
  secret_wo = "s"
}`
	rows := []struct {
		name, before, after, rules string
		line                       int // counted from the resource block, which is line 1
	}{
		{"read", declared, declared, `{"rpc":"ReadResource","do":"error"}`, 1},
		{"read with a path", declared, declared, `{"rpc":"ReadResource","do":"write-only","attr":"secret_wo","value":"CANARY"}`, 3},
		{"move", other, declared + "\nmoved {\n  from = sim_old.x\n  to = sim_thing.x\n}", `{"rpc":"MoveResourceState","do":"error"}`, 1},
		{"import", "", declared + "\nimport {\n  to = sim_thing.x\n  id = \"x-1\"\n}", `{"rpc":"ImportResourceState","do":"error"}`, 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.before)
			w.ok(command{})
			w.config(row.after)
			w.rules = rules(row.rules)
			errs := slices.DeleteFunc(slices.Clone(w.run(command{planOnly: true}).diags()), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
			if len(errs) != 1 {
				t.Fatalf("got %v, want one error", errs)
			}
			want := strings.Count(prelude, "\n") + row.line
			if d := errs[0]; d.Subject == nil || d.Subject.Start.Line != want || d.Address != "sim_thing.x" {
				t.Errorf("%s of %s is shown at %v, want line %d", d.Summary, d.Address, d.Subject, want)
			}
		})
	}
}
