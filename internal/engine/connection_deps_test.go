package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestConnectionThatNothingUses makes an instance depend on what its connection refers to, without evaluating
// it: nothing ephemeral in it is opened.
func TestConnectionThatNothingUses(t *testing.T) {
	t.Parallel()
	text := func(failOn, connection, provisioner string) string {
		return `
resource "sim_thing" "a" {
  name    = "a"
  fail_on = ` + failOn + `
}
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "b" {
  name = "b"
  ` + connection + `
  ` + provisioner + `
}`
	}
	connection := `connection {
    host     = sim_thing.a.id
    password = ephemeral.sim_secret.s.value
  }`
	for name, config := range map[string]func(failOn string) string{
		"no provisioner": func(failOn string) string { return text(failOn, connection, "") },
		"local-exec": func(failOn string) string {
			return text(failOn, connection, "provisioner \"local-exec\" {\n command = \"true\"\n}")
		},
		"of local-exec": func(failOn string) string {
			return text(failOn, "", "provisioner \"local-exec\" {\n command = \"true\"\n"+connection+"\n}")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, config(`"create"`))
			w.fails(command{}, "asked to fail on create")
			w.exists()
			w.config(config("null"))
			r := w.ok(command{targets: []string{"sim_thing.b"}}).did("create a", "create b")
			if n := r.log().Count(simlog.Filter{RPC: "OpenEphemeralResource"}); n != 0 {
				t.Errorf("%d ephemeral resources were opened for a connection that nothing uses, want 0", n)
			}
			w.ok(command{mode: plan.Destroy}).did("delete b", "delete a")
		})
	}
}
