package view

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestRelevantDrift shows of objects that changed outside what something that changes refers to.
func TestRelevantDrift(t *testing.T) {
	thing := func(v, k string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{
			"id": cty.StringVal("1"), "v": cty.StringVal(v), "w": cty.MapVal(map[string]cty.Value{"k": cty.StringVal(k), "l": cty.StringVal(k)}),
			"part": cty.ListValEmpty(cty.Object(map[string]cty.Type{"p": cty.String})),
		})
	}
	drift := func(address string, after value.Durable) *plan.Change {
		c := &plan.Change{Addr: fixture.Instance(t, address), Action: plan.Update, Before: fixture.Seal(t, thing("old", "old")), After: after}
		if after.IsNull() {
			c.Action = plan.Delete
		}
		return c
	}
	changed, gone := fixture.Seal(t, thing("new", "new")), value.Durable{}
	attribute := func(address string, path cty.Path) []plan.RelevantAttribute {
		return []plan.RelevantAttribute{{Instance: fixture.Instance(t, address), Path: path}}
	}
	for _, c := range []struct {
		name     string
		relevant []plan.RelevantAttribute
		drift    *plan.Change
		own      plan.Action // of the object that changed outside
		want     []string
	}{
		{"nothing refers to it", nil, drift("t_x.a", changed), plan.Update, nil},
		{"its deletion", nil, drift("t_x.a", gone), plan.Create, nil},
		{"an attribute that did not change", attribute("t_x.a", cty.GetAttrPath("id")), drift("t_x.a", changed), plan.NoOp, nil},
		{"one attribute", attribute("t_x.a", cty.GetAttrPath("v")), drift("t_x.a", changed), plan.NoOp, []string{`~ v = "old" -> "new"`}},
		{"an element", attribute("t_x.a", cty.GetAttrPath("w").IndexString("k")), drift("t_x.a", changed), plan.NoOp, []string{`~ w = {`, `~ "k" = "old" -> "new"`}},
		{"an element of what is gone", attribute("t_x.a", cty.GetAttrPath("w").IndexString("k")), drift("t_x.a", gone), plan.Create, []string{`- w = {`, `- "k" = "old"`, `- "l" = "old"`}},
		{"an attribute of what is gone", attribute("t_x.a", cty.GetAttrPath("id")), drift("t_x.a", gone), plan.Create, []string{`- id = "1" -> null`}},
		{"the whole", attribute("t_x.a", nil), drift("t_x.a", changed), plan.NoOp, []string{`~ v = "old" -> "new"`, `~ w = {`, `~ "k" = "old" -> "new"`, `~ "l" = "old" -> "new"`}},
		{"the same instance", attribute("t_x.c[1]", cty.GetAttrPath("v")), drift("t_x.c[1]", changed), plan.NoOp, []string{`~ v = "old" -> "new"`}},
		{"another instance", attribute("t_x.c[0]", cty.GetAttrPath("v")), drift("t_x.c[1]", changed), plan.NoOp, nil},
		{"all instances", attribute("t_x.c", nil), drift("t_x.c[1]", changed), plan.NoOp, []string{
			`~ v = "old" -> "new"`, `~ w = {`, `~ "k" = "old" -> "new"`, `~ "l" = "old" -> "new"`,
		}},
	} {
		p := &plan.Plan{Drift: []*plan.Change{c.drift}, Changes: []*plan.Change{
			{Addr: c.drift.Addr, Action: c.own, Before: c.drift.Before, After: c.drift.Before}, {Addr: fixture.Instance(t, "t_x.b"), Action: plan.Create, After: changed},
		}}
		for _, change := range slices.Concat(p.Drift, p.Changes) {
			change.Provider.Provider = addr.DefaultProvider("t")
		}
		var buf bytes.Buffer
		if err := Plan(&buf, p, func() []plan.RelevantAttribute { return c.relevant }, thingSchemas(), Options{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		if _, note, there := strings.Cut(buf.String(), "Objects have changed outside"); there {
			note, _, _ = strings.Cut(note, "Unless you have made")
			for line := range strings.Lines(note) {
				line = strings.Join(strings.Fields(line), " ")
				if strings.HasPrefix(line, "~ ") || strings.HasPrefix(line, "- ") {
					got = append(got, line)
				}
			}
			got = got[1:] // the block's first line
		}
		got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "- }") })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q\n%s", c.name, got, c.want, buf.String())
		}
	}
}

// thingSchemas know the types t_x and data t_x.
func thingSchemas() fixture.Schemas {
	attrs := map[string]*schema.Attribute{
		"id": {Type: cty.String, Computed: true}, "v": {Type: cty.DynamicPseudoType, Optional: true}, "w": {Type: cty.Map(cty.String), Optional: true},
	}
	inner := schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"p": {Type: cty.String, Optional: true}}}}
	types := map[string]*schema.Schema{"t_x": {Block: &schema.Block{Attributes: attrs, Blocks: map[string]*schema.NestedBlock{"part": &inner}}}}
	return fixture.Schemas{"registry.opentofu.org/hashicorp/t": {Resources: types, Data: types}}
}
