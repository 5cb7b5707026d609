package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// foldObject is the object of an instance; its name is different in each.
func foldObject(i int, size int64, more map[string]cty.Value) cty.Value {
	attrs := map[string]cty.Value{
		"id": cty.UnknownVal(cty.String), "name": cty.StringVal(fmt.Sprintf("web-%d", i)), "size": cty.NumberIntVal(size), "locked": cty.False,
		"tags": cty.MapVal(map[string]cty.Value{"n": cty.StringVal(fmt.Sprint(i)), "team": cty.StringVal("a")}),
	}
	for k, v := range more {
		attrs[k] = v
	}
	return cty.ObjectVal(attrs)
}

// foldPlan returns a plan of n changes of one block, of which edit makes something else.
func foldPlan(t testing.TB, n int, action plan.Action, edit func(i int, c *plan.Change)) *plan.Plan {
	t.Helper()
	p := &plan.Plan{}
	for i := range n {
		c := &plan.Change{Addr: fixture.Instance(t, fmt.Sprintf("t_x.web[%d]", i)), Action: action}
		if action != plan.Create {
			c.Before = fixture.Seal(t, foldObject(i, 1, map[string]cty.Value{"id": cty.StringVal(fmt.Sprint("i-", i))}))
		}
		if action != plan.Delete {
			c.After = fixture.Seal(t, foldObject(i, 2, nil))
		}
		if edit != nil {
			edit(i, c)
		}
		c.PrevAddr = c.Addr
		p.Changes = append(p.Changes, c)
	}
	return p
}

func TestFold(t *testing.T) {
	var sb strings.Builder
	show := func(title string, p *plan.Plan) {
		sb.WriteString("========== " + title + "\n" + planText(t, p, nil, Options{Width: 78, Fold: true}))
	}
	with := func(c *plan.Change, i int, more map[string]cty.Value) {
		c.After = fixture.Seal(t, foldObject(i, 2, more))
	}

	show("creations", foldPlan(t, 3000, plan.Create, nil))
	show("destructions", foldPlan(t, 12, plan.Delete, func(_ int, c *plan.Change) { c.Reason = plan.DeleteCountIndex }))
	show("replacements", foldPlan(t, 12, plan.DeleteThenCreate, func(_ int, c *plan.Change) {
		c.Reason, c.RequiredReplace = plan.ReplaceCannotUpdate, []cty.Path{cty.GetAttrPath("size")}
	}))
	show("two kinds", foldPlan(t, 24, plan.Create, func(i int, c *plan.Change) {
		with(c, i, map[string]cty.Value{"zone": cty.StringVal([]string{"a", "b"}[i%2])})
	}))
	show("one that is unlike the others", foldPlan(t, 30, plan.Create, func(i int, c *plan.Change) {
		if i == 17 {
			with(c, i, map[string]cty.Value{"size": cty.NumberIntVal(99)})
		}
	}))
	show("one that is locked, and one with another attribute", foldPlan(t, 30, plan.Create, func(i int, c *plan.Change) {
		switch i {
		case 3:
			with(c, i, map[string]cty.Value{"locked": cty.True})
		case 4:
			with(c, i, map[string]cty.Value{"note": cty.StringVal("n")})
		}
	}))
	show("a destruction among updates", foldPlan(t, 20, plan.Update, func(i int, c *plan.Change) {
		if i == 5 {
			c.Action, c.After = plan.Delete, value.Durable{}
		}
	}))
	drift := foldPlan(t, 0, plan.Create, nil)
	drift.Mode, drift.Drift = plan.RefreshOnly, foldPlan(t, 12, plan.Update, nil).Changes
	show("drift", drift)
	golden(t, "fold.txt", sb.String())
}

// TestFoldKeepsApart has changes of which none may stand for another.
func TestFoldKeepsApart(t *testing.T) {
	for name, p := range map[string]*plan.Plan{
		"few": foldPlan(t, foldAbove, plan.Create, nil),
		"sensitivity changes": foldPlan(t, 20, plan.Update, func(i int, c *plan.Change) {
			c.After = fixture.Seal(t, foldObject(i, 2, map[string]cty.Value{"name": cty.StringVal("s").Mark(value.Sensitive)}))
		}),
		"imported objects are destroyed": foldPlan(t, 20, plan.DeleteThenCreate, func(i int, c *plan.Change) { c.Importing = &plan.Importing{ID: fmt.Sprint(i)} }),
		"reasons":                        foldPlan(t, 20, plan.Delete, func(i int, c *plan.Change) { c.Reason = []plan.Reason{plan.DeleteNoConfig, plan.DeleteCountIndex}[i%2] }),
		"what forces the replacement": foldPlan(t, 20, plan.DeleteThenCreate, func(i int, c *plan.Change) {
			c.RequiredReplace = []cty.Path{cty.GetAttrPath([]string{"size", "name"}[i%2])}
		}),
		"blocks": foldPlan(t, 20, plan.Create, func(i int, c *plan.Change) { c.Addr.Resource.Name = fmt.Sprint("r", i%2) }),
		"deposed": foldPlan(t, 20, plan.Delete, func(i int, c *plan.Change) {
			if i%2 == 0 {
				c.Deposed = "0123abcd"
			}
		}),
	} {
		if full, folded := planText(t, p, nil, Options{}), planText(t, p, nil, Options{Fold: true}); full != folded {
			t.Errorf("%s: got changes folded:\n%s\nwant all of them:\n%s", name, folded, full)
		}
	}
	moved := foldPlan(t, 20, plan.Update, nil)
	for i, c := range moved.Changes {
		c.PrevAddr = fixture.Instance(t, fmt.Sprintf("t_x.old[%d]", 100+i))
	}
	if text := planText(t, moved, nil, Options{Fold: true}); strings.Contains(text, "more like it") {
		t.Errorf("objects that come from other keys were folded:\n%s", text)
	}
	for i, c := range moved.Changes {
		c.PrevAddr.Key = c.Addr.Key
		c.Action, c.After = plan.NoOp, moved.Changes[i].Before
	}
	if text := planText(t, moved, nil, Options{Fold: true}); !strings.Contains(text, "19 more like it, t_x.old[1] to t_x.old[19]: each has moved to t_x.web under the same key") {
		t.Errorf("objects that keep their keys were not folded:\n%s", text)
	}
}

// TestFoldCountsAll folds random plans: each change is shown or counted with its action, and a change that is
// hidden looks like the one that stands for it but for the values.
func TestFoldCountsAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		actions := []plan.Action{plan.Create, plan.Update, plan.Delete, plan.DeleteThenCreate}
		n := rapid.IntRange(1, 80).Draw(rt, "n")
		p := foldPlan(t, n, plan.Update, func(i int, c *plan.Change) {
			a := actions[rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 2, 3}).Draw(rt, "action")]
			more := map[string]cty.Value{"size": cty.NumberIntVal(rapid.Int64Range(2, 9).Draw(rt, "size"))}
			if rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
				more["note"] = cty.StringVal("odd")
			}
			c.Action, c.After = a, fixture.Seal(t, foldObject(i, 2, more))
			switch a {
			case plan.Create:
				c.Before = value.Durable{}
			case plan.Delete:
				c.After = value.Durable{}
			}
		})
		changes := NewChanges(p, nil)
		folds, err := changes.Folds()
		if err != nil {
			rt.Fatal(err)
		}
		text := planText(t, p, nil, Options{Fold: true})
		_, hidden := folded(folds)
		for _, f := range folds {
			if len(f.Changes) <= foldAbove {
				rt.Errorf("a fold of %d", len(f.Changes))
			}
			if !strings.Contains(text, f.Line()) || !strings.Contains(f.Line(), fmt.Sprintf("%d more", len(f.Changes)-1)) {
				rt.Errorf("%q is not in the text, or does not count", f.Line())
			}
			first, err := changes.Text(f.Changes[0])
			if err != nil {
				rt.Fatal(err)
			}
			for _, c := range f.Changes[1:] {
				other, err := changes.Text(c)
				if err != nil || c.Action != f.Changes[0].Action || strings.Count(first, "\n") != strings.Count(other, "\n") ||
					strings.Contains(first, "note") != strings.Contains(other, "note") {
					rt.Errorf("%s: got %v and\n%s\nwant it like %s:\n%s", c.Addr, err, other, f.Changes[0].Addr, first)
				}
			}
		}
		for _, c := range p.Changes {
			if strings.Contains(text, "# "+c.Addr.String()+" ") == hidden[c] {
				rt.Errorf("%s: hidden %v", c.Addr, hidden[c])
			}
		}
	})
}

// TestElementsAlike folds elements that are written alike, in outputs and in lists of resources, and only
// where changes are folded.
func TestElementsAlike(t *testing.T) {
	unknown := func(n int) cty.Value {
		elems := make([]cty.Value, n)
		for i := range elems {
			elems[i] = cty.UnknownVal(cty.String)
		}
		elems[n-1] = cty.StringVal("last")
		return cty.TupleVal(elems)
	}
	for n, want := range map[int]string{
		3001: "  + o = [\n      + (known after apply),\n        # (2999 more like it)\n      + \"last\",\n    ]\n",
		3:    "  + o = [\n      + (known after apply),\n      + (known after apply),\n      + \"last\",\n    ]\n",
	} {
		d, w := differ{}, &writer{o: Options{Fold: true}}
		w.item(named{name: "o", node: d.value(cty.NilVal, unknown(n), free, nil)}, 1, 2, true, "")
		if got := w.String(); got != want {
			t.Errorf("%d elements: got\n%s\nwant\n%s", n, got, want)
		}
		w = &writer{}
		w.item(named{name: "o", node: d.value(cty.NilVal, unknown(n), free, nil)}, 1, 2, true, "")
		if got := strings.Count(w.String(), "\n"); got != n+2 {
			t.Errorf("%d elements that are not folded have %d lines, want %d", n, got, n+2)
		}
	}
}
