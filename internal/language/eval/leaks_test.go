package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const leakVars = `
variable "d" {
  default   = { k = "v", l = ["a", "b"], n = 1, s = null, m = { x = "y" } }
  ephemeral = true
}
variable "text" {
  type      = string
  default   = "v"
  ephemeral = true
}
variable "list" {
  type      = list(string)
  default   = ["a", "b"]
  ephemeral = true
}
variable "map" {
  type      = map(string)
  default   = { k = "v" }
  ephemeral = true
}
variable "set" {
  type      = set(string)
  default   = ["a"]
  ephemeral = true
}
variable "bool" {
  type      = bool
  default   = true
  ephemeral = true
}
variable "p" { default = "P" }
variable "yes" { default = true }
locals {
  part = { public = "P", secret = var.text }
  x    = EXPR
}
resource "sim_thing" "a" {}
`

// What an ephemeral value decides about is ephemeral, whether the value is known or not, however the question
// is put.
func TestE22_NothingIsLearntByAsking(t *testing.T) {
	for _, expr := range []string{
		`var.d`, `var.d.k`, `var.d["k"]`, `var.d.l[0]`, `var.d.l[*]`, `var.d.m.x`, `var.list[0]`, `var.list[*]`, `var.map["k"]`, `var.map.k`,
		`var.list[length(var.list) - 1]`, `["a", "b"][var.d.n]`, `{ v = 1 }[var.text]`, `{ v = 1 }[var.d.k]`,
		`[for x in var.d.l : x]`, `[for x in var.d.l : "same"]`, `[for k, v in var.d : k]`, `{ for k, v in var.d : k => v }`,
		`{ for k, v in var.map : v => k... }`, `[for x in ["a"] : x if x != var.d.k]`, `[for x in ["a"] : x if var.bool]`,
		`{ for x in ["a"] : "${x}${var.d.k}" => x }`, `[for x in ["a"] : var.d.k]`, `[for x in [var.d] : x.k]`, `[for x in [1] : [for y in var.d.l : 1]]`,
		`length([for x in var.list : x])`, `length(var.d)`, `length(var.list)`, `length(var.text)`, `length(keys(var.map))`, `length(keys(var.d))`,
		`var.list == ["a"]`, `var.d == { k = 1 }`, `var.d == null`, `var.d != null`, `var.text == "v"`, `[var.text] == ["v"]`, `{ a = var.d } == {}`,
		`var.bool && true`, `var.bool || true`, `true && var.bool`, `false || var.bool`, `!var.bool`, `-var.d.n`, `var.d.n + 1`, `var.d.n > 0`,
		`var.bool ? 1 : 2`, `var.yes ? 1 : var.d.n`, `var.yes ? var.d.n : 1`, `var.bool ? var.p : var.p`, `var.d.k == "v" ? [1] : [2]`,
		`"${var.d.k}"`, `"a${var.text}"`, `"%{ if var.bool }a%{ else }b%{ endif }"`, `"%{ for x in var.list }a%{ endfor }"`, "<<-EOT\n  ${var.text}\n  EOT\n",
		`{ (var.text) = 1 }`, `{ (var.d.k) = 1 }`, `keys({ (var.text) = 1 })`, `[var.p, var.text]`, `local.part.secret`, `local.part["secret"]`, `values(local.part)`,
		`can(tonumber(var.text))`, `can(var.d.zzz)`, `can(var.d.l[7])`, `can(regex("x", var.text))`, `can(var.map["zzz"])`,
		`try(tonumber(var.text), 0)`, `try(var.d.zzz, 0)`, `try(var.map["zzz"], 0)`, `try(var.list[9], "none")`, `try(var.text, 0)`,
		`contains(var.list, "a")`, `contains(["a"], var.text)`, `contains(keys(var.map), "k")`, `coalesce(var.text, "x")`, `coalesce("", var.text)`,
		`coalescelist(var.list, ["x"])`, `one(var.set)`, `one([var.text])`, `zipmap(["a"], [var.text])`, `zipmap([var.text], ["a"])`, `zipmap(var.set, ["a"])`,
		`lookup(var.map, "zzz", "x")`, `lookup({ a = 1 }, var.text, 2)`, `lookup({ a = var.text }, "a", "x")`, `element(var.list, 0)`, `element(["a", "b"], var.d.n)`,
		`index(var.list, "a")`, `merge(var.map, { z = 1 })`, `merge({ z = 1 }, var.d)`, `concat(var.list, ["x"])`, `flatten([var.list])`, `flatten([["x"], var.list])`,
		`compact(var.list)`, `distinct(var.list)`, `toset(var.list)`, `tolist(var.set)`, `tomap(var.map)`, `tostring(var.d.n)`, `tobool(var.bool)`, `sort(var.list)`,
		`reverse(var.list)`, `slice(var.list, 0, 1)`, `slice(["a", "b"], 0, var.d.n)`, `range(var.d.n)`, `chunklist(var.list, 1)`, `matchkeys(["x"], ["a"], var.list)`,
		`setunion(var.set, ["q"])`, `setintersection(var.set, ["q"])`, `setsubtract(["a"], var.set)`, `setproduct(var.set, [1])`, `transpose({ a = var.list })`,
		`sum([var.d.n, 1])`, `max(var.d.n, 0)`, `abs(var.d.n)`, `join(",", var.list)`, `join(var.text, ["a", "b"])`, `split("v", var.text)`, `replace("a", var.text, "b")`,
		`format("%s", var.text)`, `format("%s%s", var.p, var.d.k)`, `formatlist("%s", var.list)`, `regexall("x", var.text)`, `startswith(var.text, "v")`, `strcontains(var.text, "v")`,
		`jsonencode(var.d)`, `jsonencode({ a = var.text })`, `jsondecode(jsonencode(var.d))`, `yamlencode({ a = [var.text] })`, `base64encode(var.text)`, `sha256(var.text)`, `bcrypt(var.text)`,
		`md5(var.text)`, `uuidv5("dns", var.text)`, `nonsensitive(var.text)`, `sensitive(var.text)`, `alltrue([var.bool])`, `anytrue([false, var.bool])`, `substr(var.text, 0, 1)`,
		`templatestring("$${x}", { x = var.text })`, `templatestring(var.text, {})`, `fileexists(var.text)`, `signum(var.d.n)`, `timecmp("2020-01-01T00:00:00Z", var.yes ? "2020-01-01T00:00:00Z" : var.text)`,
		`ephemeralasnull("x") == var.text`, `(var.text)`, `[[[var.text]]]`, `var.text == var.p`,
		`can(jsondecode(var.text)) ? 1 : 2`, `length(try(var.d.zzz, []))`,
	} {
		asked(t, expr, Planning, Validating)
	}
	// together with what is not known yet
	for _, expr := range []string{
		`"${sim_thing.a.id}${var.text}"`, `[for x in [sim_thing.a.id] : var.text if x == "q"]`, `{ for x in [sim_thing.a.id] : x => var.text }`,
		`sim_thing.a.id == "" ? var.text : "x"`, `sim_thing.a.id == var.text`, `merge({ a = sim_thing.a.id }, var.d)`, `coalesce(sim_thing.a.id, var.text)`,
		`jsonencode({ a = sim_thing.a.id, b = var.text })`, `format("%s%s", sim_thing.a.id, var.text)`, `lookup({ a = var.text }, sim_thing.a.id, "x")`, `{ a = var.text }[sim_thing.a.id]`,
		`element([var.text], length(sim_thing.a.id))`, `concat([sim_thing.a.id], var.list)`, `try(sim_thing.a.id, var.text)`, `length([for x in split(",", sim_thing.a.id) : x if x == var.text])`,
		`join(sim_thing.a.id, [var.text])`, `flatten([sim_thing.a.id, [var.text]])`, `zipmap([sim_thing.a.id], [var.text])`, `[for x in split(",", sim_thing.a.id) : var.text]`,
		`{ for x in split(",", sim_thing.a.id) : x => var.text }`, `[for x in split(",", sim_thing.a.id) : { a = [var.text] }]`, `sim_thing.a.id == "" || var.bool`, `values({ (sim_thing.a.id) = var.text })`,
	} {
		asked(t, expr, Validating)
	}
}

func asked(t *testing.T, expr string, phases ...Phase) {
	for _, phase := range phases {
		t.Run(fmt.Sprintf("%s in phase %d", expr, phase), func(t *testing.T) {
			w := open(t, phase, replaceExpr(leakVars, expr), nil)
			got := w.run.Root.locals["x"].Get(w.task, nil, nil)
			for _, d := range w.run.Diags.List() {
				t.Errorf("%s: %s", d.Summary, d.Detail)
			}
			if !value.Contains(got, value.Ephemeral) {
				t.Errorf("%s is not ephemeral", show(got))
			}
		})
	}
}

// What is not ephemeral itself may stand beside what is.
func TestE21_PartsStayPublic(t *testing.T) {
	for _, expr := range []string{
		`local.part.public`, `ephemeralasnull(local.part)`, `[for x in [local.part] : x.public]`, `{ for x in [{ id = sim_thing.a.id, s = var.text }] : x.id => 1 }`,
		`lookup(local.part, "public", "")`, `element([sim_thing.a.id, var.text], 0)`, `lookup({ a = sim_thing.a.id, b = var.text }, "a", "")`,
		`[for x in [sim_thing.a.id] : ephemeralasnull(var.text) if x == "q"]`, `try(sim_thing.a.id, ephemeralasnull(var.text))`, `!var.yes`, `-length(sim_thing.a.id)`,
		`{ (sim_thing.a.id) = ephemeralasnull(var.text) }`, `[sim_thing.a.id, local.part][0]`, `issensitive(var.text)`, `can(var.text)`,
	} {
		for _, phase := range []Phase{Planning, Validating} {
			t.Run(fmt.Sprintf("%s in phase %d", expr, phase), func(t *testing.T) {
				w := open(t, phase, replaceExpr(leakVars, expr), nil)
				if got := w.run.Root.locals["x"].Get(w.task, nil, nil); value.Contains(got, value.Ephemeral) {
					t.Errorf("%s is ephemeral", show(got))
				}
				w.clean()
			})
		}
	}
}

// No text about what goes wrong with the elements of an ephemeral or sensitive collection shows one.
func TestE24_ErrorsAboutElements(t *testing.T) {
	for _, decl := range []string{"ephemeral = true", "sensitive = true"} {
		for _, expr := range []string{
			`[for x in var.c : tonumber(x)]`, `[for k, x in var.c : tonumber(k)]`, `[for k, x in var.c : x.foo]`, `{ for k, x in var.c : x => k }`, `{ for k, x in var.c : x == "" ? null : null => k }`,
			`transpose({ (values(var.c)[0]) = 5, b = max() })`, `transpose({ (sensitive("hunter2")) = 5, b = max() })`, `tomap({ (values(var.c)[0]) = [1], b = {}, c = max() })`,
			`merge({ (values(var.c)[0]) = 5 }, max(), 7)`, `[for x in var.c : transpose({ (x) = 5, b = max() })]`, `var.yes ? { (values(var.c)[0]) = max() } : []`,
			`{ for k, x in var.c : [x] => k }`, `[for x in var.c : 1 if x]`, `{ for x in var.c : 1 => 1 if x }`, `[for x in var.c : file(x)]`, `[for x in var.c : [for y in [x] : tonumber(y)]]`,
			`[for x in values(var.c) : provider::sim::fail(x)]`, `{ for k, x in { a = 1, b = 1 } : values(var.c)[0] => k }`, `"%{ for x in var.c }${tonumber(x)}%{ endfor }"`,
			`[for o in [var.c] : [for x in o : tonumber(x)]]`, `[for x in keys(var.c) : var.plain[x]]`, `var.yes ? { for k, v in var.c : k => [v] } : { a = 1, b = 2 }`, `var.yes ? [var.c] : {}`,
			`jsondecode(jsonencode(var.c)).x`, `tomap({ a = var.c, b = "x" })`, `[for x in toset(values(var.c)) : tonumber(x)]`, `try(tonumber(values(var.c)[0]))`, `[for x in var.c : try(tonumber(x))]`,
		} {
			t.Run(decl+" "+expr, func(t *testing.T) {
				w := planned(t, `variable "c" {
  type    = map(string)
  default = { hunter2 = "hunter3", hunter4 = "hunter3" }
  `+decl+`
}
variable "yes" { default = true }
variable "plain" { default = {} }
locals { x = `+expr+` }`)
				w.local("x")
				found := w.run.Diags.List()
				if len(found) == 0 {
					t.Fatal("no error")
				}
				for _, d := range found {
					if text := d.Summary + d.Detail + inPlay(d); strings.Contains(text, "hunter") {
						t.Error(text)
					}
				}
			})
		}
	}
}

// inPlay returns the values in play that are not marked, as text.
func inPlay(d diag.Diagnostic) string {
	var out string
	if d.Expression == nil {
		return ""
	}
	for _, tr := range d.Expression.Variables() {
		for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
			if _, ok := ctx.Variables[tr.RootName()]; !ok {
				continue
			}
			if v, diags := tr.TraverseAbs(ctx); !diags.HasErrors() && !v.IsMarked() {
				out += show(v)
			}
			break
		}
	}
	return out
}

// The same inside dynamic blocks, whose iterators are not references.
func TestE24_ErrorsInDynamicBlocks(t *testing.T) {
	for _, content := range []string{`value = tonumber(rule.value)`, `value = rule.value.foo`, `value = tonumber(rule.key)`, `value = transpose({ (rule.value) = 5, b = max() })`, `value = [for x in [rule.value] : tonumber(x)][0]`, `value = { a = 1 }[rule.key]`} {
		for _, decl := range []string{"ephemeral = true", "sensitive = true"} {
			t.Run(decl+" "+content, func(t *testing.T) {
				w := planned(t, `variable "c" {
  type    = map(string)
  default = { hunter2 = "hunter3" }
  `+decl+`
}
resource "sim_thing" "a" {
  dynamic "rule" {
    for_each = var.c
    content {
      `+content+`
    }
  }
}`)
				w.refusesSecretly(t, "sim_thing.a")
			})
		}
	}
}

// The JSON syntax means the same.
func TestE20_E22_JSONSyntax(t *testing.T) {
	for expr, want := range map[string]string{
		`"${var.yes ? 1 : var.e}"`:                          `e("1")`,
		`{ "${var.e}": 1 }`:                                 `e({E:1})`,
		`{ "a": "${var.e}", "b": ["x", null, true, 1] }`:    `{a:e("E") b:["x" null true 1]}`,
		`["${{ E = 1 }[var.e]}"]`:                           `[e(1)]`,
		`"${[for x in [var.e] : x]}"`:                       `[e("E")]`,
		`{ "a": "${var.yes ? 1 : 2}", "k": "${!var.yes}" }`: `{a:1 k:false}`,
	} {
		t.Run(expr, func(t *testing.T) {
			w := planned(t, `variable "e" {
  default   = "E"
  ephemeral = true
}
variable "yes" { default = true }
-- more.tf.json --
{ "locals": { "x": `+expr+` } }`)
			if got := w.local("x"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			w.clean()
		})
	}
}

// Two keys of the same text are the same mistake whatever the text interpolates.
func TestE20_DuplicateKeysInJSONSyntax(t *testing.T) {
	for _, key := range []string{"k", "${var.e}", "x${var.s}"} {
		w := planned(t, `variable "e" {
  default   = "hunter2"
  ephemeral = true
}
variable "s" {
  default   = "hunter2"
  sensitive = true
}
-- more.tf.json --
{ "locals": { "x": [{ "`+key+`": 1, "`+key+`": 2 }] } }`)
		w.local("x")
		if got := w.errors(); !strings.Contains(got, "Duplicate object attribute") || strings.Contains(got, "hunter") {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// A value that does not fit an attribute is refused without showing the keys that lead to what does not fit.
func TestE7_ErrorsAboutAttributes(t *testing.T) {
	for _, attr := range []string{`tags = var.c`, `list = var.c`, `tags = { a = var.c }`, `tags = { for k, v in var.c : k => v }`, "rule {\n    value = var.c\n  }", `name = var.c`} {
		for _, decl := range []string{"ephemeral = true", "sensitive = true"} {
			t.Run(decl+" "+attr, func(t *testing.T) {
				w := planned(t, `variable "c" {
  default = { hunter2 = ["hunter3"], hunter4 = { hunter5 = [] } }
  `+decl+`
}
resource "sim_thing" "a" {
  `+attr+`
}`)
				w.refusesSecretly(t, "sim_thing.a")
			})
		}
	}
}

// refusesSecretly checks that an instance has errors, and that none shows a secret.
func (w *world) refusesSecretly(t *testing.T, instance string) {
	t.Helper()
	w.demand(w.task, w.instance(instance))
	found := w.run.Diags.List()
	if len(found) == 0 {
		t.Fatal("no error")
	}
	for _, d := range found {
		if text := d.Summary + d.Detail + inPlay(d); strings.Contains(text, "hunter") {
			t.Error(text)
		}
	}
}
