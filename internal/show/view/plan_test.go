package view

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

func planText(t testing.TB, p *plan.Plan, s document.Schemas, o Options) string {
	t.Helper()
	var buf bytes.Buffer
	if err := Plan(&buf, p, nil, s, o); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// A plan without actions has no legend of their symbols, and no empty line in its place.
func TestPlanThatOnlyImports(t *testing.T) {
	obj := fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")}))
	p := &plan.Plan{Changes: []*plan.Change{{Addr: fixture.Instance(t, "t.x"), Action: plan.NoOp, Before: obj, After: obj, Importing: &plan.Importing{ID: "1"}}}}
	if got := planText(t, p, nil, Options{Width: 78}); strings.Contains(got, "\n\n\n") || strings.HasPrefix(got, "\n\n") || !strings.Contains(got, "will be imported") {
		t.Errorf("got %q", got)
	}
}

func TestPlanColourOnlyAddsEscapes(t *testing.T) {
	schemas := fixture.LoadSchemas(t)
	for _, name := range []string{"create", "update", "mixed", "free", "actions"} {
		p := fixture.Plan(t, name+".plan.json", schemas)
		plainText := planText(t, p, schemas, Options{Width: 78})
		coloured := planText(t, p, schemas, Options{Width: 78, Color: true})
		if !strings.Contains(coloured, "\x1b[32m+") && !strings.Contains(coloured, "\x1b[33m~") {
			t.Errorf("%s: no colours", name)
		}
		if diff := cmp.Diff(plainText, ansi.Strip(coloured)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPlanShowSensitive(t *testing.T) {
	schemas := fixture.LoadSchemas(t)
	p := fixture.Plan(t, "create.plan.json", schemas)
	if strings.Contains(planText(t, p, schemas, Options{}), "hunter2") {
		t.Error("a sensitive value is shown")
	}
	shown := planText(t, p, schemas, Options{ShowSensitive: true})
	if !strings.Contains(shown, "hunter2") || strings.Contains(shown, "sensitive value") {
		t.Errorf("a sensitive value is not shown:\n%s", shown)
	}
}

func TestPlanWithoutChanges(t *testing.T) {
	drift := &plan.Change{
		Addr: fixture.Instance(t, "a_b.c"), Action: plan.Update,
		Before: fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1"), "x": cty.StringVal("old")})),
		After:  fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1"), "x": cty.StringVal("new")})),
	}
	moved := &plan.Change{Addr: fixture.Instance(t, "a_b.c"), PrevAddr: fixture.Instance(t, "a_b.old"), Action: plan.NoOp, Before: drift.Before, After: drift.Before}
	later := &plan.OutputChange{Name: "x", Action: plan.Create, After: fixture.Seal(t, cty.UnknownVal(cty.String))}
	var sb strings.Builder
	for _, p := range []*plan.Plan{
		{},
		{Mode: plan.RefreshOnly},
		{Mode: plan.Destroy},
		{Errored: true},
		{Drift: []*plan.Change{drift}}, // without a configuration, any may be relevant
		{Drift: []*plan.Change{drift}, Mode: plan.RefreshOnly},
		{Drift: []*plan.Change{moved}, Mode: plan.RefreshOnly, Outputs: []*plan.OutputChange{later}},
		{Outputs: []*plan.OutputChange{later}},
		{Drift: []*plan.Change{drift}, Changes: []*plan.Change{{
			Addr: fixture.Instance(t, "a_b.d"), Action: plan.Create, After: drift.After,
			Deps: []plan.Dep{{Resource: drift.Addr.Abs(), All: true}},
		}}},
	} {
		sb.WriteString("==========\n" + planText(t, p, nil, Options{Width: 78}))
	}
	for _, path := range []string{"", "tf.plan"} {
		sb.WriteString("==========\n")
		p := &plan.Plan{Mode: plan.Destroy}
		if path != "" {
			p.Deferrals = fixture.Deferring(t).Deferrals
		}
		if err := PlanFooter(&sb, p, path, "", Options{Width: 78}); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "nochanges.txt", sb.String())
}

func TestPlanHeadings(t *testing.T) {
	obj := fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")}))
	other := fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("2")}))
	change := func(address string, a plan.Action, r plan.Reason) *plan.Change {
		c := &plan.Change{Addr: fixture.Instance(t, address), Action: a, Reason: r, Before: obj, After: other}
		switch a {
		case plan.Create, plan.Read:
			c.Before = value.Durable{}
		case plan.Delete, plan.Forget:
			c.After = value.Durable{}
		}
		return c
	}
	p := &plan.Plan{}
	add := func(c *plan.Change) *plan.Change {
		p.Changes = append(p.Changes, c)
		return c
	}
	for _, r := range []plan.Reason{plan.ReplaceTainted, plan.ReplaceRequested, plan.ReplaceTriggered, plan.ReplaceCannotUpdate} {
		add(change("t_x.replaced", plan.DeleteThenCreate, r))
	}
	for _, r := range []plan.Reason{plan.DeleteNoConfig, plan.DeleteNoModule, plan.DeleteRepetition, plan.DeleteCountIndex, plan.DeleteDisabled} {
		add(change("module.m.t_x.gone[1]", plan.Delete, r))
	}
	add(change(`t_x.gone["k"]`, plan.Delete, plan.DeleteEachKey))
	add(change(`t_x.gone["k"]`, plan.Delete, plan.DeleteRepetition))
	add(change("t_x.gone", plan.Delete, plan.DeleteRepetition))
	add(change("t_x.gone", plan.Delete, plan.DeleteNoMoveTarget)).PrevAddr = fixture.Instance(t, "t_x.was")
	add(change("t_x.left", plan.Delete, plan.NoReason)).Deposed = "0123abcd"
	for _, r := range []plan.Reason{plan.ReadConfigUnknown, plan.ReadDependency, plan.ReadCheckNested} {
		add(change("data.t_x.read", plan.Read, r))
	}
	add(change("t_x.moved", plan.Update, plan.NoReason)).PrevAddr = fixture.Instance(t, "t_x.was")
	add(change("t_x.imported", plan.Update, plan.NoReason)).Importing = &plan.Importing{ID: "abc"}
	c := add(change("t_x.imported", plan.CreateThenDelete, plan.ReplaceCannotUpdate))
	c.Importing, c.GeneratedConfig = &plan.Importing{Identity: obj}, "resource"
	add(change("t_x.forgotten", plan.Forget, plan.DeleteNoConfig))
	add(change("t_x.forgotten", plan.Forget, plan.DeleteNoMoveTarget)).PrevAddr = fixture.Instance(t, "t_x.was")
	add(change("t_x.kept", plan.Forget, plan.ForgetInConfig))
	add(change("t_x.kept_before", plan.Forget, plan.ForgetInState))
	add(change("t_x.left", plan.ForgetThenCreate, plan.ReplaceCannotUpdate))
	golden(t, "headings.txt", planText(t, p, nil, Options{Width: 78}))
}

type oneSchema struct{ block *schema.Block }

func (s oneSchema) Resource(addr.Provider, addr.Mode, string) *schema.Schema {
	return &schema.Schema{Block: s.block}
}

func TestE63_WriteOnlyInPlans(t *testing.T) {
	attrs := map[string]*schema.Attribute{
		"pw_wo": {Type: cty.String, Optional: true, WriteOnly: true}, "pw_wo_version": {Type: cty.Number, Optional: true},
	}
	block := &schema.Block{Attributes: attrs, Blocks: map[string]*schema.NestedBlock{
		"login": {Block: schema.Block{Attributes: attrs}, Nesting: schema.Map},
	}}
	object := func(version int64) cty.Value {
		fields := map[string]cty.Value{"pw_wo": cty.NullVal(cty.String), "pw_wo_version": cty.NumberIntVal(version)}
		login := cty.MapVal(map[string]cty.Value{"a": cty.ObjectVal(fields)})
		return cty.ObjectVal(map[string]cty.Value{"pw_wo": fields["pw_wo"], "pw_wo_version": fields["pw_wo_version"], "login": login})
	}
	p := &plan.Plan{Changes: []*plan.Change{
		{Addr: fixture.Instance(t, "t_x.create"), Action: plan.Create, After: fixture.Seal(t, object(1))},
		{Addr: fixture.Instance(t, "t_x.same"), Action: plan.NoOp, Before: fixture.Seal(t, object(1)), After: fixture.Seal(t, object(1))},
		{Addr: fixture.Instance(t, "t_x.update"), Action: plan.Update, Before: fixture.Seal(t, object(1)), After: fixture.Seal(t, object(2))},
		{
			Addr: fixture.Instance(t, "t_x.replace"), Action: plan.DeleteThenCreate, Before: fixture.Seal(t, object(1)), After: fixture.Seal(t, object(2)),
			RequiredReplace: []cty.Path{cty.GetAttrPath("pw_wo"), cty.GetAttrPath("login").IndexString("a").GetAttr("pw_wo_version")},
		},
		{Addr: fixture.Instance(t, "t_x.delete"), Action: plan.Delete, Before: fixture.Seal(t, object(1))},
	}}
	golden(t, "writeonly.txt", planText(t, p, oneSchema{block}, Options{Width: 78}))
}

func TestPlanControlCharactersAreHarmless(t *testing.T) {
	evil := "one\x1b]0;title\x07\ntwo\x1b[2Jthree\u202e"
	after := cty.ObjectVal(map[string]cty.Value{"lines": cty.StringVal(evil), "word": cty.StringVal("\x1b[31m"), "m": cty.MapVal(map[string]cty.Value{"k\x1b[0m": cty.True})})
	p := &plan.Plan{Changes: []*plan.Change{{Addr: fixture.Instance(t, "t_x.a"), Action: plan.Create, After: fixture.Seal(t, after)}}}
	if got := planText(t, p, nil, Options{}); strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Errorf("control characters came through: %q", got)
	}
}

func TestPlanSensitivityChange(t *testing.T) {
	sealed := func(mark bool) value.Durable {
		v := cty.StringVal("q")
		if mark {
			v = v.Mark(value.Sensitive)
		}
		return fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"x": v}))
	}
	p := &plan.Plan{Changes: []*plan.Change{
		{Addr: fixture.Instance(t, "t_x.hide"), Action: plan.Update, Before: sealed(false), After: sealed(true)},
		{Addr: fixture.Instance(t, "t_x.show"), Action: plan.Update, Before: sealed(true), After: sealed(false)},
	}}
	golden(t, "sensitivity.txt", planText(t, p, nil, Options{Width: 78})+planText(t, p, nil, Options{Width: 78, ShowSensitive: true}))
}

func TestPlanBlocksKnownLaterAndSecret(t *testing.T) {
	inner := func(n schema.Nesting) *schema.NestedBlock {
		return &schema.NestedBlock{Nesting: n, Block: schema.Block{Attributes: map[string]*schema.Attribute{"a": {Type: cty.String, Optional: true}}}}
	}
	block := &schema.Block{Blocks: map[string]*schema.NestedBlock{
		"later": inner(schema.List), "secret": inner(schema.List), "one": inner(schema.Single),
	}}
	elem := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("hunter2")})
	list := cty.ListVal([]cty.Value{elem})
	after := cty.ObjectVal(map[string]cty.Value{
		"later": cty.UnknownVal(list.Type()), "secret": list.Mark(value.Sensitive), "one": cty.UnknownVal(elem.Type()),
	})
	p := &plan.Plan{Changes: []*plan.Change{{Addr: fixture.Instance(t, "t_x.a"), Action: plan.Create, After: fixture.Seal(t, after)}}}
	got := planText(t, p, oneSchema{block}, Options{})
	want := `  + resource "t_x" "a" {
      + later (known after apply)

      + one (known after apply)

      + secret {
          # At least one attribute in this block is (or was) sensitive,
          # so its contents will not be displayed.
        }
    }
`
	if !strings.Contains(got, want) {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// TestUnusedExtensions leaves out what other engines don't have unless it is used: by the schema, whatever
// the names of the attributes.
func TestUnusedExtensions(t *testing.T) {
	schemaOf := func(extension bool) *schema.Block {
		return &schema.Block{Attributes: map[string]*schema.Attribute{
			"id":       {Type: cty.String, Computed: true},
			"input_wo": {Type: cty.String, Optional: true, WriteOnly: true, Extension: extension}, "input_wo_version": {Type: cty.Number, Optional: true, Extension: extension},
			"other_wo": {Type: cty.String, Optional: true, WriteOnly: true},
		}}
	}
	object := func(version cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{
			"id": cty.StringVal("x"), "input_wo": cty.NullVal(cty.String), "input_wo_version": version, "other_wo": cty.NullVal(cty.String),
		})
	}
	unset, unknown := cty.NullVal(cty.Number), cty.UnknownVal(cty.Number)
	for _, test := range []struct {
		extension     bool
		before, after cty.Value
		shown         bool
	}{
		{true, unset, unset, false},
		{true, unset, unknown, true},
		{true, cty.NumberIntVal(1), unset, true},
		{true, unset, cty.NumberIntVal(1), true},
		{false, unset, unset, true}, // another provider's type with attributes of these names
	} {
		body := differ{}.block(schemaOf(test.extension), object(test.before), object(test.after), nil).body.(nested)
		has := func(name string) bool {
			return slices.ContainsFunc(body.attrs, func(a named) bool { return a.name == name })
		}
		if has("input_wo") != test.shown || !has("other_wo") {
			t.Errorf("%#v to %#v: got input_wo %t, other_wo %t, want %t, true", test.before, test.after, has("input_wo"), has("other_wo"), test.shown)
		}
	}
}

// TestScopeOfPlans says how far a plan of changes has gone, and claims nothing about the rest.
func TestScopeOfPlans(t *testing.T) {
	for name, test := range map[string]struct {
		extent  *plan.Extent
		errored bool
		want    string
		not     string
	}{
		"no plan of changes": {nil, false, "found the real objects to be", "Scope"},
		"changes":            {&plan.Extent{Objects: 9, Evaluated: 2, Rows: 5}, false, "Scope: 2 evaluated, of 9 objects in the state; 5 rows read.", "found the real objects to be"},
		"new objects":        {&plan.Extent{Objects: 9, Evaluated: 2, New: 1, Rows: 5}, false, "Scope: 2 evaluated, of 9 objects in the state, and 1 new; 5 rows read.\n", "found the real objects to be"},
		"collections":        {&plan.Extent{Objects: 9, Rows: 9, Collections: map[string]int{"t.b": 2, "t.a": 2, "t.c": 1, "t.d": 3}, Collected: 7}, false, "; 9 rows read, 7 of them because a resource is read as a whole: 3 of t.d, 2 of t.a, 2 of t.b, 1 other.", "t.c"},
		"no version":         {&plan.Extent{Objects: 9, Unversioned: []string{"a/b/c", "a/b/d"}}, false, "Each plan evaluates all objects of a/b/c and of a/b/d: a provider under", "found the real objects to be"},
		"many objects":       {&plan.Extent{Objects: state.MostCounted, Evaluated: 2, Rows: 5}, false, "of at least 100000 objects", "found the real objects to be"},
		"everything":         {&plan.Extent{Full: "objects move"}, false, "Scope: everything, because objects move.", "has not asked"},
		"errors":             {&plan.Extent{Objects: 9}, true, "Planning failed", "Scope"},
	} {
		got := planText(t, &plan.Plan{Extent: test.extent, Errored: test.errored}, nil, Options{Width: 200})
		if !strings.Contains(got, test.want) || strings.Contains(got, test.not) {
			t.Errorf("%s: got %q, want %q and not %q", name, got, test.want, test.not)
		}
	}
}

// TestScopeInStreams has a message about the scope of a plan of changes only.
func TestScopeInStreams(t *testing.T) {
	for _, extent := range []*plan.Extent{nil, {Objects: 9, Evaluated: 2, Rows: 5}, {Full: "objects move"}} {
		var buf bytes.Buffer
		s := NewJSONStream(&buf, time.Now)
		s.Plan(&plan.Plan{Extent: extent})
		text := buf.String()
		if got := strings.Contains(text, `"type":"plan_scope"`); got != (extent != nil) {
			t.Errorf("extent %+v: got a message about the scope: %v, want %v", extent, got, extent != nil)
		}
		if extent.Partial() && !strings.Contains(text, `"scope":{"mode":"changed","evaluated":2,"objects":9,"new":0,"rows_read":5}`) || extent != nil && extent.Full != "" && !strings.Contains(text, `"scope":{"mode":"all","reason":"objects move"}`) {
			t.Errorf("extent %+v: got %s, want its numbers or its reason", extent, text)
		}
	}
}
