package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// randomElements draws an argument of for_each that goes over objects with tokens, each of which is in the
// result an object with a token and an id.
func randomElements(rt *rapid.T, depth int) string {
	sources := []string{`sim_only.a`, `sim_only.b`, `local.l`, `module.m.same`, `module.m.typed`, `module.m.loose`, `module.m.declared`, `module.each`}
	if depth == 0 {
		return rapid.SampledFrom(sources).Draw(rt, "source")
	}
	of := func() string { return randomElements(rt, depth-1) }
	switch rapid.IntRange(0, 12).Draw(rt, "form") {
	case 0:
		return `{ for k, v in ` + of() + ` : k => { token = v.token, id = v.id } }`
	case 1:
		return `{ for k, v in ` + of() + ` : k => v if k != "k1" }`
	case 2:
		return `{ for k, v in ` + of() + ` : k => { token = "${v.token}-${k}", id = k } }`
	case 3:
		return `merge(` + of() + `, ` + of() + `)`
	case 4:
		return `tomap({ for k, v in ` + of() + ` : k => { token = v.token, id = v.id } })`
	case 5:
		x := of()
		return `{ for k in keys(` + x + `) : k => (` + x + `)[k] }`
	case 6:
		x := of()
		return `zipmap(keys(` + x + `), values(` + x + `))`
	case 7:
		return `{ for k, v in ` + of() + ` : k => { token = var.n == 3 ? v.token : v.id, id = v.id } if var.n > 0 }`
	case 8:
		return `{ for v in values(` + of() + `) : v.id => { token = v.token, id = upper(v.id) } }`
	case 9:
		x := of()
		return `{ for k, v in ` + x + ` : k => { token = join(",", [for w in ` + x + ` : w.token]), id = v.id } }`
	case 10:
		return `{ for k, v in ` + of() + ` : k => { token = try(jsondecode(v.token), v.token), id = sensitive(v.id) } }`
	case 11:
		return `{ for k in toset(["k0", "k1"]) : k => { token = jsonencode(` + of() + `), id = k } }`
	}
	return of()
}

// randomForEach draws an argument of for_each whose elements are of any type, or do not accept their tokens.
func randomForEach(rt *rapid.T) string {
	x := randomElements(rt, rapid.IntRange(0, 2).Draw(rt, "depth"))
	switch rapid.IntRange(0, 7).Draw(rt, "outermost") {
	case 0:
		return `tomap({ for k, v in ` + x + ` : k => v.token })`
	case 1:
		return `tomap({ p = 1, q = values(` + x + `)[0].token, r = true })`
	case 2:
		return `{ p = [for v in ` + x + ` : v.token], q = null, r = "known" }`
	case 3:
		return `{ for k, v in ` + x + ` : k => jsondecode(v.token) }`
	}
	return x
}

// wholeElement returns the element of an instance from evaluating its whole for_each, and whether that has
// errors, in a run of its own.
func wholeElement(l *lenders, address string) (cty.Value, bool) {
	in := l.instance(address)
	in.Prepare(l.task)
	x, o := in.Resource.repeat.ForEach, &lend{lenders: l}
	o.opened = NewOpened(o)
	all, diags := settle(l.task, o.opened, func() (cty.Value, diag.List) {
		return l.run.eval(in.Resource.Module.scope(l.task).with(o.opened), x)
	}, nil)
	e := in.Resource.expand(l.task, nil)
	i, _ := e.index(in.Key)
	if all, _ = all.Unmark(); diags.HasErrors() || !all.IsKnown() {
		return e.values[i], true
	}
	for it := all.ElementIterator(); it.Next(); {
		if k, elem := it.Element(); k.RawEquals(in.Key.Value()) {
			return copied(x, elem), false
		}
	}
	return e.values[i], false
}

// TestElementsAreThoseOfTheWhole goes over random expressions. All instances of one run get the elements that
// each of them would get from evaluating the whole expression by itself, with their marks and types, whatever
// is dropped meanwhile; and so they do of the values that stand in for others.
func TestElementsAreThoseOfTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		forEach := randomForEach(rt)
		cfg, diags := compile(t, configOfTokens+`
resource "sim_thing" "user" {
  for_each    = `+forEach+`
  password_wo = jsonencode(each.value)
}
locals { l = { for k, v in sim_only.a : k => { token = v.token, id = v.id } } }
module "each" {
  for_each = sim_only.a
  source   = "./each"
  v        = each.value
}
`+childOfTokens+`
-- each/main.tf --
variable "v" {}
output "token" { value = var.v.token }
output "id" { value = var.v.id }
`)
		if diags.HasErrors() {
			rt.Fatal(lines(diags))
		}
		past := map[string]bool{"k0": rapid.Bool().Draw(rt, "k0 is past"), "k1": rapid.Bool().Draw(rt, "k1 is past")}
		phase := rapid.SampledFrom([]Phase{Applying, Applying, Planning}).Draw(rt, "phase")
		newRun := func() *lenders { return newLenders(t, cfg, phase, past) }
		l := newRun()
		users, ok := l.run.Root.resources[l.resource("sim_thing.user")].Instances(l.task)
		if !ok || len(users) == 0 {
			rt.Skip("no instances")
		}
		keep := rapid.SampledFrom([]func(value.Computed) bool{nil, func(c value.Computed) bool { return strings.Contains(c.By, "k0") }}).Draw(rt, "keep")
		standIns, failed := rapid.IntRange(0, 3).Draw(rt, "stand-ins") == 0, false
		for _, in := range rapid.Permutation(users).Draw(rt, "order") {
			if rapid.IntRange(0, 3).Draw(rt, "drop") == 0 {
				DropLent(l.instance(`sim_only.a["k2"]`))
			}
			want, fails := wholeElement(newRun(), in.String())
			failed = failed || fails
			in.Prepare(l.task)
			o := &lend{lenders: l}
			o.opened = NewOpened(o)
			got, _ := settle(l.task, o.opened, func() (cty.Value, diag.List) {
				return in.scope(l.task, o.opened).each.value(l.task, o.opened, lang.Each, "value", nil), nil
			}, nil)
			if !got.RawEquals(want) {
				rt.Errorf("%s, %s: got %#v, want %#v", forEach, in, got, want)
			}
			if !standIns {
				continue
			}
			other := newRun()
			if got, want := standInsOf(l, in, keep), standInsOf(other, other.instance(in.String()), keep); got != want {
				rt.Errorf("%s, %s: got the stand-ins\n%s\nwant\n%s", forEach, in, got, want)
			}
		}
		if got := l.run.Diags.HasErrors(); got && !failed {
			rt.Errorf("%s: got %s, want no errors", forEach, l.errors())
		}
	})
}

// standInsOf returns the evaluations of an instance with others in place of its computed values, as text.
func standInsOf(l *lenders, in *Instance, keep func(value.Computed) bool) string {
	in.Prepare(l.task)
	o := &lend{lenders: l}
	o.opened = NewOpened(o)
	whole := func(v cty.Value) bool { return v.GetAttr("password_wo").IsWhollyKnown() }
	var text strings.Builder
	for _, got := range StandIns(l.task, in, o.opened, whole, keep) {
		fmt.Fprintf(&text, "%#v of %v\n", got.Value.GetAttr("password_wo"), got.Of)
	}
	return text.String()
}

// newLenders returns a run in which the given objects are of an earlier one.
func newLenders(t *testing.T, cfg *blocks.Config, phase Phase, past map[string]bool) *lenders {
	l := &lenders{world: cfgWorld(t, cfg, phase, size(3)), past: past}
	l.run.opt.Result = l.Result
	return l
}
