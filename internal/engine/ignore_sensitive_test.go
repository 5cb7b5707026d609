package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// TestIgnoredSensitive makes an ignored value sensitive in the configuration, and takes that back: what is
// ignored is as sensitive as in the state.
func TestIgnoredSensitive(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, ignore string
		changes      []string
		stored       string
	}{
		{"nothing", `[]`, []string{"sim_thing.a update"}, `json size tags["k"]`},
		{"one", `[json]`, []string{"sim_thing.a update"}, `size tags["k"]`},
		{"an element", `[json, size, tags["k"]]`, nil, ""},
		{"an element like an attribute", `[json, size, tags.k]`, nil, ""},
		{"an element that is not there", `[json, size, tags["other"]]`, []string{"sim_thing.a update"}, `tags["k"]`},
		{"all", `all`, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			text := func(sensitive string) string {
				return `
variable "v" {
  default   = "x"
  sensitive = ` + sensitive + `
}
resource "sim_thing" "a" {
  name = "a"
  json = jsonencode(var.v)
  size = length(var.v)
  tags = { k = var.v }
  lifecycle { ignore_changes = ` + row.ignore + ` }
}`
			}
			w := newWorld(t, text("false"))
			w.ok(command{})
			w.config(text("true"))
			w.ok(command{}).plans(row.changes...)
			if got := w.sensitive("sim_thing.a"); got != row.stored {
				t.Errorf("sensitive in the state: got %q, want %q", got, row.stored)
			}
			w.config(text("false"))
			w.ok(command{}).plans(row.changes...)
			if row.ignore == "all" {
				w.config(text("true"))
				w.ok(command{replace: []string{"sim_thing.a"}})
				if got := w.sensitive("sim_thing.a"); got != `json size tags["k"]` {
					t.Errorf("sensitive in the state of an object made from the configuration alone: got %q, want %q", got, `json size tags["k"]`)
				}
				w.config(text("false"))
				w.ok(command{}).plans()
			}
		})
	}
}

// sensitive returns the stored sensitive paths of an object, without those that the schema has.
func (w *world) sensitive(address string) string {
	w.t.Helper()
	var out []string
	for _, p := range w.object(address).Sensitive {
		if text := schema.PathString(p); text != "secret_wo" {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
