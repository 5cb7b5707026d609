package eval

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/diag"
)

// Errors of evaluation come with advice, and with what collections are as a whole, whatever part of them was
// needed.
func TestErrorsAreExplained(t *testing.T) {
	const count = `"count" nor "for_each"`
	for _, c := range []struct{ expr, advice, statements string }{
		{`sim_thing.counted[3].name`, `sim_thing.counted has 3 instances: sim_thing.counted[0] to sim_thing.counted[2].`, `sim_thing.counted is tuple with 3 elements`},
		{`sim_thing.counted["x"].name`, `a number is required. sim_thing.counted has 3 instances: sim_thing.counted[0] to sim_thing.counted[2].`, `sim_thing.counted is tuple with 3 elements`},
		{`resource.sim_thing.counted[3].name`, `resource.sim_thing.counted has 3 instances: resource.sim_thing.counted[0] to resource.sim_thing.counted[2].`, `resource.sim_thing.counted is tuple with 3 elements`},
		{`sim_thing.none[0].name`, `sim_thing.none has no instances: its count is 0.`, `sim_thing.none is tuple with no elements`},
		{`sim_thing.keyed[0].name`, `sim_thing.keyed has for_each: its instances have names, such as sim_thing.keyed["a"].`, `sim_thing.keyed is object with 2 attributes`},
		{`sim_thing.keyed["aa"].name`, `Did you mean sim_thing.keyed["a"]?`, `sim_thing.keyed is object with 2 attributes`},
		{`sim_thing.counted[local.one + 4].name`, `sim_thing.counted has 3 instances: sim_thing.counted[0] to sim_thing.counted[2].`, `sim_thing.counted is tuple with 3 elements`},
		{`module.mc[2].out`, `module.mc has 2 instances: module.mc[0] to module.mc[1].`, `module.mc is tuple with 2 elements`},
		{`module.me["q"].out`, `module.me has for_each: its instances have names, such as module.me["x"].`, `module.me is object with 2 attributes`},
		{`module.m[0].out`, `module.m has neither ` + count + ` set, so references to it have no index: module.m.OUTPUT.`, ``},
		{`[for m in module.mc : m.outt]`, `Did you mean "out"?`, `module.mc is tuple with 2 elements`},
		{`sim_thing.off.name`, `If it may be null, write try(sim_thing.off.name, null).`, ``},
		{`{ ab = 1, b = 2 }.abb`, `Did you mean "ab"?`, ``},
		{`[1, 2][5]`, `The indexes are 0 to 1.`, ``},
		{`[1][5]`, `There is one element, with the index 0.`, ``},
		{`toset(["a"]).x`, `This value does not have any attributes.`, ``},
		{`tomap({ a = 1 })["q"]`, `Its only key is "a".`, ``},
		{`sensitive({ secret = 1 }).sekret`, ``, ``},
		{`"a" + var.v`, `To join text, write: "a${var.v}"`, ``},
		{`upper("a") + "$b"`, `To join text, write: "${A}${B}"`, ``},
		{`sensitive("secret") + 1`, `could reveal a part of a value: (sensitive value).`, ``},
		{`"a" < 1`, `Only numbers can be compared in this way.`, ``},
		{`local.one || 5`, `coalesce(local.one, 5).`, ``},
		{`"x ${[local.one]}"`, `To put its elements into the text: ${join(", ", VALUE)}.`, ``},
		{`"x ${{ a = 1 }}"`, `To put it into the text as JSON: ${jsonencode(VALUE)}.`, ``},
		{`"x ${sensitive(["secret"])}"`, `could reveal a part of a value: (sensitive value).`, ``},
		{`local.one ? 1 : 2`, `Compare it with something, as in local.one > 0.`, ``},
		{`[1] == [] ? 1 : null + 2`, ``, ``},
		{`[for i in 3 : i]`, `For the numbers below it: range(3).`, ``},
		{`max([1, 2])`, `To pass its elements as arguments: max(VALUE...).`, ``},
		{`upper(["a"])`, `To call it for every element: [for x in VALUE : upper(x)].`, ``},
		{`join(["a"], "b")`, `The arguments seem to be in the wrong order.`, ``},
		{`{ a = { n = 1 } }[*].n`, `For all of its elements: [for x in VALUE : x.n].`, ``},
		{`uper("a")`, `There is no function named "uper". Did you mean "upper"?`, ``},
		{`core::uper("a")`, `Did you mean core::upper?`, ``},
		{`terraform::encode_tfvars({})`, `Did you mean provider::terraform::encode_tfvars?`, ``},
		{`other::thing()`, `Functions of a provider are called as provider::PROVIDER::FUNCTION.`, ``},
		{`toset(["a"])[0]`, `To use indexes, make it a list: tolist(VALUE).`, ``},
		{`try(module.m.wrong, "x").y`, ``, ``},
	} {
		t.Run(c.expr, func(t *testing.T) {
			w := planned(t, replaceExpr(manyForms, c.expr))
			w.output("out")
			diags := w.run.Diags.List()
			if len(diags) != 1 {
				t.Fatalf("got:\n%s\nwant one diagnostic", lines(diags))
			}
			d := diags[0]
			if !strings.HasSuffix(d.Detail, c.advice) || strings.Contains(d.Detail, "secret") {
				t.Errorf("not advised: %s", d.Detail)
			}
			var statements []string
			for _, name := range slices.Sorted(maps.Keys(d.Statements)) {
				statements = append(statements, name+" "+d.Statements[name])
			}
			if diff := cmp.Diff(c.statements, strings.Join(statements, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What an expression refers to is found in its source, whatever evaluation made of it.
func TestErrorsHaveTheirReferences(t *testing.T) {
	for expr, want := range map[string]string{
		`sim_thing.counted[local.one + 4].name`:              `sim_thing.counted local.one`,
		`local.one ? 1 : []`:                                 `local.one`,
		`[for x in var.v : x]`:                               `var.v`,
		`!var.v`:                                             `var.v`,
		`element(var.v, local.one)`:                          `var.v local.one`,
		`{ (local.one) = 1, (null) = 2 }`:                    ``,
		`lookup({ a = local.one }, "b")`:                     `local.one`,
		`"${true ? sim_thing.counted[var.v].name : "none"}"`: `sim_thing.counted var.v`,
	} {
		w := planned(t, replaceExpr(manyForms, expr))
		w.output("out")
		diags := w.run.Diags.List()
		if len(diags) == 0 || diags[0].Expression == nil {
			t.Errorf("%s: got:\n%s", expr, lines(diags))
			continue
		}
		var refs []string
		for _, t := range diags[0].Expression.Variables() {
			refs = append(refs, diag.Reference(t))
		}
		if got := strings.Join(refs, " "); got != want {
			t.Errorf("%s: refers to %s, want %s", expr, got, want)
		}
	}
}

func TestGuardedOutputs(t *testing.T) {
	for expr, want := range map[string]string{
		`try(module.m.wrong, "x")`:             `"x"`,
		`can(module.m.wrong)`:                  `false`,
		`try(module.mc.out, "x")`:              `"x"`,
		`try([for m in module.mc : m.no], [])`: `[]`,
		`false ? module.m.wrong : "x"`:         `"x"`,
	} {
		w := planned(t, replaceExpr(manyForms, expr))
		if got := w.output("out"); got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
		w.clean()
	}
}
