package eval

import (
	"maps"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// randomPassword draws a configuration of things, each of which has a password made of a part of a random
// value or of the whole.
func randomPassword(rt *rapid.T) string {
	source := rapid.SampledFrom([]string{`local.r`, `local.n`, `module.p.same`, `module.p.typed`, `module.p.loose`, `sim_only.a`, `module.each`}).Draw(rt, "source")
	password := rapid.SampledFrom([]string{
		`S[each.key].token`,
		`lookup(S, each.key, { token = "none" }).token`,
		`try(S[each.key].token, "none")`,
		`join(",", values(S)[*].token)`,
		`jsonencode(S)`,
		`jsonencode([S, local.r, module.each])`,
		`[for k, v in S : v.token if k == each.key][0]`,
		`element(values(S), length(each.key)).token`,
		`jsondecode(S[each.key].token)`,
		`length(S) > 2 ? S["k1"].token : each.key`,
		`"${each.key}-${jsonencode([for k, v in S : v.id])}"`,
	}).Draw(rt, "password")
	password = strings.ReplaceAll(password, "S", source)
	x := func() string { return randomElements(rt, rapid.IntRange(0, 2).Draw(rt, "depth")) }
	return configOfTokens + `
resource "sim_thing" "user" {
  for_each    = toset(["k0", "k1", "x"])
  password_wo = ` + password + `
}
locals {
  r = ` + x() + `
  n = merge(local.r, { for k, v in local.r : k => { token = "${v.token}.", id = v.id } if k != "k1" })
  l = { for k, v in sim_only.a : k => { token = v.token, id = v.id } }
}
module "p" {
  source = "./m"
  v      = ` + x() + `
  typed  = local.r
  loose  = local.n
}
module "each" {
  for_each = sim_only.a
  source   = "./each"
  v        = each.value
}
` + childOfTokens + `
-- each/main.tf --
variable "v" {}
output "token" { value = var.v.token }
output "id" { value = var.v.id }
`
}

// TestValuesAreThoseOfTheWhole goes over random expressions. All instances of one run get the configuration
// that each would get by itself in a run that keeps nothing, with marks, types and errors, whatever is
// dropped meanwhile; and so they do of the values that stand in for others.
func TestValuesAreThoseOfTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := randomPassword(rt)
		cfg, diags := compile(t, text)
		if diags.HasErrors() {
			rt.Skip("not valid")
		}
		past := map[string]bool{"k0": rapid.Bool().Draw(rt, "k0 is past"), "k1": rapid.Bool().Draw(rt, "k1 is past")}
		phase := rapid.SampledFrom([]Phase{Applying, Applying, Planning}).Draw(rt, "phase")
		keep := rapid.SampledFrom([]func(value.Computed) bool{nil, func(c value.Computed) bool { return strings.Contains(c.By, "k0") }}).Draw(rt, "keep")
		standIns := rapid.IntRange(0, 3).Draw(rt, "stand-ins") == 0
		l, reported := newLenders(t, cfg, phase, past), map[string]struct{}{}
		users, _ := l.run.Root.resources[l.resource("sim_thing.user")].Instances(l.task)
		for _, in := range rapid.Permutation(users).Draw(rt, "order") {
			if rapid.IntRange(0, 3).Draw(rt, "drop") == 0 {
				DropLent(l.instance(`sim_only.a["k2"]`))
			}
			alone := newLenders(t, cfg, phase, past)
			for _, of := range []string{`sim_only.a["k0"]`, `sim_only.b["x"]`} {
				DropLent(alone.instance(of))
			}
			got, errors := bodyOf(l, in)
			want, wantErrors := bodyOf(alone, alone.instance(in.String()))
			if !got.RawEquals(want) || errors != wantErrors {
				rt.Errorf("%s\n%s: got %#v %s, want %#v %s", text, in, got, errors, want, wantErrors)
			}
			if standIns {
				if got, want := standInsOf(l, in, keep), standInsOf(alone, alone.instance(in.String()), keep); got != want {
					rt.Errorf("%s\n%s: got the stand-ins\n%s\nwant\n%s", text, in, got, want)
				}
			}
			maps.Copy(reported, reportedBy(alone))
		}
		if got := reportedBy(l); !maps.Equal(got, reported) {
			rt.Errorf("%s\ngot the diagnostics %v, want %v", text, got, reported)
		}
	})
}

// bodyOf evaluates the configuration of an instance, and returns it with its errors.
func bodyOf(l *lenders, in *Instance) (cty.Value, string) {
	in.Prepare(l.task)
	o := &lend{lenders: l}
	o.opened = NewOpened(o)
	v, diags := in.EvalBody(l.task, o.opened)
	return v, lines(diags)
}

// reportedBy returns the diagnostics of a run.
func reportedBy(l *lenders) map[string]struct{} {
	out := map[string]struct{}{}
	for _, d := range l.run.Diags.List() {
		out[lines(diag.List{d})] = struct{}{}
	}
	return out
}
