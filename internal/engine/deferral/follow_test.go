package deferral

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestDependents follows dependencies of every form, and cycles. Instances that depend on nothing of it stay.
func TestDependents(t *testing.T) {
	t.Parallel()
	one := func(text string) plan.Dep {
		a := instance(t, text)
		return plan.Dep{Resource: a.Abs(), Key: a.Key}
	}
	all := func(text string) plan.Dep { return plan.Dep{Resource: instance(t, text).Abs(), All: true} }
	span := func(text, within string) plan.Dep {
		m, err := addr.ParseModuleInstance(within)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Dep{Resource: instance(t, text).Abs(), All: true, Modules: true, Within: m}
	}
	for name, row := range map[string]struct {
		deps  map[string][]plan.Dep
		first []string
		want  []string
	}{
		"none":     {nil, []string{"t.a"}, []string{"t.a"}},
		"through":  {map[string][]plan.Dep{"t.b": {one("t.a")}, "t.c": {one("t.b")}, "t.d": {one("t.e")}}, []string{"t.a"}, []string{"t.a", "t.b", "t.c"}},
		"key":      {map[string][]plan.Dep{"t.b": {one("t.a[0]")}, "t.c": {one("t.a[1]")}}, []string{"t.a[0]"}, []string{"t.a[0]", "t.b"}},
		"all":      {map[string][]plan.Dep{"t.b": {all("t.a")}, "t.c": {all("t.x")}}, []string{"t.a[0]"}, []string{"t.a[0]", "t.b"}},
		"modules":  {map[string][]plan.Dep{"t.b": {span("module.m.t.a", "module.m[0]")}, "t.c": {span("module.m.t.a", "module.m[1]")}}, []string{"module.m[0].t.a"}, []string{"module.m[0].t.a", "t.b"}},
		"cycle":    {map[string][]plan.Dep{"t.b": {one("t.c")}, "t.c": {one("t.b")}}, []string{"t.b"}, []string{"t.b", "t.c"}},
		"repeated": {map[string][]plan.Dep{"t.b": {one("t.a"), all("t.a")}}, []string{"t.a", "t.a"}, []string{"t.a", "t.b"}},
	} {
		var d Dependents
		for text, deps := range row.deps {
			d.Add(instance(t, text), deps)
		}
		var first []addr.Instance
		for _, text := range row.first {
			first = append(first, instance(t, text))
		}
		var got []string
		for a := range d.Take(first) {
			got = append(got, a.String())
		}
		if slices.Sort(got); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

// TestDependentsOnce follows a dependency of many instances on many once: if each of the others were to find
// all of them again, this would take a million steps.
func TestDependentsOnce(t *testing.T) {
	t.Parallel()
	const n = 1000
	var d Dependents
	at := func(name string, i int) addr.Instance { return instance(t, fmt.Sprintf("t.%s[%d]", name, i)) }
	var first []addr.Instance
	for i := range n {
		d.Add(at("b", i), []plan.Dep{{Resource: at("a", 0).Abs(), All: true}})
		first = append(first, at("a", i))
	}
	if got := len(d.Take(first)); got != 2*n {
		t.Errorf("got %d instances, want %d", got, 2*n)
	}
	if got := len(d.on); got != 0 {
		t.Errorf("got %d dependencies left, want none", got)
	}
}
