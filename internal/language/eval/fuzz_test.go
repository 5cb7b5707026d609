package eval

import (
	"maps"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// FuzzExpression evaluates expressions over values that are known, unknown, sensitive and ephemeral. Errors
// have a place, nothing shows a secret, and the language's own limits bound time and memory.
func FuzzExpression(f *testing.F) {
	const secret = "c4nary-of-the-fuzzer"
	w := open(f, Planning, `
variable "s" { sensitive = true }
variable "e" { ephemeral = true }
variable "l" { type = list(string) }
variable "u" {}
variable "m" { type = map(object({ a = string, n = optional(number, 1) })) }
locals {
  mixed = { s = var.s, u = var.u, l = var.l, n = null }
}
resource "sim_thing" "a" { count = 2 }
`, map[string]cty.Value{
		"s": cty.StringVal(secret), "e": cty.StringVal(secret), "u": cty.DynamicVal,
		"l": cty.ListVal([]cty.Value{cty.StringVal("x"), cty.UnknownVal(cty.String)}),
		"m": cty.MapVal(map[string]cty.Value{"k": cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("v"), "n": cty.NullVal(cty.Number)})}),
	})
	w.everything(w.task, w.run.Root)
	w.clean()
	functions := maps.Clone(kitFunctions())
	for name := range functions {
		// The fuzzer reads no files, and a cost of bcrypt may mean hours.
		if plain := strings.TrimPrefix(name, "core::"); strings.HasPrefix(plain, "file") || plain == "templatefile" || plain == "bcrypt" {
			delete(functions, name)
		}
	}
	for _, seed := range []string{
		`[for i in range(3) : "${i}-${var.s}" if i > 0]`, `{ for k, v in var.m : k => v.a... }`, `sim_thing.a[*].id`, `try(tonumber(var.s), can(var.e.x))`,
		`convert(var.m, map(object({ a = string, b = optional(list(number), []) })))`, `var.l[var.u]`, `local.mixed.s == var.u ? [1] : ["a"]`,
		`assumelistlength(convert(var.u, list(string)), 2, 2)`, `merge(local.mixed, var.u, sensitive({ z = 1 }))`, `setproduct(var.l, [1, null])`,
		`formatlist("%s %[1]q %5.2f", var.l, var.s)`, `templatestring(local.mixed.s, { a = 1 })`, `regexall("(?P<a>.)", var.e)`, `cidrsubnets("fd00::/16", 8, 1 + "1e99")`,
		`yamldecode("a: &x [1]\nb: *x")`, `jsonencode({ a = var.u, b = ephemeralasnull(var.e) })`, `-"1e999999999" * 0`, `substr("h\u0301e", -1, 1)`,
		"<<-E\n%{ for x in var.l ~}\n${x}\n%{ endfor }\nE\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		x, diags := w.run.Root.Expression(src, "x.tf", functions)
		if !diags.HasErrors() {
			task := &future.Task{}
			x.Prepare(task)
			s := w.host.session()
			defer s.End()
			v, more := x.Value(task, s.Opened)
			diags = append(diags, more...)
			diags = append(diags, w.run.Diags.Take()...)
			if bare, _ := value.WithholdEphemeral(v).UnmarkDeep(); bare == cty.NilVal {
				t.Error("no value")
			}
		}
		for _, d := range diags {
			if d.Subject == nil || d.Summary == "" {
				t.Errorf("a diagnostic without a place: %s: %s", d.Summary, d.Detail)
			}
			if text := d.Summary + d.Detail; strings.Contains(text, secret) && !strings.Contains(src, secret) || strings.Contains(text, "goroutine ") {
				t.Errorf("a diagnostic shows too much: %s", text)
			}
		}
	})
}
