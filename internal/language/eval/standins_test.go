package eval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// standInTexts evaluates the password of a thing that is made of values which exist no more, in each form
// that the expression accepts.
func standInTexts(t *testing.T, expr, version string) (texts []string, made bool) {
	t.Helper()
	w := planned(t, replaceExpr(`
locals { secret = sim_only.made }
resource "sim_only" "made" {}
resource "sim_thing" "user" { password_wo = EXPR }
`, expr))
	block := newKitSchemas().objects["managed sim_only"].Block
	w.run.opt.Result = func(task *future.Task, in *Instance) cty.Value {
		if in.Addr().Resource.Type != "sim_only" {
			return w.host.Result(task, in)
		}
		attrs := map[string]cty.Value{}
		for name, a := range block.Attributes {
			attrs[name] = cty.NullVal(a.Type)
			if name != "id" && name != "password_wo" {
				attrs[name] = cty.UnknownVal(a.Type).Mark(value.Ephemeral).Mark(value.Computed{By: "sim_only.made." + name, Version: version, Past: true})
			}
		}
		attrs["rule"], attrs["zone"] = cty.ListValEmpty(cty.DynamicPseudoType), cty.SetValEmpty(cty.DynamicPseudoType)
		return cty.ObjectVal(attrs)
	}
	in := w.instance("sim_thing.user")
	in.Prepare(w.task)
	whole := func(v cty.Value) bool { return v.GetAttr("password_wo").IsWhollyKnown() }
	for _, got := range StandIns(w.task, in, NewOpened(nil), whole, nil) {
		texts = append(texts, show(got.Value.GetAttr("password_wo")))
		for _, part := range got.Of {
			made = made || part.Version == version
		}
	}
	w.clean()
	return texts, made
}

// TestStandIns has expressions that are made of values of all forms: they are the same as long as everything
// in them is, and each change of another value in them is noticed.
func TestStandIns(t *testing.T) {
	for _, row := range []struct {
		expr  string
		other string // the expression with another value in it, "" for none
		forms int    // different ones of the value
	}{
		{`upper(sim_only.made.token)`, `lower(sim_only.made.token)`, 1},
		{`"a-${local.secret.token}"`, `"b-${local.secret.token}"`, 1},
		{`tostring(sim_only.made.n + 1)`, `tostring(sim_only.made.n + 2)`, 1},
		{`sim_only.made.list[0]`, `sim_only.made.list[1]`, 1},
		{`sim_only.made.list[3]`, `sim_only.made.list[2]`, 1},
		{`one(sim_only.made.list)`, ``, 1},
		{`join(",", local.secret.list)`, `join(";", local.secret.list)`, 5},
		{`length(local.secret.list) > 3 ? "many" : "few"`, `length(local.secret.list) > 3 ? "more" : "few"`, 2},
		{`length(local.secret.list) > 3 ? "many" : "few"`, `length(local.secret.list) > 3 ? "many" : "less"`, 2},
		{`sim_only.made.tags["k"]`, `sim_only.made.tags["l"]`, 1},
		{`local.secret.tags.k`, `local.secret.tags.l`, 1},
		{`"${local.secret.tags.k}-${local.secret.tags["l"]}"`, `"${local.secret.tags.l}-${local.secret.tags["k"]}"`, 1},
		{`jsonencode(sim_only.made.tags)`, `jsonencode(keys(sim_only.made.tags))`, 5},
		{`sim_only.made.flag ? "on" : "off"`, `sim_only.made.flag ? "yes" : "off"`, 2},
		{`sim_only.made.flag ? "on" : "off"`, `sim_only.made.flag ? "on" : "no"`, 2},
		{`sim_only.made.flag ? sim_only.made.list[0] : null`, `sim_only.made.flag ? null : sim_only.made.list[0]`, 2},
	} {
		texts, made := standInTexts(t, row.expr, "v1")
		again, _ := standInTexts(t, row.expr, "v1")
		forms := map[string]bool{}
		for _, text := range texts {
			forms[text] = true
		}
		if len(forms) != row.forms || !made || fmt.Sprint(texts) != fmt.Sprint(again) {
			t.Errorf("%s: got %v, then %v, made of the version: %t; want %d forms, and the same again", row.expr, texts, again, made, row.forms)
		}
		if row.other == "" {
			continue
		}
		if other, _ := standInTexts(t, row.other, "v1"); len(other) == 0 || fmt.Sprint(other) == fmt.Sprint(texts) {
			t.Errorf("%s: got %v, the same as for %s", row.other, other, row.expr)
		}
	}
}

// TestStandInsThatCannotBe has expressions which accept no value that stands in for another.
func TestStandInsThatCannotBe(t *testing.T) {
	for _, expr := range []string{
		`jsondecode(sim_only.made.token).a`, `sim_only.made.list[16]`, `sim_only.made.tags[upper("k")]`, `sim_only.made.flag ? "on" : jsondecode("")`,
	} {
		if texts, _ := standInTexts(t, expr, "v1"); len(texts) > 0 {
			t.Errorf("%s: got %v", expr, texts)
		}
	}
	for expr, version := range map[string]string{`"${sim_only.made.any}"`: "v1", `sim_only.made.token`: "", `sim_only.made.list[0]`: ""} {
		texts, _ := standInTexts(t, expr, version)
		if len(texts) == 0 || slices.ContainsFunc(texts, func(text string) bool { return text != "unknown" }) {
			t.Errorf("%s: got %v, want unknown values, as nothing says what stands in", expr, texts)
		}
	}
}
