package eval

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// thingOf is a thing whose password is an expression, for each object that lends a token. Objects of
// sim_only.c have count.
func thingOf(password string) string {
	repeat := "for_each = toset(var.keys)"
	if strings.Contains(password, "count.index") {
		repeat = "count = var.n"
	}
	return `
resource "sim_only" "c" {
  count = var.n
  lifecycle { ephemeral_attributes = [token] }
}
resource "sim_thing" "user" {
  ` + repeat + `
  password_wo = ` + password + `
}
locals {
  l    = { for k, v in sim_only.a : k => { secret = v.token } }
  m    = { for k, v in local.l : k => { token = v.secret } }
  a    = sim_only.a
  twin = merge(local.m, { for k, v in local.m : k => v if k == "k1" })
  list = [for v in sim_only.c : { token = v.token }]
}
module "each" {
  for_each = sim_only.a
  source   = "./each"
  v        = each.value.token
}
module "child" {
  source = "./child"
  v      = sim_only.a
  typed  = sim_only.a
}
module "m" {
  source = "./m"
  v      = sim_only.a
  typed  = local.a
  loose  = local.m
}
` + childOfTokens[strings.Index(childOfTokens, "-- m/main.tf --"):] + `
-- each/main.tf --
variable "v" {}
output "token" { value = var.v }
-- child/main.tf --
variable "v" {}
variable "typed" { type = map(object({ token = string, id = string })) }
locals { v = var.typed }
resource "sim_thing" "untyped" {
  for_each    = toset(keys(var.v))
  password_wo = var.v[each.key].token
}
resource "sim_thing" "typed" {
  for_each    = var.typed
  password_wo = "${var.typed[each.key].token}${length(local.v[each.key].id) > 0 ? "" : "-"}"
}
`
}

// TestIndexesOfValues has instances which each refer to one element of a value that is made of computed ones:
// twice the instances are twice the work.
func TestIndexesOfValues(t *testing.T) {
	for _, row := range []struct{ password, user string }{
		{password: `local.l[each.key].secret`},
		{password: `local.m[each.key].token`},
		{password: `local.a[each.key].token`},
		{password: `local.twin[each.key].token`},
		{password: `lookup(local.l, each.key).secret`},
		{password: `[for k, v in local.l : v.secret if k == each.key][0]`},
		{password: `"${local.m[each.key].token}"`},
		{password: `module.m.same[each.key].token`},
		{password: `module.m.typed[each.key].token`},
		{password: `module.m.loose[each.key].token`},
		{password: `module.m.declared[each.key].token`},
		{password: `module.each[each.key].token`},
		{password: `values(module.each)[index(keys(module.each), each.key)].token`},
		{password: `values(sim_only.a)[index(keys(sim_only.a), each.key)].token`},
		{password: `local.list[count.index].token`},
		{password: `(local.list[*].token)[count.index]`},
		{password: `element(sim_only.c[*].token, count.index)`},
		{password: `element(local.list, count.index).token`},
		{password: `null`, user: `child.untyped`},
		{password: `null`, user: `child.typed`},
	} {
		measure := func(n int) (int, int64) {
			w := open(t, Applying, configOfTokens+thingOf(row.password), size(n))
			l := &lenders{world: w}
			w.run.opt.Result = l.Result
			users := w.run.Root.resources[w.resource("sim_thing.user")]
			if at, ok := strings.CutPrefix(row.user, "child."); ok {
				users = w.instance("module.child.sim_thing." + at).Resource
			}
			for key, got := range passwordsOf(l, users) {
				if want := `"token-` + key + `"`; got != want {
					t.Errorf("%s: got %s for %s, want %s", row.password, got, key, want)
				}
			}
			w.clean()
			return l.lent, w.run.Stats.Evaluations.Load()
		}
		lent, evaluated := measure(20)
		lent2, evaluated2 := measure(40)
		if float64(lent2) > 2.2*float64(lent) || float64(evaluated2) > 2.2*float64(evaluated) {
			t.Errorf("%s%s: got %d tokens and %d evaluations for 20 objects, and %d and %d for 40; want linear growth", row.password, row.user, lent, evaluated, lent2, evaluated2)
		}
	}
}

// TestStandInsOfValues has the same work for values that stand in for computed ones.
func TestStandInsOfValues(t *testing.T) {
	for _, password := range []string{`local.twin[each.key].token`, `module.m.typed[each.key].token`, `values(module.each)[0].token`} {
		measure := func(n int) int64 {
			w := open(t, Planning, configOfTokens+thingOf(password), size(n))
			l := &lenders{world: w}
			w.run.opt.Result = l.Result
			users, _ := w.run.Root.resources[w.resource("sim_thing.user")].Instances(w.task)
			for _, in := range users {
				if got := standInsOf(l, in, nil); !strings.Contains(got, "computed:v1-k") {
					t.Errorf("%s: got %s, want a value that stands in for one of k", password, got)
				}
			}
			w.clean()
			return w.run.Stats.Evaluations.Load()
		}
		if n, twice := measure(20), measure(40); float64(twice) > 2.2*float64(n) {
			t.Errorf("%s: got %d evaluations for 20 objects and %d for 40, want linear growth", password, n, twice)
		}
	}
}

// passwordsOf evaluates the passwords of all instances, by key.
func passwordsOf(l *lenders, users *Resource) map[string]string {
	instances, _ := users.Instances(l.task)
	texts := map[string]string{}
	for _, in := range instances {
		in.Prepare(l.task)
		o := &lend{lenders: l}
		o.opened = NewOpened(o)
		v, diags := in.EvalBody(l.task, o.opened)
		l.run.Report(diags)
		v, _ = v.UnmarkDeep()
		texts[keyText(in.Key)] = show(v.GetAttr("password_wo"))
	}
	return texts
}

// TestKeptResultsAreDropped has results that are made of computed values: one of for_each, values of all
// kinds, all instances of a resource and all outputs of a call. They are kept until one of the values is
// dropped, and none are kept after that. Those of an evaluation that was interrupted or lacks a value are
// not kept either.
func TestKeptResultsAreDropped(t *testing.T) {
	cfg, diags := compile(t, configOfTokens+thingOf(`"${local.m[each.key].token}${module.m.same[each.key].token}${values(module.each)[0].token}${each.key}"`)+`
-- more.tf --
resource "sim_thing" "each" {
  for_each    = local.l
  password_wo = each.value.secret
}
`)
	if diags.HasErrors() {
		t.Fatal(lines(diags))
	}
	var l *lenders
	results := func() map[string]bool {
		root, m := l.run.Root, l.run.Root.calls["m"].Child(addr.NoKey)
		call := root.calls["each"]
		out := map[string]bool{
			"local.l":          root.locals["l"].kept.byForm != nil,
			"local.m":          root.locals["m"].kept.byForm != nil,
			"module.m.var.v":   m.variables["v"].kept.byForm != nil,
			"module.m.same":    m.outputs["same"].kept.byForm != nil,
			"sim_only.a":       root.resources[l.resource("sim_only.a")].kept.byForm != nil,
			"module.each":      call.aggregate(outputSel{}).kept.byForm != nil,
			"sim_thing.each":   root.resources[l.resource("sim_thing.each")].elements.byForm != nil,
			"module.each.var":  call.Child(addr.StringKey("k1")).variables["v"].kept.byForm != nil,
			"module.each[...]": call.elements.byForm != nil,
		}
		return out
	}
	evaluate := func(lend *lend) {
		for _, address := range []string{`sim_thing.user["k0"]`, `sim_thing.each["k1"]`} {
			in := l.instance(address)
			in.Prepare(l.task)
			o := NewOpened(nil)
			if lend != nil {
				o.opener, lend.opened = lend, o
			}
			in.EvalBody(l.task, o)
		}
	}
	expect := func(when string, want bool) {
		t.Helper()
		for name, got := range results() {
			if got != want {
				t.Errorf("%s: got kept: %t of %s, want %t", when, got, name, want)
			}
		}
	}
	l = newLenders(t, cfg, Applying, nil)
	evaluate(nil)
	expect("without the values", false)
	interrupted := make(chan struct{})
	for _, address := range []string{`sim_thing.user["k0"]`, `sim_thing.each["k1"]`} {
		l.instance(address).Prepare(l.task)
	}
	l.run.opt.Interrupted = interrupted
	close(interrupted)
	evaluate(&lend{lenders: l})
	expect("in an interrupted run", false)
	l.run.opt.Interrupted = nil
	evaluate(&lend{lenders: l})
	expect("with the values", true)
	DropLent(l.instance(`sim_only.a["k2"]`))
	expect("after one is dropped", false)
	evaluate(&lend{lenders: l})
	expect("evaluated after one is dropped", false)
	l.run.Diags = &diag.Collector{}
}
