package blocks

import (
	"slices"
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
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// partSchemas has every type, with arguments of several types and a block.
type partSchemas struct{ blockstest.Schemas }

func (partSchemas) Resource(addr.Provider, addr.Mode, string) (*schema.Schema, diag.List) {
	part := schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"p": {Type: cty.String, Optional: true}}}}
	return &schema.Schema{Block: &schema.Block{
		Attributes: map[string]*schema.Attribute{
			"id": {Type: cty.String, Computed: true}, "v": {Type: cty.DynamicPseudoType, Optional: true}, "w": {Type: cty.Map(cty.String), Optional: true},
		},
		Blocks: map[string]*schema.NestedBlock{"part": &part},
	}}, nil
}

// relevantTexts compiles a configuration and lists the attributes that contributed to a plan, sorted.
func relevantTexts(t *testing.T, p *plan.Plan, main, module string) []string {
	t.Helper()
	files := fstest.MapFS{"main.tf": {Data: []byte(main)}, "m/main.tf": {Data: []byte(module)}}
	tree, diags := (&config.Loader{FS: files}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := Compile(tree, partSchemas{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var out []string
	for _, a := range cfg.Relevant(p) {
		out = append(out, strings.TrimSuffix(a.Instance.String()+"."+schema.PathString(a.Path), "."))
	}
	slices.Sort(out)
	return out
}

func creation(t *testing.T, address string) *plan.Change {
	t.Helper()
	i, err := addr.ParseInstance(address)
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Change{Addr: i, Action: plan.Create}
}

// TestRelevantAttributes finds what peers find for the creation of t_x.b.
func TestRelevantAttributes(t *testing.T) {
	const others = `
resource "t_x" "a" {
  v = t_x.first.id
  w = { k = t_x.second.id }
  part {
    p = t_x.third.id
  }
}
resource "t_x" "first" {
}
resource "t_x" "second" {
  count = 2
}
resource "t_x" "third" {
}
locals {
  id    = t_x.a.id
  whole = t_x.third
}
resource "t_x" "b" {
`
	for block, want := range map[string][]string{
		"v = t_x.a.id":                     {"t_x.a.id"},
		"v = t_x.a.v":                      {"t_x.a.v", "t_x.first.id"},
		`v = t_x.a.w["k"]`:                 {`t_x.a.w["k"]`, "t_x.second[0].id"},
		"v = t_x.a.part[0].p":              {"t_x.a.part[0].p", "t_x.third.id"},
		"v = t_x.a":                        {"t_x.a", "t_x.first.id", "t_x.second[0].id", "t_x.third.id"},
		"v = local.id":                     {"t_x.a.id"},
		"v = local.whole.id":               {"t_x.third"},
		"v = t_x.second[*].id":             {"t_x.second"},
		"v = [for x in t_x.second : x.id]": {"t_x.second"},
		"count = 2\n v = t_x.second[count.index].id":                                                            {"t_x.second"},
		"count = length(t_x.a.id)\n v = 1":                                                                      nil, // what says how many there are contributes if they depend on it
		"count = length(t_x.a.id)\n v = count.index":                                                            {"t_x.a.id"},
		"for_each = { k = t_x.a.id }\n v = 1":                                                                   nil,
		"for_each = { k = t_x.a.id }\n v = each.key":                                                            {"t_x.a.id"},
		"for_each = { k = t_x.a.id }\n v = [each.key, each.value]":                                              {"t_x.a.id"},
		"depends_on = [t_x.a]":                                                                                  nil,
		"lifecycle {\n precondition {\n condition = t_x.a.id != \"\"\n error_message = \"No.\"\n }\n }":         nil,
		"dynamic \"part\" {\n for_each = [t_x.a.id]\n content {\n p = \"${part.value}${t_x.first.id}\"\n }\n }": {"t_x.a.id", "t_x.first.id"},
	} {
		p := &plan.Plan{Changes: []*plan.Change{creation(t, "t_x.b")}}
		main := strings.Replace(others, "t_x.second.id", "t_x.second[0].id", 1)
		if diff := cmp.Diff(want, relevantTexts(t, p, main+block+"\n}\n", "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", block, diff)
		}
	}
}

// TestRelevantInModules looks into the instances of modules that a plan has, and into modules without keys in
// any case.
func TestRelevantInModules(t *testing.T) {
	const module = `
variable "in" {}
resource "t_x" "in" {
  v = var.in
}
output "v" {
  value = t_x.in.v
}
output "id" {
  value = t_x.in.id
}
`
	const main = `
resource "t_x" "a" {
}
resource "t_x" "b" {
  v = MODULE
}
module "m" {
  source = "./m"
  count  = 2
  in     = t_x.a.id
}
`
	all := []string{"module.m.t_x.in.id", "module.m.t_x.in.v", "t_x.a.id"}
	for reference, want := range map[string][]string{
		"module.m[0].v":    {"module.m[0].t_x.in.v", "t_x.a.id"},
		"module.m[0].id":   {"module.m[0].t_x.in.id"},
		"module.m[*].v":    all, // the key is not written
		"module.m":         all,
		"length(module.m)": all,
	} {
		p := &plan.Plan{Changes: []*plan.Change{creation(t, "t_x.b")}}
		if diff := cmp.Diff(want, relevantTexts(t, p, strings.Replace(main, "MODULE", reference, 1), module)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reference, diff)
		}
	}
	planned := &plan.Plan{Changes: []*plan.Change{creation(t, "module.m[1].t_x.in")}}
	want := []string{"module.m[1].t_x.in.id", "module.m[1].t_x.in.v", "t_x.a.id"}
	if diff := cmp.Diff(want, relevantTexts(t, planned, strings.Replace(main, "MODULE", "1", 1), module)); diff != "" {
		t.Errorf("outputs of planned module instances (-want +got):\n%s", diff)
	}
	single := strings.NewReplacer("MODULE", "1", "  count  = 2\n", "").Replace(main)
	want = []string{"module.m.t_x.in.id", "module.m.t_x.in.v", "t_x.a.id"}
	if diff := cmp.Diff(want, relevantTexts(t, &plan.Plan{}, single, module)); diff != "" {
		t.Errorf("outputs of a module without keys (-want +got):\n%s", diff)
	}
}

// TestRelevantToOutputs looks at the outputs of the root module that change.
func TestRelevantToOutputs(t *testing.T) {
	const main = "resource \"t_x\" \"a\" {\n}\noutput \"o\" {\n  value = t_x.a.id\n}\n"
	for action, want := range map[plan.Action][]string{plan.Update: {"t_x.a.id"}, plan.NoOp: nil} {
		p := &plan.Plan{Outputs: []*plan.OutputChange{{Name: "o", Action: action}}}
		if diff := cmp.Diff(want, relevantTexts(t, p, main, "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", action, diff)
		}
	}
}

// TestRelevantToDestruction counts the data sources of the state, whose results go with it.
func TestRelevantToDestruction(t *testing.T) {
	const main = "resource \"t_x\" \"a\" {\n}\ndata \"t_x\" \"d\" {\n  v = t_x.a.id\n}\n"
	base := state.New()
	base.SetObject(addr.Object{Instance: creation(t, "data.t_x.d").Addr}, &state.Object{}, addr.ProviderConfig{})
	for mode, want := range map[plan.Mode][]string{plan.Destroy: {"t_x.a.id"}, plan.Normal: nil} {
		if diff := cmp.Diff(want, relevantTexts(t, &plan.Plan{Mode: mode, Base: base}, main, "")); diff != "" {
			t.Errorf("mode %d (-want +got):\n%s", mode, diff)
		}
	}
}
