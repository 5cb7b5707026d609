package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// providers returns the distinct provider configurations of the objects in the state, without the source.
func (w *world) providers() []string {
	w.t.Helper()
	var out []string
	for _, in := range w.state().AllInstances() {
		out = append(out, strings.ReplaceAll(in.Provider.String(), `provider["mayfly.dev/test/sim"]`, "sim"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (w *world) configuredBy(want ...string) {
	w.t.Helper()
	if got := w.providers(); !slices.Equal(got, want) {
		w.t.Errorf("the state has the provider configurations: got %q, want %q", got, want)
	}
}

// renaming is a configuration whose provider has an alias.
func renaming(alias, rest string) string {
	return strings.NewReplacer("ALIAS", alias, "REST", rest).Replace(`
provider "sim" {
  alias  = "ALIAS"
  prefix = "p"
}
resource "sim_thing" "a" {
  count    = 2
  name     = "a${count.index}"
  provider = sim.ALIAS
}
REST`)
}

const untouched = `
resource "sim_thing" "b" {
  name     = "b"
  provider = sim.ALIAS
}
`

// The objects of a block belong to the provider configuration that the block names now, whatever they were
// made with.
func TestRenamedProviderConfiguration(t *testing.T) {
	t.Parallel()
	renamed := renaming("new", "")
	for name, c := range map[string]struct {
		text string
		command
		want []string
	}{
		"destroy":                   {text: renamed, command: command{mode: plan.Destroy}},
		"destroy some":              {text: renamed, command: command{mode: plan.Destroy, targets: []string{"sim_thing.a[0]"}}, want: []string{"sim.new"}},
		"refresh":                   {text: renamed, command: command{mode: plan.RefreshOnly}, want: []string{"sim.new"}},
		"one of several":            {text: renamed, command: command{targets: []string{"sim_thing.a[0]"}}, want: []string{"sim.new"}},
		"all but one":               {text: renamed, command: command{excludes: []string{"sim_thing.a[0]"}}, want: []string{"sim.new", "sim.old"}},
		"fewer":                     {text: strings.Replace(renamed, "= 2", "= 1", 1), want: []string{"sim.new"}},
		"other resources stay":      {text: renaming("new", strings.ReplaceAll(untouched, "ALIAS", "new")), command: command{targets: []string{"sim_thing.a"}}, want: []string{"sim.new", "sim.old"}},
		"with for_each, destroyed":  {text: instances(renamed), command: command{mode: plan.Destroy}},
		"with for_each, kept":       {text: instances(renamed), want: []string{`sim.new["k"]`}},
		"to the default":            {text: strings.NewReplacer(`alias  = "new"`, "", "sim.new", "sim").Replace(renamed), command: command{mode: plan.RefreshOnly}, want: []string{"sim"}},
		"to that of another module": {text: `module "m" { source = "./m" }` + "\nmoved {\n  from = sim_thing.a\n  to = module.m.sim_thing.a\n}", command: command{mode: plan.RefreshOnly}, want: []string{"module.m.sim.new"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, renaming("old", ""))
			if strings.Contains(c.text, untouched[:25]) {
				w.config(renaming("old", strings.ReplaceAll(untouched, "ALIAS", "old")))
			}
			w.file("m/m.tf", prelude+renamed)
			w.ok(command{})
			w.config(c.text)
			w.ok(c.command)
			w.configuredBy(c.want...)
		})
	}
}

// instances gives the provider block of a configuration for_each.
func instances(text string) string {
	return strings.NewReplacer(`prefix = "p"`, "prefix = \"p\"\n  for_each = toset([\"k\"])", "provider = sim.new", `provider = sim.new["k"]`).Replace(text)
}

// An object is never destroyed by another configuration than its own, which may be for another account.
func TestProviderConfigurationOfModuleIsGone(t *testing.T) {
	t.Parallel()
	const thing = "resource \"sim_thing\" \"x\" { name = \"x\" }\n"
	w := newWorld(t, "provider \"sim\" { prefix = \"root-\" }\nmodule \"m\" { source = \"./m\" }")
	w.file("m/m.tf", prelude+"provider \"sim\" { prefix = \"own-\" }\n"+thing)
	w.ok(command{})
	w.configuredBy("module.m.sim")
	w.config("provider \"sim\" { prefix = \"root-\" }")
	for _, mode := range []plan.Mode{plan.Normal, plan.Destroy} {
		w.fails(command{mode: mode}, "Provider configuration not present", `module.m.provider["mayfly.dev/test/sim"]`)
	}
	w.exists("x")
}

// An empty provider block in a module is a configuration of its own, unless the caller passes one.
func TestEmptyProviderBlockInModule(t *testing.T) {
	t.Parallel()
	const root = "provider \"sim\" { prefix = \"root-\" }\nmodule \"m\" {\n  source = \"./m\"\n  count  = 2\nMORE\n}"
	w := newWorld(t, strings.Replace(root, "MORE", "", 1))
	w.file("m/m.tf", prelude+"provider \"sim\" {}\nmodule \"n\" { source = \"../n\" }\n")
	w.file("n/n.tf", prelude+"resource \"sim_thing\" \"x\" { name = \"x\" }\n")
	r := w.ok(command{})
	r.wants(diag.Warning, "Redundant empty provider block", "the module has one of its own")
	w.configuredBy("module.m.sim")
	if got := w.attr("module.m[1].module.n.sim_thing.x", "label"); got != `"x"` {
		t.Errorf("label: got %s, want %s", got, `"x"`)
	}
	w.config(strings.Replace(strings.Replace(root, "MORE", "", 1), "= 2", "= 1", 1))
	w.ok(command{}).did("delete x")
	w.config(strings.Replace(root, "MORE", "  providers = { sim = sim }", 1))
	r = w.ok(command{})
	r.wants(diag.Warning, "Redundant empty provider block", "the block has no effect")
	w.configuredBy("sim")
	if got := w.attr("module.m[1].module.n.sim_thing.x", "label"); got != `"root-x"` {
		t.Errorf("label: got %s, want %s", got, `"root-x"`)
	}
}

// A provider without a block has an empty configuration, which must be enough for it.
func TestRequiredArgumentsOfProvider(t *testing.T) {
	t.Parallel()
	const thing = "resource \"sim_thing\" \"x\" { name = \"x\" }\n"
	const block = "provider \"sim\" {\n  account = \"a\"\n  limits {}\nMORE\n}\n"
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"no block":           {text: thing},
		"another one":        {text: thing + strings.Replace(block, "MORE", `  alias = "x"`, 1)},
		"an empty block":     {text: thing + `provider "sim" {}`},
		"data":               {text: `data "sim_lookup" "x" { name = "x" }`},
		"used in a module":   {text: `module "m" { source = "./m" }`},
		"all that is needed": {text: thing + strings.Replace(block, "MORE", "", 1), ok: true},
		"not used":           {text: `output "o" { value = provider::sim::echo("x") }`, ok: true},
		"a block not used":   {text: `provider "sim" {}`, ok: true},
		"no instances":       {text: "provider \"sim\" {}\nresource \"sim_thing\" \"x\" {\n  count = 0\n  name = \"x\"\n}\n", ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.text)
			w.env["SIM_SCHEMA"] = "provider-required"
			w.file("m/m.tf", prelude+thing)
			if diags := w.validate(); diags.HasErrors() {
				t.Errorf("not valid: %s", diags)
			}
			if c.ok {
				w.ok(command{})
				return
			}
			r := w.fails(command{}, "Missing required argument", `"account"`)
			r.wants(diag.Error, "Insufficient limits blocks")
			if n := r.errors(); n != 2 {
				t.Errorf("got %d errors, want 2: %s", n, r.diags())
			}
		})
	}
}

// A module with configuration_aliases can be validated without a caller, and not be planned.
func TestModuleWithoutItsCaller(t *testing.T) {
	t.Parallel()
	const text = `
terraform {
  required_providers {
    sim = {
      source                = "mayfly.dev/test/sim"
      configuration_aliases = [sim.there]
    }
  }
}
resource "sim_thing" "x" {
  name     = "x"
  provider = sim.there
}
data "sim_lookup" "x" {
  name     = sim_thing.x.name
  provider = sim.there
}
output "o" { value = provider::sim::there::whoami() }
module "m" {
  source    = "./m"
  providers = { sim = sim.there }
}`
	w := newWorld(t, "")
	w.file("main.tf", text)
	w.file("m/m.tf", prelude+"resource \"sim_thing\" \"x\" { name = \"y\" }\n")
	if diags := w.validate(); len(diags) > 0 {
		t.Errorf("not valid: %s", diags)
	}
	r := w.fails(command{}, "Provider configuration not present", "as the root module it has no caller")
	if n := r.errors(); n > 2 {
		t.Errorf("%d errors: %s", n, r.diags())
	}
	w.file("m/m.tf", prelude+"resource \"sim_thing\" \"x\" { nme = \"y\" }\n")
	if diags := w.validate(); !strings.Contains(diags.Err().Error(), "nme") {
		t.Errorf("got %s", diags)
	}
}

// A module inherits the configuration of its provider whatever the names that it and its caller give the
// provider, also where the caller has two names for it.
func TestInheritedUnderAnotherName(t *testing.T) {
	t.Parallel()
	const source = `{ source = "mayfly.dev/test/sim" }`
	for name, c := range map[string]struct{ required, block string }{
		"one":                {required: "other = " + source, block: "other"},
		"the first of two":   {required: "other = " + source + "\n sim = " + source, block: "other"},
		"the second of two":  {required: "other = " + source + "\n sim = " + source, block: "sim"},
		"neither is the own": {required: "first = " + source + "\n other = " + source, block: "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.file("main.tf", "terraform {\n required_providers {\n"+c.required+"\n }\n}\nprovider \""+c.block+"\" { prefix = \"root-\" }\nmodule \"m\" { source = \"./m\" }")
			w.file("m/m.tf", prelude+"resource \"sim_thing\" \"x\" { name = \"x\" }\n")
			w.ok(command{})
			if got := w.attr("module.m.sim_thing.x", "label"); got != `"root-x"` {
				t.Errorf("label: got %s, want root-x with the prefix of the root module's configuration", got)
			}
		})
	}
}

// TestDeferredProviderKey has an object choose the provider instance of a module, in the call of the module
// around it.
func TestDeferredProviderKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
provider "sim" {
  alias    = "r"
  for_each = toset(["base-1", "b"])
  region   = each.key
}
module "m" {
  source    = "./m"
  providers = { sim = sim.r[sim_thing.base.id] }
}
output "x" { value = sim_thing.base.id }`)
	w.file("m/main.tf", prelude+`
module "n" { source = "./n" }`)
	w.file("m/n/main.tf", prelude+`
resource "sim_thing" "in" { name = "in" }`)
	w.ok(command{deferral: true}).defers("module.m.module.n.sim_thing.in create provider_config_unknown sim_thing.base")
	w.ok(command{deferral: true}).defers().did("create in")
	w.ok(command{}).did()
	w.ok(command{mode: plan.Destroy}).did("delete in", "delete base")
}
