package selection

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestExcludeThroughRepeatedModules holds what -exclude makes of a dependency on all instances of a block in
// repeated modules, or in those below one module instance, against a look at every instance that the
// dependency is on.
func TestExcludeThroughRepeatedModules(t *testing.T) {
	keys := []string{`["x"]`, `["y"]`}
	var instances []addr.Instance
	for _, a := range keys {
		for _, b := range keys {
			for i := range 2 {
				instances = append(instances, instance(t, fmt.Sprintf("module.a%s.module.b%s.t.r[%d]", a, b, i)))
			}
		}
	}
	within := func(modules string) addr.ModuleInstance { return instance(t, modules+"t.r").Module }
	block := addr.AbsResource{Module: within("module.a.module.b."), Resource: addr.Resource{Type: "t", Name: "r"}}
	inX := addr.AbsResource{Module: within(`module.a["x"].module.b.`), Resource: block.Resource}
	deps := map[string]plan.Dep{
		"all":           {Resource: block, All: true, Modules: true},
		`module.a["x"]`: {Resource: inX, All: true, Modules: true, Within: within(`module.a["x"].`)},
	}
	targets := []string{"module.a", `module.a["x"]`, `module.a["y"]`, "module.c", `module.a["x"].module.c`, "t.r", "module.a.t.r", "module.a.module.b", "module.a.module.b.t.r", `module.a.module.b["y"].t.r[0]`, `module.a["y"].module.b`, `module.a["x"].module.b["y"].module.d`}
	for _, a := range keys {
		for _, b := range keys {
			m := "module.a" + a + ".module.b" + b
			targets = append(targets, "module.a"+a+".module.b", m, m+".t.r", m+".t.r[1]", m+".t.other", m+".data.t.r")
		}
	}
	taken := 0
	for name, dep := range deps {
		for _, text := range targets {
			x, err := addr.ParseTarget(text)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.ContainsFunc(instances, func(i addr.Instance) bool {
				return slices.Contains(plan.Spans(i), dep.Span()) && x.Selects(i)
			})
			if want {
				taken++
			}
			s := New(nil, []addr.Target{x})
			for range 2 { // the second answer is remembered
				if got := s.LeavesOutAny(instance(t, "t.user"), []plan.Dep{dep}); got != want {
					t.Errorf("%s with a dependency on %s: got %t, want %t", text, name, got, want)
				}
			}
		}
	}
	if taken == 0 || taken == len(deps)*len(targets) {
		t.Errorf("%d of %d are excluded", taken, len(deps)*len(targets))
	}
}

func instance(t *testing.T, text string) addr.Instance {
	t.Helper()
	a, err := addr.ParseInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
