package deferral

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestTriggers defers the instances whose actions wait, and the ones that these make wait in turn.
func TestTriggers(t *testing.T) {
	t.Parallel()
	trigger := func(of string) *plan.ActionTrigger { return &plan.ActionTrigger{Resource: instance(t, of)} }
	deps := func(names string) (out []plan.Dep) {
		for name := range strings.FieldsSeq(names) {
			out = append(out, on(instance(t, name)))
		}
		return out
	}
	for name, row := range map[string]struct {
		waiting, needs, planned map[string]string // of the instances
		want                    []string
	}{
		"one":          {map[string]string{"x.a": "x.late x.later"}, nil, nil, []string{"x.a: x.late x.later"}},
		"for no known": {map[string]string{"x.a": ""}, nil, nil, []string{"x.a: "}},
		"without a change": {
			map[string]string{"x.a": "x.late", "x.gone": "x.late"},
			map[string]string{"x.gone": "x.a"},
			nil,
			[]string{"x.a: x.late"},
		},
		"in turn": {
			map[string]string{"x.a": "x.late"},
			map[string]string{"x.b": "x.other x.user", "x.c": "x.b", "x.d": "x.other"},
			map[string]string{"x.user": "x.a", "x.other": ""},
			[]string{"x.a: x.late", "x.b: x.user", "x.c: x.b"},
		},
		"itself": {
			map[string]string{"x.a": "x.late"},
			map[string]string{"x.b": "x.a", "x.c": "x.b"},
			map[string]string{"x.b": "x.a"},
			[]string{"x.a: x.late", "x.c: x.b"},
		},
		"another action": {
			map[string]string{"x.a": "x.late", "x.b": "x.late"},
			map[string]string{"x.a": "x.b"},
			nil,
			[]string{"x.a: x.late", "x.b: x.late"},
		},
		"each other": {
			map[string]string{"x.a": "x.late"},
			map[string]string{"x.a": "x.b", "x.b": "x.a"},
			nil,
			[]string{"x.a: x.late", "x.b: x.a"},
		},
	} {
		var tr Triggers
		for of, names := range row.waiting {
			tr.Wait(trigger(of), deps(names))
		}
		for of, names := range row.needs {
			tr.Need(trigger(of), deps(names))
		}
		changes := map[addr.Object]*plan.Change{}
		for _, a := range []string{"x.a", "x.b", "x.c", "x.d"} {
			c := &plan.Change{Addr: instance(t, a), Action: plan.Create}
			changes[c.Object()] = c
		}
		seeds := map[addr.Instance]*plan.Deferral{}
		again := tr.Defer(changes, seeds, func() map[addr.Instance][]plan.Dep {
			planned := map[addr.Instance][]plan.Dep{}
			for a, names := range row.planned {
				planned[instance(t, a)] = deps(names)
			}
			return planned
		})
		var got []string
		for _, a := range slices.SortedFunc(maps.Keys(seeds), addr.Instance.Compare) {
			if c := seeds[a].Change; c == nil || c.Addr != a {
				t.Errorf("%s: got change %v, want the one of %s", name, c, a)
			}
			got = append(got, a.String()+": "+strings.Join(seeds[a].Awaited(), " "))
		}
		if !again || !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q and another attempt %t, want %q and true", name, got, again, row.want)
		}
	}
}

// TestTriggersOfNothing follows nothing if no change waits: the plan doesn't have it, or -invoke names the
// action.
func TestTriggersOfNothing(t *testing.T) {
	t.Parallel()
	a := instance(t, "x.a")
	var tr Triggers
	tr.Wait(nil, []plan.Dep{on(a)})
	tr.Wait(&plan.ActionTrigger{Resource: instance(t, "x.gone")}, []plan.Dep{on(a)})
	tr.Need(nil, []plan.Dep{on(a)})
	again := tr.Defer(map[addr.Object]*plan.Change{}, map[addr.Instance]*plan.Deferral{}, func() map[addr.Instance][]plan.Dep {
		t.Error("got a search, want none")
		return nil
	})
	if again {
		t.Error("got another attempt, want none")
	}
}
