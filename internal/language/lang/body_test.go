package lang

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// ruleBlock has attributes, blocks within blocks, labelled blocks, and an attribute that may be written as
// blocks.
func ruleBlock() *schema.Block {
	attrs := func(names ...string) map[string]*schema.Attribute {
		all := map[string]*schema.Attribute{}
		for _, n := range names {
			all[n] = &schema.Attribute{Type: cty.String, Optional: true}
		}
		return all
	}
	b := &schema.Block{Attributes: attrs("a", "b")}
	b.Attributes["legacy"] = &schema.Attribute{Type: cty.List(cty.Object(map[string]cty.Type{"x": cty.String})), Optional: true}
	inner := &schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: attrs("v")}}
	b.Blocks = map[string]*schema.NestedBlock{
		"rule": {Nesting: schema.List, Block: schema.Block{Attributes: attrs("v", "w"), Blocks: map[string]*schema.NestedBlock{"inner": inner}}},
		"zone": {Nesting: schema.Map, Block: schema.Block{Attributes: attrs("v")}},
	}
	return b
}

func bodyRefs(t *testing.T, body hcl.Body) []string {
	t.Helper()
	exprs, diags := CompileBody(body, ruleBlock())
	if len(diags) > 0 {
		t.Fatal(diags.Err())
	}
	var all []string
	for _, x := range exprs {
		all = append(all, describeAll(x.Refs)...)
	}
	return all
}

func TestCompileBody(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string
	}{
		{"attributes", "b = var.b\na = t.n[each.key].id", []string{"t.n [<each.key>] .id", "each.key", "var.b"}},
		{"constants", "a = 1\nrule { \n v = \"x\" \n }", nil},
		{"what the schema doesn't know", "other = var.x\nunknown { \n v = var.y \n }", nil},
		{"blocks", "rule { \n v = var.v1 \n inner { \n v = var.deep \n } \n }\nrule { \n w = var.w2 \n }", []string{"var.v1", "var.deep", "var.w2"}},
		{"labelled blocks", "zone \"east\" { \n v = var.z \n }", []string{"var.z"}},
		{"attribute as attribute", "legacy = [{ x = var.x }]", []string{"var.x"}},
		{"attribute as blocks", "legacy { \n x = var.x \n }\nlegacy { \n x = var.y \n }", []string{"var.x", "var.y"}},
		{"dynamic", `
			dynamic "rule" {
			  for_each = t.n
			  content {
			    v = rule.value.x
			    w = "${t.m[rule.key].id} ${t.m["k"].id}"
			    inner {
			      v = rule.key == "" ? var.a : each.key
			    }
			  }
			}`, []string{"t.n", "t.m", `t.m ["k"] .id`, "var.a", "each.key"}},
		{"dynamic with iterator and labels", `
			dynamic "zone" {
			  for_each = var.zones
			  iterator = it
			  labels   = [it.key, local.suffix]
			  content {
			    v = "${it.value} ${zone.other.id}"
			  }
			}`, []string{"var.zones", "local.suffix", "zone.other .id"}},
		{"dynamic in dynamic", `
			dynamic "rule" {
			  for_each = var.rules
			  content {
			    dynamic "inner" {
			      for_each = rule.value.inners
			      iterator = each
			      content {
			        v = "${rule.key} ${each.value} ${var.x}"
			      }
			    }
			    v = inner.x.y
			  }
			}`, []string{"var.rules", "inner.x .y", "var.x"}},
		{"dynamic for an attribute as blocks", `
			dynamic "legacy" {
			  for_each = var.l
			  content {
			    x = "${legacy.value} ${local.y}"
			  }
			}`, []string{"var.l", "local.y"}},
		{"dynamic of something unknown", "dynamic \"nothing\" { \n for_each = var.l \n content { \n v = var.v \n } \n }", []string{"var.l"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file, diags := hclsyntax.ParseConfig([]byte(test.src), "t.tf", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			for range 5 { // the order is always the same
				if diff := cmp.Diff(test.want, bodyRefs(t, file.Body)); diff != "" {
					t.Fatalf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

func TestCompileBodyJSON(t *testing.T) {
	src := `{
		"a": "${var.a}",
		"rule": [{"v": "${t.n[each.key].id}", "inner": {"v": "${local.deep}"}}],
		"zone": {"east": {"v": "${var.z}"}},
		"dynamic": {"rule": {"for_each": "${var.rules}", "content": {"v": "${rule.value} ${var.in}"}}}
	}`
	file, diags := json.Parse([]byte(src), "t.tf.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := map[string]bool{}
	for _, r := range bodyRefs(t, file.Body) {
		got[r] = true
	}
	want := map[string]bool{"var.a": true, "t.n": true, "each.key": true, "local.deep": true, "var.z": true, "var.rules": true, "var.in": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCompileBodyReportsBadReferences(t *testing.T) {
	file, diags := hclsyntax.ParseConfig([]byte("a = var\nrule { \n v = each.x \n }\ndynamic \"rule\" { \n for_each = local \n content { \n v = rule \n } \n }"), "t.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	_, got := CompileBody(file.Body, ruleBlock())
	var at []int
	for _, d := range got {
		at = append(at, d.Subject.Start.Line)
	}
	if diff := cmp.Diff([]int{1, 3, 6}, at); diff != "" {
		t.Errorf("lines of errors (-want +got)\n%s", diff)
	}
}

func FuzzCompile(f *testing.F) {
	for _, src := range []string{
		`t.n[each.key].id`, `[for k, v in t.n : t.m[k][v].x if v != k]`, `"${module.m[*].o} %{ for a in var.b }${a}%{ endfor }"`, `provider::a::b(data.t.n.0.x...)`,
		`t.n[1.5]`, `var[null]`, `{ (t.n[t.m[t.o]]) = each }`, `t.n[-1]["${x}"]`, "<<E\n${self.a}\nE\n", `(t)[0].*.b[*]`,
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
		if diags.HasErrors() {
			return
		}
		x, found := Compile(e, "it")
		if len(x.Refs) > len(e.Variables()) {
			t.Errorf("%d references from %d traversals", len(x.Refs), len(e.Variables()))
		}
		for _, r := range x.Refs {
			if r.Invalid && len(found) == 0 {
				t.Errorf("%s is invalid, without an error", describe(r))
			}
			if r.Range.End.Byte > len(src) || r.Range.Start.Byte >= r.Range.End.Byte || describe(r) == "" {
				t.Errorf("%s at %s", describe(r), r.Range)
			}
			if r.Root == "it" {
				t.Error("a name in scope is a reference")
			}
		}
	})
}
