package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// A connection block of a provisioner completes that of the resource, argument by argument.
func TestEvalConnection(t *testing.T) {
	w := planned(t, `
ephemeral "sim_secret" "s" {}
resource "sim_thing" "a" {
  for_each = toset(["k"])
  connection {
    host     = self.name
    user     = "shared"
    port     = "2222"
    password = ephemeral.sim_secret.s.token
  }
  provisioner "local-exec" { command = "x" }
  provisioner "file" { destination = "x" }
  provisioner "remote-exec" {
    connection {
      user    = each.key
      timeout = null
      agent   = false
    }
  }
}
resource "sim_thing" "b" {
  provisioner "file" {
    destination = "x"
    connection { user = "u" }
  }
}`)
	self := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("from self")})
	set := func(of string, index int) string {
		v, diags := w.instance(of).EvalConnection(w.task, nil, index, self)
		if diags.HasErrors() {
			return diags.Err().Error()
		}
		if v == cty.NilVal {
			return "none"
		}
		var out []string
		for name, a := range v.AsValueMap() {
			switch plain, _ := a.Unmark(); {
			case value.Contains(a, value.Ephemeral):
				out = append(out, name+" ephemeral")
			case !plain.IsNull():
				out = append(out, name+" "+strings.TrimPrefix(plain.GoString(), "cty."))
			}
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	}
	for _, c := range []struct {
		of    string
		index int
		want  string
	}{
		{`sim_thing.a["k"]`, 0, "none"},
		{`sim_thing.a["k"]`, 1, "host StringVal(\"from self\")\npassword ephemeral\nport NumberIntVal(2222)\nuser StringVal(\"shared\")"},
		{`sim_thing.a["k"]`, 2, "agent False\nhost StringVal(\"from self\")\npassword ephemeral\nport NumberIntVal(2222)\nuser StringVal(\"k\")"},
		{`sim_thing.b`, 0, `main.tf:24,5-15: Missing required argument: The argument "host" is required, but no definition was found in this connection block, nor in another one that it would complete.`},
	} {
		if diff := cmp.Diff(c.want, set(c.of, c.index)); diff != "" {
			t.Errorf("%s %d (-want +got):\n%s", c.of, c.index, diff)
		}
	}
}

// TestConnectionsAreEvaluatedLikeBodies warns of what is deprecated in a connection, and explains errors.
func TestConnectionsAreEvaluatedLikeBodies(t *testing.T) {
	w := planned(t, `
module "m" { source = "./m" }
resource "sim_thing" "a" {
  connection { host = module.m.old }
  provisioner "remote-exec" {}
  provisioner "remote-exec" {
    connection { user = range(2000)[7] }
  }
}
-- m/m.tf --
output "old" {
  value      = "h"
  deprecated = "use new"
}`)
	in := w.instance("sim_thing.a")
	if _, diags := in.EvalConnection(w.task, nil, 0, cty.DynamicVal); diags != nil {
		t.Error(lines(diags))
	}
	w.oneWarning("Value derived from a deprecated source")
	_, diags := in.EvalConnection(w.task, nil, 1, cty.DynamicVal)
	if text := lines(diags); !strings.Contains(text, "flatten(") {
		t.Errorf("the error is not explained: %s", text)
	}
}
