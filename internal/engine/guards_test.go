package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestConditionsBeforeUsers decides while applying what planning could not: before anything is done with the
// variable or output that the condition is of.
func TestConditionsBeforeUsers(t *testing.T) {
	t.Parallel()
	const a = "resource \"sim_thing\" \"a\" { name = \"a\" }\n"
	const call = "module \"m\" {\n  source = \"./m\"\n  in     = sim_thing.a.id\n}\n"
	condition := func(kind, text string) string {
		return kind + " {\n    condition     = " + text + "\n    error_message = \"does not match\"\n  }\n"
	}
	variable := func(text string) string { return "variable \"in\" {\n  " + condition("validation", text) + "}\n" }
	const user = "resource \"sim_thing\" \"user\" {\n  name = \"user\"\n  json = jsonencode(var.in)\n}\n"
	for _, test := range []struct {
		name, root, module string
		did                []string
		checks             []string
	}{
		{"variable", a + call, variable(`var.in == "no"`) + user, []string{"create a"}, []string{"module.m.var.in fail"}},
		{
			"variable of what is called below", a + call,
			"variable \"in\" {}\nmodule \"n\" {\n  source = \"../n\"\n  in = var.in\n}\n",
			[]string{"create a"},
			[]string{"module.m.module.n.var.in fail"},
		},
		{
			"variable that nothing uses", a + call,
			variable(`var.in == "no"`) + "resource \"sim_thing\" \"user\" { name = \"user\" }\n",
			[]string{"create a", "create user"},
			[]string{"module.m.var.in fail"},
		},
		{
			"output of a variable", a + call + "resource \"sim_thing\" \"outside\" { name = module.m.out }\n",
			variable(`var.in == "no"`) + "output \"out\" { value = \"x${var.in}\" }\n",
			[]string{"create a"},
			[]string{"module.m.var.in fail"},
		},
		{
			"what depends on the module", a + call + "resource \"sim_thing\" \"outside\" {\n  name = \"o\"\n  depends_on = [module.m]\n}\n",
			variable(`var.in == "no"`),
			[]string{"create a"},
			[]string{"module.m.var.in fail"},
		},
		{
			"precondition of an output", a + call + "resource \"sim_thing\" \"outside\" { name = module.m.out }\n",
			"variable \"in\" {}\noutput \"out\" {\n  value = \"x\"\n  " + condition("precondition", `var.in == "no"`) + "}\n",
			[]string{"create a"},
			[]string{"module.m.output.out fail"},
		},
		{
			"condition about something else", "module \"m\" {\n  source = \"./m\"\n  in     = \"x\"\n}\n",
			variable(`var.in == sim_thing.z.id`) + user + "resource \"sim_thing\" \"z\" { name = \"z\" }\n",
			[]string{"create z"},
			[]string{"module.m.var.in fail"},
		},
		{
			"variable of the root module", a + "variable \"in\" {\n  default = \"x\"\n  " + condition("validation", "var.in == sim_thing.a.id") + "}\n" + user, "",
			[]string{"create a"},
			[]string{"var.in fail"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.root)
			w.file("m/main.tf", prelude+test.module)
			w.file("n/main.tf", prelude+variable(`var.in == "no"`)+user)
			r := w.fails(command{}, "does not match")
			if n := len(r.diags()); n != 1 {
				t.Errorf("got %d diagnostics, want the failed condition alone: %s", n, r.diags().Err())
			}
			r.didInAnyOrder(test.did...)
			if got := w.checks(); !slices.Equal(got, test.checks) {
				t.Errorf("checks: got %q, want %q", got, test.checks)
			}
		})
	}
}

// TestConditionsOfVariablesWait has nothing evaluated too early: what a condition refers to is what it will
// be.
func TestConditionsOfVariablesWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "old" { name = "a" }`)
	w.ok(command{})
	w.config(`
variable "in" {
  default = "x"
  validation {
    condition     = var.in != sim_thing.new.id
    error_message = "must differ"
  }
}
moved {
  from = sim_thing.old
  to   = sim_thing.new
}
resource "sim_thing" "new" {
  name = "a"
  size = 2
}
resource "sim_thing" "more" { name = "b" }
resource "sim_thing" "user" { name = "u-${sim_thing.new.serial}-${sim_thing.more.id}-${var.in}" }`)
	w.ok(command{}).plans("sim_thing.more create", "sim_thing.new update from sim_thing.old", "sim_thing.user create")
	if got := w.checks(); !slices.Equal(got, []string{"var.in pass"}) {
		t.Errorf("checks: got %q, want %q", got, []string{"var.in pass"})
	}
	w.fails(command{vars: map[string]cty.Value{"in": cty.StringVal("a-1")}}, "must differ")
	w.ok(command{mode: plan.Destroy})
}

// TestE53ConditionOfEphemeralVariable evaluates a condition on a secret again with the one that the apply has
// opened, which is opened once for it and for what uses the variable.
func TestE53ConditionOfEphemeralVariable(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"true", "!terraform.applying"} {
		w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
module "m" {
  source = "./m"
  in     = ephemeral.sim_secret.s.value
}`)
		w.file("m/main.tf", prelude+`
variable "in" {
  ephemeral = true
  validation {
    condition     = var.in != "" && `+limit+`
    error_message = "not accepted"
  }
}
resource "sim_thing" "user" {
  name              = "user"
  secret_wo         = var.in
  secret_wo_version = 1
}`)
		want := []string{"create user"}
		if limit == "true" {
			w.ok(command{}).did(want...)
		} else {
			w.fails(command{}, "Invalid value for variable", "not accepted").did()
		}
		if n := w.openings(); n != 2 {
			t.Errorf("%s: opened %d times, want once for each phase", limit, n)
		}
	}
}

// openings is how many ephemerals were opened so far.
func (w *world) openings() int {
	log, err := simlog.ReadFile(w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	return log.Count(simlog.Filter{RPC: "OpenEphemeralResource"})
}

// TestConditionsInCycles names the variable whose condition closes a cycle, before anything is planned.
func TestConditionsInCycles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "in" {
  default = "x"
  validation {
    condition     = var.in != sim_thing.a.id
    error_message = "must differ"
  }
}
resource "sim_thing" "a" { name = var.in }`)
	diags := w.validate()
	if len(diags) != 1 {
		t.Fatalf("got %d diagnostics, want one: %s", len(diags), diags.Err())
	}
	for _, hop := range []string{"sim_thing.a waits for var.in (", "var.in waits for sim_thing.a ("} {
		if strings.Count(diags[0].Detail, hop) != 1 {
			t.Errorf("got\n%s\nwant the hop %q once", diags[0].Detail, hop)
		}
	}
}
