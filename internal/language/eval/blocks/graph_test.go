package blocks

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

func compileText(t *testing.T, main, module string) (*Config, diag.List) {
	t.Helper()
	files := fstest.MapFS{"main.tf": {Data: []byte(main)}, "m/main.tf": {Data: []byte(module)}}
	tree, diags := (&config.Loader{FS: files}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return Compile(tree, blockstest.Schemas{"name": {Type: cty.String, Optional: true}})
}

var roleNames = map[Role]string{
	InBody: "body", InRepetition: "repetition", InPrecondition: "precondition", InPostcondition: "postcondition", InProvisioner: "provisioner",
	InIdleConnection: "idle connection", InDestroyProvisioner: "destroy provisioner", InTrigger: "trigger", InPrevention: "prevention",
	InProviderKey: "provider key", inDependsOn: "depends_on", toProvider: "provider", toCall: "call", AroundIt: "around", toOutput: "output", toPart: "part",
	InElement: "element", InBody | toFunction: "function in body", InElement | toFunction: "function in element",
}

// edgesOf lists the edges of a node, one a line.
func edgesOf(n Node) string {
	var out []string
	for e := range n.edges {
		to := e.to.Address()
		switch e.to.(type) {
		case outputsOf:
			to = "outputs of " + to
		case insideOf:
			to = "inside of " + to
		}
		out = append(out, roleNames[e.role]+": "+to)
	}
	return strings.Join(out, "\n")
}

// TestEdges has a reference in each place of each kind of block, to a local value that is named after the
// place.
func TestEdges(t *testing.T) {
	locals := "locals {\n"
	for _, name := range []string{
		"body", "count", "pre", "message", "post", "provisioner", "idle", "destroy", "trigger", "each", "key", "argument", "after", "dependency", "assertion", "data",
	} {
		locals += name + " = 1\n"
	}
	cfg, diags := compileText(t, locals+`}
provider "a" {
  alias = "x"
  name  = local.body
}
resource "a_thing" "other" {}
resource "a_thing" "all" {
  provider = a.x
  count    = local.count
  name     = local.body
  connection {
    host = local.idle
  }
  lifecycle {
    precondition {
      condition     = local.pre == 1
      error_message = "not ${local.message}"
    }
    postcondition {
      condition     = local.post == self.id
      error_message = "no"
    }
    replace_triggered_by = [a_thing.other.id]
  }
  provisioner "local-exec" {
    command = local.provisioner
  }
  depends_on = [a_thing.other, module.m]
}
variable "v" {
  default = 1
  validation {
    condition     = var.v == local.pre
    error_message = "no"
  }
}
module "m" {
  source     = "./m"
  for_each   = { a = local.each }
  in         = local.argument
  depends_on = [a_thing.other]
}
output "o" {
  value      = module.m["a"].out
  depends_on = [a_thing.other]
  precondition {
    condition     = local.pre == 1
    error_message = "no"
  }
}
output "whole" {
  value = module.m
}
output "called" {
  value = [provider::a::x::f(local.body), provider::a::f(1)]
}
module "element" {
  source   = "./m"
  for_each = { a = local.each, b = provider::a::x::f(1) }
  in       = "${each.key}${each.value}"
}
module "key" {
  source   = "./m"
  for_each = { a = local.each }
  in       = each.key
}
check "c" {
  data "a_data" "d" {
    name = local.data
  }
  assert {
    condition     = data.a_data.d.id == local.assertion
    error_message = "no"
  }
}
`, `
variable "in" {}
resource "a_thing" "in" {
  name = var.in
}
output "out" {
  value = a_thing.in.id
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	module := func(name string) *Module { return cfg.Modules[addr.RootModule.Child(name)] }
	root, inner := cfg.Modules[addr.RootModule], module("m")
	thing := func(m *Module, name string) Node {
		return m.Resources[addr.Resource{Mode: addr.Managed, Type: "a_thing", Name: name}]
	}
	for _, c := range []struct {
		of    Node
		edges string
	}{
		{thing(root, "all"), `repetition: local.count
body: local.body
precondition: local.pre
precondition: local.message
trigger: a_thing.other
idle connection: local.idle
postcondition: local.post
provisioner: local.provisioner
depends_on: a_thing.other
depends_on: inside of module.m
provider: provider.a.x`},
		{root.Providers["a.x"], "body: local.body"},
		{root.Variables["v"], "precondition: var.v\nprecondition: local.pre"},
		{root.Calls["m"], "repetition: local.each\ndepends_on: a_thing.other"},
		{root.Outputs["o"], "body: module.m.output.out\ncall: module.m\nprecondition: local.pre\ndepends_on: a_thing.other"},
		{root.Outputs["whole"], "body: outputs of module.m\ncall: module.m"},
		{root.Checks["c"], "precondition: data.a_data.d\nprecondition: local.assertion\npart: data.a_data.d"},
		{root.Outputs["called"], "body: local.body\nfunction in body: provider.a.x"},
		{inner.Variables["in"], "body: local.argument"},
		{module("element").Variables["in"], "element: local.each\nfunction in element: provider.a.x"},
		{module("key").Variables["in"], ""},
		{thing(inner, "in"), "body: module.m.var.in\naround: module.m"},
		{outputsOf{inner}, "output: module.m.output.out"},
		{insideOf{inner}, "part: module.m.a_thing.in\naround: module.m\noutput: module.m.output.out"},
	} {
		if diff := cmp.Diff(c.edges, edgesOf(c.of)); diff != "" {
			t.Errorf("%T %s (-want +got):\n%s", c.of, c.of.Address(), diff)
		}
	}
}

// brokenSchemas is a provider that cannot be started.
type brokenSchemas struct{ blockstest.Schemas }

func (brokenSchemas) Provider(addr.Provider) (*schema.Schema, diag.List) {
	return nil, diag.Errorf("The provider did not start", "There is no room.")
}

func (s brokenSchemas) Resource(p addr.Provider, _ addr.Mode, _ string) (*schema.Schema, diag.List) {
	_, diags := s.Provider(p)
	return nil, diags
}

// TestBrokenProvider has several blocks of a provider that cannot be started, which is one error.
func TestBrokenProvider(t *testing.T) {
	files := fstest.MapFS{"main.tf": {Data: []byte("provider \"a\" {}\nresource \"a_thing\" \"one\" {}\nresource \"a_thing\" \"two\" {}\n")}}
	tree, diags := (&config.Loader{FS: files}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if _, diags := Compile(tree, brokenSchemas{}); len(diags) != 1 || diags[0].Summary != "The provider did not start" {
		t.Errorf("%v, want one error", diags)
	}
}

// TestSearch walks a ring with a way out, and counts how often each node is met.
func TestSearch(t *testing.T) {
	cfg, diags := compileText(t, `
locals {
  a = local.b
  b = [local.c, local.d]
  c = local.a
  d = 1
}
`, "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	locals := cfg.Modules[addr.RootModule].Locals
	var cycles []string
	s := search{
		follow: func(Node, edge) bool { return true },
		cycle:  func(path []edge) { cycles = append(cycles, strings.Join(names(path), " ")) },
		found:  func(n Node) bool { return n == Node(locals["d"]) },
	}
	if !s.from(locals["a"]) {
		t.Error("local.d was not found")
	}
	if got, want := strings.Join(names(s.way), " "), "local.a local.b local.d"; got != want {
		t.Errorf("the way: got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(cycles), "[local.b local.c local.a]"; got != want {
		t.Errorf("cycles: got %s, want %s", got, want)
	}
	if s.from(locals["c"]) {
		t.Error("a node that was left is walked again")
	}
}
