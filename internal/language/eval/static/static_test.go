package static

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const declarations = `
variable "set" {}
variable "with" { default = "def" }
variable "typed" {
  type    = object({ a = optional(string, "filled"), n = number })
  default = { n = 1 }
}
variable "nothing" {}
variable "sens" {
  sensitive = true
  default   = { a = "CANARY" }
}
variable "eph" {
  ephemeral = true
  default   = "CANARY"
}
locals {
  deep    = "${local.lower}/${var.with}"
  lower   = lower("ABC")
  loop    = local.pool
  pool    = local.loop
  dynamic = terraform_data.x.id
}
resource "terraform_data" "x" {}
module "child" {
  source = "./child"
  in     = "${var.set}-in"
}
`

func TestEval(t *testing.T) {
	for _, c := range []struct{ expr, want, err string }{
		{`"plain"`, "plain", ""},
		{`"${var.set}/${var.with}"`, "given/def", ""},
		{`var.typed.a`, "filled", ""},
		{`local.deep`, "abc/def", ""},
		{`"${path.module} ${path.root} ${path.cwd} ${terraform.workspace} ${tofu.workspace}"`, ". . /w blue blue", ""},
		{`join("-", [for x in ["a", "b"] : upper(x)])`, "A-B", ""},
		{`core::upper("a")`, "A", ""},
		{`length(var.sens) == 1 ? "a" : "b"`, "", "Sensitive value not allowed"},
		{`var.sens.a`, "", "Sensitive value not allowed"},
		{`"x${var.eph}"`, "", "Ephemeral value not allowed"},
		{`terraform.applying ? "a" : "b"`, "", "Ephemeral value not allowed"},
		{`nonsensitive(var.sens.a)`, "CANARY", ""},
		{`var.nothing`, "", "No value for required variable"},
		{`local.loop`, "", "Cycle of values"},
		{`local.dynamic`, "", "so terraform_data.x"},
		{`module.child.out`, "", "so module.child"},
		{`data.http.x.body`, "", "so data.http.x"},
		{`each.key`, "", "so each"},
		{`timestamp()`, "", "Value not known in time"},
		{`provider::x::f()`, "", "belongs to a provider"},
		{`var.nope`, "", "no input variable named"},
		{`local.nope`, "", "no local value named"},
		{`file("none")`, "", "none"},
		{`transpose({ (var.eph) = 1 })`, "", "(ephemeral value)"},
		{`true ? { (var.sens.a) = 1 } : { b = [1] }`, "", "(sensitive value)"},
		{`{ for k, v in { (var.sens.a) = 1 } : v => k... }.x`, "", "(sensitive value)"},
	} {
		t.Run(c.expr, func(t *testing.T) {
			e := New(Options{RootDir: ".", WorkDir: "/w", Workspace: func() (string, diag.List) { return "blue", nil }, Variable: func(_ *config.Module, v *config.Variable) (cty.Value, diag.List) {
				if v.Name == "set" {
					return cty.StringVal("given"), nil
				}
				return cty.NilVal, nil
			}})
			text, diags := load(e.Eval, declarations+"terraform {\n  backend \"local\" {\n    path = "+c.expr+"\n  }\n}\n")
			all := fmt.Sprint(diags)
			if c.err == "" && (diags.HasErrors() || text != c.want) || c.err != "" && !strings.Contains(all, c.err) {
				t.Errorf("%q, want %q: %v, want %q", text, c.want, diags, c.err)
			}
			if strings.Contains(all, "CANARY") {
				t.Errorf("a secret is told: %v", diags)
			}
		})
	}
}

// The argument of a called module does not have the type of the variable, and its key is secret.
func TestKeysOfInputsAreNotTold(t *testing.T) {
	const root = "variable \"eph\" {\n  ephemeral = true\n  default   = \"CANARY\"\n}\nmodule \"m\" {\n  source = \"./m\"\n  in     = { (var.eph) = \"x\" }\n}\n"
	const child = "variable \"in\" {\n  type = map(number)\n}\nmodule \"deep\" {\n  source = \"./${var.in.a}\"\n}\n"
	l := &config.Loader{Static: New(Options{}).Eval, FS: fstest.MapFS{"main.tf": {Data: []byte(root)}, "m/m.tf": {Data: []byte(child)}}}
	_, diags := l.Load(".")
	if all := fmt.Sprint(diags); !strings.Contains(all, "map of number required") || strings.Contains(all, "CANARY") {
		t.Error(all)
	}
}

// load evaluates the path of the backend in a root module.
func load(static config.Static, src string) (string, diag.List) {
	l := &config.Loader{StaticMarked: static, FS: fstest.MapFS{
		"main.tf": {Data: []byte(src)}, "child/c.tf": {Data: []byte("variable \"in\" {}\noutput \"out\" {\n  value = 1\n}\n")},
	}}
	tree, diags := l.Load(".")
	if diags.HasErrors() {
		return "", diags
	}
	attrs, hd := tree.Root.Backend.Body.JustAttributes()
	if hd.HasErrors() {
		return "", diag.FromHCL(hd)
	}
	v, hd := attrs["path"].Expr.Value(nil)
	if hd.HasErrors() || v.Type() != cty.String {
		return "", diag.FromHCL(hd)
	}
	return v.AsString(), nil
}

// TestEvalMarked keeps the marks of values for backends, and tells none of them in an error.
func TestEvalMarked(t *testing.T) {
	e := New(Options{})
	m := &config.Module{Variables: map[string]*config.Variable{"eph": {Name: "eph", Ephemeral: true, Default: cty.StringVal("CANARY")}}}
	eval := func(src string) (cty.Value, diag.List) {
		expr, hd := hclsyntax.ParseExpression([]byte(src), "t", hcl.InitialPos)
		if hd.HasErrors() {
			t.Fatal(hd)
		}
		return e.EvalMarked(m, expr)
	}
	if v, diags := eval(`"a ${var.eph}"`); diags.HasErrors() || !value.Contains(v, value.Ephemeral) {
		t.Errorf("%#v %v", v, diags)
	}
	if _, diags := eval(`"${var.eph}${timestamp()}"`); !diags.HasErrors() || strings.Contains(fmt.Sprint(diags), "CANARY") {
		t.Error(diags)
	}
}

func TestSourcesAcrossModules(t *testing.T) {
	l := &config.Loader{Static: New(Options{}).Eval, FS: fstest.MapFS{
		"main.tf":   {Data: []byte("locals {\n  which = \"b\"\n}\nmodule \"a\" {\n  source = \"./a\"\n  pick   = local.which\n}\n")},
		"a/main.tf": {Data: []byte("variable \"pick\" {\n  const = true\n}\nmodule \"m\" {\n  source = \"../${var.pick}\"\n}\n")},
		"b/main.tf": {Data: []byte("output \"b\" {\n  value = path.module\n}\n")},
	}}
	tree, diags := l.Load(".")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if m := tree.Root.Children["a"].Children["m"]; m == nil || m.Dir != "b" || m.Call.Source != "../b" {
		t.Errorf("module m of a: got %+v, want ../b in the directory b", m)
	}
}

func TestBackendBlocksInside(t *testing.T) {
	l := &config.Loader{StaticMarked: New(Options{}).Eval, FS: fstest.MapFS{
		"main.tf": {Data: []byte("locals {\n  name = \"w\"\n}\nterraform {\n  backend \"remote\" {\n    workspaces {\n      name = local.name\n    }\n  }\n}\n")},
	}}
	tree, diags := l.Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	content, hd := tree.Root.Backend.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "workspaces"}}})
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	attrs, _ := content.Blocks[0].Body.JustAttributes()
	if v, hd := attrs["name"].Expr.Value(nil); hd.HasErrors() || v != cty.StringVal("w") {
		t.Errorf("name: got %#v, %v, want \"w\"", v, hd)
	}
}
