package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const originText = `
variable "password" { ephemeral = true }
variable "user" { ephemeral = true }
variable "plain" { default = {} }
ephemeral "sim_secret" "s" {}
locals {
  inner  = "x${var.password}"
  url    = local.inner
  two    = "${local.url}${ephemeral.sim_secret.s.token}"
  creds  = { user = var.user, password = var.password, "deep" = { k = [1, ephemeral.sim_secret.s.token] } }
  copy   = local.creds
  nulled = "${ephemeralasnull(var.user)}${var.password}"
  keyed  = { (var.user) = 1, password = var.password }
  a      = "${var.password}${local.a1}"
  a1     = local.a2
  a2     = local.a3
  a3     = local.a4
  a4     = local.a5
  a5     = local.a6
  a6     = ephemeral.sim_secret.s.token
  wide   = "${var.password}${var.user}${ephemeral.sim_secret.s.token}${tofu.applying}${module.m.o}${module.m.given}"
  names  = [for k in keys(module.m.whole) : k]
}
module "m" {
  source = "./m"
  i      = local.url
  g      = "not ephemeral"
}
resource "sim_thing" "a" {
  EXPR
}
-- m/m.tf --
variable "i" { ephemeral = true }
variable "g" { ephemeral = true }
locals { mid = upper(var.i) }
output "o" {
  value     = local.mid
  ephemeral = true
}
output "given" {
  value     = var.g
  ephemeral = true
}
output "whole" {
  value     = { (var.i) = 1 }
  ephemeral = true
}
module "n" {
  source = "./n"
  j      = local.mid
}
output "deep" {
  value     = module.n.p
  ephemeral = true
}
-- m/n/n.tf --
variable "j" { ephemeral = true }
output "p" {
  value     = "${var.j}!"
  ephemeral = true
}
`

// The path of an ephemeral value is shown from its use to its sources.
func TestE3_Provenance(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{`var.password`, `var.password`},
		{`local.url`, `local.url ← local.inner ← var.password`},
		{`upper("${local.url}!")`, `local.url ← local.inner ← var.password`},
		{`local.two`, `local.two ← local.url ← local.inner ← var.password|local.two ← ephemeral.sim_secret.s`},
		{`"${var.user}${local.url}${local.inner}"`, `var.user|local.url ← local.inner ← var.password`},
		{`var.user == "" ? 1 : 2`, `var.user`},
		{`[for x in [1] : local.url][0]`, `local.url ← local.inner ← var.password`},
		{`local.creds.user`, `local.creds ← var.user`},
		{`local.creds["password"]`, `local.creds ← var.password`},
		{`local.creds.deep.k[1]`, `local.creds ← ephemeral.sim_secret.s`},
		{`local.copy.user`, `local.copy ← local.creds ← var.user|local.copy ← local.creds ← var.password|local.copy ← local.creds ← ephemeral.sim_secret.s`},
		{`local.keyed.password`, `local.keyed ← var.user|local.keyed ← var.password`},
		{`local.nulled`, `local.nulled ← var.password`},
		{`"${ephemeralasnull(var.user)}${var.password}"`, `var.password`},
		{`local.a1`, `local.a1 ← local.a2 ← local.a3 ← … ← local.a6 ← ephemeral.sim_secret.s`},
		{`local.wide`, `local.wide ← var.password|local.wide ← var.user|local.wide ← ephemeral.sim_secret.s|local.wide ← tofu.applying|and others`},
		{`module.m.o`, `module.m.o ← module.m.local.mid ← module.m.var.i ← local.url ← local.inner ← var.password`},
		{`module.m.given`, `module.m.given ← module.m.var.g`},
		{`module.m.deep`, `module.m.deep ← module.m.module.n.p ← module.m.module.n.var.j ← … ← local.inner ← var.password`},
		{`local.names[0]`, `local.names ← module.m.whole ← module.m.var.i ← local.url ← local.inner ← var.password`},
	} {
		t.Run(c.expr, func(t *testing.T) {
			w := open(t, Validating, replaceExpr(originText, "name = "+c.expr), nil)
			w.demand(w.task, w.instance("sim_thing.a"))
			got := w.run.Diags.List()
			if len(got) != 1 {
				t.Fatalf("got %d diagnostics, want 1", len(got))
			}
			_, why, _ := strings.Cut(got[0].Detail, "The value is ephemeral because of")
			why, _, _ = strings.Cut(why, "\n\nTo keep")
			why = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(why), "\n  ", "|"), " "), ".")
			if diff := cmp.Diff(c.want, why); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Each expression that brings an ephemeral value is reported, where it stands and with the path of what it
// sets, and no other.
func TestE3_Places(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"second of two blocks", "rule { value = 1 }\n  rule { value = var.user }", `rule[1].value at "var.user": var.user`},
		{"between dynamic blocks", "dynamic \"rule\" {\n    for_each = [1, 2]\n    content { value = rule.value }\n  }\n  rule { value = var.user }\n  rule { value = 2 }", `rule[2].value at "var.user": var.user`},
		{"both of two", "rule { value = local.url }\n  rule { value = var.user }", `rule[0].value at "local.url": local.url ← local.inner ← var.password|rule[1].value at "var.user": var.user`},
		{"after dynamic blocks", "dynamic \"rule\" {\n    for_each = [1, 2]\n    content { value = var.user }\n  }\n  rule { value = local.url }", `rule[0].value at "var.user": var.user|rule[2].value at "local.url": local.url ← local.inner ← var.password`},
		{"of a set", "zone { name = var.user }\n  zone { name = 1 }", `zone.name at "var.user": var.user`},
		{"of a set, dynamic", "dynamic \"zone\" {\n    for_each = [1]\n    content { name = var.user }\n  }", `zone.name at "var.user": var.user`},
		{"iterating over a secret", "dynamic \"zone\" {\n    for_each = [var.user]\n    content { name = zone.value }\n  }", `zone at "[var.user]": var.user`},
		{"object in a list", `any = [{ a = "x" }, { a = var.user }]`, `any[1].a at "var.user": var.user`},
		{"two in a map", `tags = { a = var.user, b = 1, c = local.url }`, `tags["a"] at "var.user": var.user|tags["c"] at "local.url": local.url ← local.inner ← var.password`},
		{"many elements", `tags = { for x in ["a", "b"] : x => var.user }`, `tags["a"] at "{ for x in ["a", "b"] : x => var.user }": var.user`},
	} {
		for _, phase := range []Phase{Planning, Validating} {
			t.Run(fmt.Sprintf("%s in phase %d", c.name, phase), func(t *testing.T) {
				text := replaceExpr(originText, c.body)
				text = strings.ReplaceAll(text, `{ ephemeral = true }`, "{\n  default = \"hunter2\"\n  ephemeral = true\n}")
				w := open(t, phase, text, nil)
				w.demand(w.task, w.instance("sim_thing.a"))
				main, _, _ := strings.Cut(text, "-- m/m.tf --")
				var got []string
				for _, d := range w.run.Diags.List() {
					path, rest, _ := strings.Cut(strings.TrimPrefix(d.Detail, `"`), `" cannot accept`)
					_, why, _ := strings.Cut(rest, "ephemeral because of ")
					why, _, _ = strings.Cut(why, ".\n")
					got = append(got, fmt.Sprintf("%s at %q: %s", strings.ReplaceAll(path, `\"`, `"`), main[d.Subject.Start.Byte:d.Subject.End.Byte], why))
				}
				if diff := cmp.Diff(c.want, strings.ReplaceAll(strings.Join(got, "|"), `\"`, `"`)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A chain as long as the configuration costs no more than its length, however often it is shown.
func TestE3_ProvenanceIsLinear(t *testing.T) {
	const n = 2000
	var sb strings.Builder
	sb.WriteString("variable \"password\" { ephemeral = true }\nlocals {\n  l0 = var.password\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&sb, "  l%d = \"${local.l%d}${local.l%d}\"\n", i, i-1, i-1)
	}
	fmt.Fprintf(&sb, "}\nresource \"sim_thing\" \"a\" {\n  name = local.l%d\n}\n", n-1)
	w := open(t, Validating, sb.String(), nil)
	found := w.cfg.Modules[w.run.Root.block.Config.Path].Origins(w.run.Root.locals[fmt.Sprintf("l%d", n-1)].block.Expr.Refs)
	if len(found) != 1 {
		t.Fatalf("got %d origins, want 1", len(found))
	}
	want := fmt.Sprintf("local.l%d ← local.l%d ← local.l%d ← … ← local.l0 ← var.password", n-2, n-3, n-4)
	if got := found[0].String(); got != want {
		t.Error(got)
	}
}
