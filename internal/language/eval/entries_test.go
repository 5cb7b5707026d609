package eval

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// lenders answers for objects of sim_only. The run has made their tokens and lends them.
type lenders struct {
	*world
	lent int
}

func (l *lenders) objectOf(in *Instance, token cty.Value) cty.Value {
	attrs := map[string]cty.Value{}
	for name, a := range in.Resource.Block.Schema.Block.Attributes {
		attrs[name] = cty.NullVal(a.Type)
	}
	attrs["id"] = cty.StringVal(in.Key.Str())
	attrs["token"] = token.Mark(value.Ephemeral).Mark(value.Computed{By: in.String() + ".token", Version: "v1", ByPolicy: true})
	attrs["rule"], attrs["zone"] = cty.ListValEmpty(cty.DynamicPseudoType), cty.SetValEmpty(cty.DynamicPseudoType)
	return cty.ObjectVal(attrs)
}

func (l *lenders) Result(t *future.Task, in *Instance) cty.Value {
	if in.Addr().Resource.Type != "sim_only" {
		return l.host.Result(t, in)
	}
	return l.objectOf(in, cty.UnknownVal(cty.String))
}

// lend is the Opener of one operation.
type lend struct {
	*lenders
	opened *Opened
}

func (l *lend) Open(_ *future.Task, needs []Need) {
	for _, n := range needs {
		l.lent++
		l.opened.Add(n.Instance, l.objectOf(n.Instance, cty.StringVal("token-"+n.Key.Str())))
	}
}

// passwords evaluates the passwords of all things in a configuration whose thing goes over the tokens of n
// objects. It returns the passwords, by key, how many tokens were lent and how much was evaluated.
func passwords(t *testing.T, forEach, more string, n int) (texts map[string]string, lent int, evaluated int64) {
	t.Helper()
	w := open(t, Applying, `
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
resource "sim_thing" "user" {
  for_each    = `+forEach+`
  password_wo = each.value.token
}
`+more, size(n))
	l := &lenders{world: w}
	w.run.opt.Result = l.Result
	users, ok := w.run.Root.resources[w.instance(`sim_thing.user["k0"]`).Resource.Block.Config.Addr].Instances(w.task)
	if !ok {
		t.Fatalf("%s: got no instances, want them:\n%s", forEach, w.errors())
	}
	texts = map[string]string{}
	for _, in := range users {
		in.Prepare(w.task)
		o := &lend{lenders: l}
		o.opened = NewOpened(o)
		v, diags := in.EvalBody(w.task, o.opened)
		w.run.Report(diags)
		v, _ = v.UnmarkDeep()
		texts[in.Key.Str()] = show(v.GetAttr("password_wo"))
	}
	w.clean()
	return texts, l.lent, w.run.Stats.Evaluations.Load()
}

// TestEntriesOfForEach goes over objects with computed values: each instance has the value of its own entry,
// and twice the instances are twice the work.
func TestEntriesOfForEach(t *testing.T) {
	const child = `
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
	for _, row := range []struct {
		forEach, more string
		linear        bool
	}{
		{forEach: `sim_only.a`, linear: true},
		{forEach: `{ for k, v in sim_only.a : k => v }`, linear: true},
		{forEach: `{ for k, v in (local.l) : k => { token = v.secret } }`, more: `locals {
  l = { for k, v in local.m : k => { secret = v.token } }
  m = sim_only.a
}`, linear: true},
		{forEach: `merge(sim_only.b, sim_only.a)`, linear: true},
		{forEach: `{ for k, v in sim_only.a : k => { token = "${v.token}${length(sim_only.a) > 0 ? "" : "-"}" } }`},
		{forEach: `tomap({ for k, v in sim_only.a : k => { token = v.token } })`},
		{forEach: `module.m.same`, more: child, linear: true},
		{forEach: `module.m.typed`, more: child, linear: true},
		{forEach: `module.m.loose`, more: child},
		{forEach: `module.m.declared`, more: child},
		{forEach: `{ for k, v in sim_only.b : k => v if k == "k0" }`, linear: true},
	} {
		texts, lent, evaluated := passwords(t, row.forEach, row.more, 20)
		if want := `"token-k0"`; texts["k0"] != want {
			t.Errorf("%s: got %s for k0, want %s", row.forEach, texts["k0"], want)
		}
		for k, got := range texts {
			if want := `"token-` + k + `"`; got != want {
				t.Errorf("%s: got %s for %s, want %s", row.forEach, got, k, want)
			}
		}
		_, lent2, evaluated2 := passwords(t, row.forEach, row.more, 40)
		if linear := float64(lent2) < 2.2*float64(lent) && float64(evaluated2) < 2.2*float64(evaluated); linear != row.linear {
			t.Errorf("%s: got %d tokens and %d evaluations for 20 objects, and %d and %d for 40; want linear growth: %t", row.forEach, lent, evaluated, lent2, evaluated2, row.linear)
		}
	}
}
