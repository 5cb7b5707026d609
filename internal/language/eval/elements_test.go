package eval

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// lenders answers for objects of sim_only. The run has made their tokens and lends them.
type lenders struct {
	*world
	lent int
	past map[string]bool // the keys of objects that an earlier run has made
}

func (l *lenders) objectOf(in *Instance, token cty.Value) cty.Value {
	attrs := map[string]cty.Value{}
	for name, a := range in.Resource.Block.Schema.Block.Attributes {
		attrs[name] = cty.NullVal(a.Type)
	}
	attrs["id"] = cty.StringVal(keyText(in.Key))
	attrs["token"] = token.Mark(value.Ephemeral).Mark(value.Computed{By: in.String() + ".token", Version: "v1-" + keyText(in.Key), ByPolicy: true, Past: l.past[in.Key.Str()]})
	attrs["rule"], attrs["zone"] = cty.ListValEmpty(cty.DynamicPseudoType), cty.SetValEmpty(cty.DynamicPseudoType)
	return cty.ObjectVal(attrs)
}

func (l *lenders) Result(t *future.Task, in *Instance) cty.Value {
	if in.Addr().Resource.Type != "sim_only" {
		return l.host.Result(t, in)
	}
	return l.objectOf(in, cty.UnknownVal(cty.String))
}

// resource returns the address of a resource of the root module.
func (w *world) resource(a string) addr.Resource { return w.instance(a).Resource.Block.Config.Addr }

// lend is the Opener of one operation.
type lend struct {
	*lenders
	opened *Opened
}

func (l *lend) Open(_ *future.Task, needs []Need) {
	for _, n := range needs {
		l.lent++
		l.opened.Add(n.Instance, l.objectOf(n.Instance, cty.StringVal("token-"+keyText(n.Key))))
	}
}

// configOfTokens has objects that lend their tokens.
const configOfTokens = `
variable "n" {}
variable "keys" {}
resource "sim_only" "a" {
  for_each = toset(var.keys)
  lifecycle { ephemeral_attributes = [token] }
}
resource "sim_only" "b" {
  for_each = toset(["k0", "x"])
  lifecycle { ephemeral_attributes = [token] }
}
`

// passwords evaluates the passwords of all things in a configuration whose thing goes over the tokens of n
// objects. Without forEach, more has the thing. It returns the passwords, by key, how many tokens were lent
// and how much was evaluated.
func passwords(t *testing.T, forEach, more string, n int) (texts map[string]string, lent int, evaluated int64) {
	t.Helper()
	if forEach != "" {
		more = "resource \"sim_thing\" \"user\" {\n  for_each    = " + forEach + "\n  password_wo = each.value.token\n}\n" + more
	}
	w := open(t, Applying, configOfTokens+more, size(n))
	l := &lenders{world: w}
	w.run.opt.Result = l.Result
	texts = passwordsOf(l, w.run.Root.resources[w.resource("sim_thing.user")])
	if len(texts) == 0 {
		t.Fatalf("%s: got no instances, want them:\n%s", forEach, w.errors())
	}
	w.clean()
	return texts, l.lent, w.run.Stats.Evaluations.Load()
}

// childOfTokens passes the objects through a module with variables and outputs of several types.
const childOfTokens = `
module "m" {
  source = "./m"
  v      = sim_only.a
  typed  = sim_only.a
  loose  = { for k, v in sim_only.a : k => { token = v.token } }
}
-- m/main.tf --
variable "v" {}
variable "typed" { type = map(object({ token = string })) }
variable "loose" { type = map(any) }
output "same" { value = var.v }
output "typed" { value = { for k, v in var.typed : k => v } }
output "loose" { value = var.loose }
output "declared" {
  value = var.v
  type  = map(object({ token = string }))
}
`

// TestElementsOfForEach goes over objects with computed values: each instance has the value of its own
// element, and twice the instances are twice the work.
func TestElementsOfForEach(t *testing.T) {
	for _, row := range []struct{ forEach, more string }{
		{forEach: `sim_only.a`},
		{forEach: `{ for k, v in sim_only.a : k => v }`},
		{forEach: `{ for k, v in (local.l) : k => { token = v.secret } }`, more: `locals {
  l = { for k, v in local.m : k => { secret = v.token } }
  m = sim_only.a
}`},
		{forEach: `merge(sim_only.b, sim_only.a)`},
		{forEach: `var.n > 0 ? { for k, v in sim_only.a : k => v } : {}`},
		{forEach: `{ for k, v in sim_only.a : k => { token = "${v.token}${length(sim_only.a) > 0 ? "" : "-"}" } }`},
		{forEach: `{ for k, v in sim_only.b : k => v if k == "k0" }`},
		{forEach: `{ for k, v in sim_only.a : k => v if contains(keys(sim_only.a), v.id) }`},
		{forEach: `{ for k in keys(sim_only.a) : k => { token = sim_only.a[k].token } }`},
		{forEach: `{ for k, v in { for v in values(sim_only.a) : v.id => v... } : k => v[0] }`},
		{forEach: `tomap({ for k, v in sim_only.a : k => { token = v.token } })`},
		{forEach: `{ for k, v in sim_only.a : k => { token = var.n == 0 ? v.id : v.token } if var.n > 0 }`},
		{forEach: `zipmap(keys(sim_only.a), [for v in sim_only.a : { token = v.token }])`},
		{forEach: `{ for k in toset(keys(sim_only.a)) : k => { token = element([for n, v in sim_only.a : v.token if n == k], 0) } }`},
		{forEach: `module.m.same`, more: childOfTokens},
		{forEach: `module.m.typed`, more: childOfTokens},
		{forEach: `module.m.loose`, more: childOfTokens},
		{forEach: `module.m.declared`, more: childOfTokens},
		{more: "-- users.tf.json --\n" + `{"resource": {"sim_thing": {"user": {"for_each": "${{ for k, v in sim_only.a : k => v }}", "password_wo": "${each.value.token}"}}}}`},
	} {
		texts, lent, evaluated := passwords(t, row.forEach, row.more, 20)
		for k, got := range texts {
			if want := `"token-` + k + `"`; got != want {
				t.Errorf("%s: got %s for %s, want %s", row.forEach, got, k, want)
			}
		}
		_, lent2, evaluated2 := passwords(t, row.forEach, row.more, 40)
		if float64(lent2) > 2.2*float64(lent) || float64(evaluated2) > 2.2*float64(evaluated) {
			t.Errorf("%s: got %d tokens and %d evaluations for 20 objects, and %d and %d for 40; want linear growth", row.forEach, lent, evaluated, lent2, evaluated2)
		}
	}
}

// TestElementsAreDropped has elements that are made of computed values, by themselves and through a module:
// they are kept until one of the values is dropped, and none are kept after that. Those of an evaluation that
// was interrupted or lacks a value are not kept either.
func TestElementsAreDropped(t *testing.T) {
	const text = configOfTokens + `
resource "sim_thing" "user" {
  for_each    = { for k, v in sim_only.a : k => { token = v.token, n = [for i in range(1000) : [for j in range(10) : j]] } }
  password_wo = each.value.token
}
module "each" {
  for_each = sim_only.a
  source   = "./each"
  v        = { (each.key) = each.value.token }
}
-- each/main.tf --
variable "v" {}
resource "sim_thing" "inner" {
  for_each    = var.v
  password_wo = each.value
}
`
	cfg, diags := compile(t, text)
	if diags.HasErrors() {
		t.Fatal(lines(diags))
	}
	l := newLenders(t, cfg, Applying, nil)
	evaluate := func(address string, opener Opener) (kept bool) {
		in := l.instance(address)
		in.Prepare(l.task)
		o := NewOpened(opener)
		if lend, ok := opener.(*lend); ok {
			lend.opened = o
		}
		in.EvalBody(l.task, o)
		return in.Resource.elements.byForm != nil
	}
	user, inner := `sim_thing.user["k0"]`, `module.each["k1"].sim_thing.inner["k1"]`
	if evaluate(user, nil) {
		t.Error("elements without the values that they are made of are kept")
	}
	interrupted := make(chan struct{})
	close(interrupted)
	l.instance(user).Prepare(l.task)
	l.run.opt.Interrupted = interrupted
	if evaluate(user, &lend{lenders: l}) {
		t.Error("elements of an evaluation that was interrupted are kept")
	}
	l.run.opt.Interrupted = nil
	for _, address := range []string{inner, user} {
		if !evaluate(address, &lend{lenders: l}) {
			t.Errorf("%s: no elements are kept", address)
		}
	}
	DropLent(l.instance(`sim_only.a["k2"]`))
	for _, address := range []string{inner, user} {
		if in := l.instance(address); in.Resource.elements.byForm != nil {
			t.Errorf("%s: elements are kept after a value was dropped", address)
		}
		if evaluate(address, &lend{lenders: l}) {
			t.Errorf("%s: elements that were evaluated after a value was dropped are kept", address)
		}
	}
	l.run.Diags = &diag.Collector{}
}

// TestElementsWithErrors has an argument that does not accept the values which were computed. The error is
// reported, once for all instances; that of values which stand in for these is not.
func TestElementsWithErrors(t *testing.T) {
	cfg, diags := compile(t, configOfTokens+`
resource "sim_thing" "user" {
  for_each    = { for k, v in sim_only.a : k => { token = jsondecode(v.token) } }
  password_wo = each.value.token
}
`)
	if diags.HasErrors() {
		t.Fatal(lines(diags))
	}
	for _, standIns := range []bool{true, false} {
		l, want := newLenders(t, cfg, Applying, nil), 1
		users, _ := l.run.Root.resources[l.resource("sim_thing.user")].Instances(l.task)
		for _, in := range users {
			if in.Prepare(l.task); standIns {
				want = 0
				standInsOf(l, in, nil)
				continue
			}
			o := &lend{lenders: l}
			o.opened = NewOpened(o)
			in.EvalBody(l.task, o.opened)
		}
		if got := l.run.Diags.List(); len(got) != want || strings.Contains(lines(got), "token-k") {
			t.Errorf("stand-ins: %t: got %d diagnostics, want %d, without a value:\n%s", standIns, len(got), want, lines(got))
		}
	}
}
