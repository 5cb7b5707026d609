package selection

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestReplaceLater warns that the plan which has a deferred object needs the option again, unless it is a
// round of the same run.
func TestReplaceLater(t *testing.T) {
	one := addr.Instance{Resource: addr.Resource{Type: "t", Name: "one"}}
	many := addr.Instance{Resource: addr.Resource{Type: "t", Name: "many"}, Key: addr.AnyKey}
	of := many
	of.Key = addr.StringKey("k")
	p := &plan.Plan{Deferrals: []*plan.Deferral{{Change: &plan.Change{Addr: one}}, {Change: &plan.Change{Addr: many}}}}
	for _, a := range []addr.Instance{one, of} {
		p.ForceReplace = []addr.Instance{a}
		diags := UnmatchedReplace(&config.Tree{}, p, nil, false)
		if len(diags) != 1 || diags[0].Severity != diag.Warning || diags[0].Extra != (diag.Once{}) || !strings.Contains(diags[0].Detail, "leaves "+a.String()+" to a later one") {
			t.Errorf("%s: got %v, want a warning", a, diags)
		}
		if diags = UnmatchedReplace(&config.Tree{}, p, nil, true); len(diags) > 0 {
			t.Errorf("%s: in rounds, got %v, want nothing", a, diags)
		}
	}
}

func TestReplaceOfNothing(t *testing.T) {
	parse := func(s string) addr.Instance {
		t.Helper()
		i, err := addr.ParseInstance(s)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte("resource \"t\" \"one\" {}\nresource \"t\" \"many\" {\n  count = 2\n}\n")}}}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	p := &plan.Plan{Prior: &state.State{}}
	for _, s := range []string{"t.one", "t.many[0]", "t.many[1]", "data.t.many[2]", `module.m["a"].t.x[0]`, `module.m["b"].t.x[0]`, `module.m["b"].t.x[1]`} {
		p.Changes = append(p.Changes, &plan.Change{Addr: parse(s)})
	}
	p.Changes = append(p.Changes, &plan.Change{Addr: parse("t.many[3]"), Deposed: "00000001"})
	const (
		lacking = " lacks an instance key, so it is not the address of an instance. To replace particular instances, use one or more of these options:\n  "
		others  = "To replace other instances of the resource, use one or more of these options:\n  "
		ofIt    = "To replace instances of the resource, use one or more of these options:\n  "
		list    = " To list the instances, run:\n  mayfly state list"
	)
	for given, want := range map[string]string{
		"t.many[1]":            "",
		"t.many":               "The address t.many" + lacking + "-replace=\"t.many[0]\"\n  -replace=\"t.many[1]\"",
		"module.m.t.x[0]":      "The address module.m.t.x[0]" + lacking + "-replace=\"module.m[\\\"a\\\"].t.x[0]\"\n  -replace=\"module.m[\\\"b\\\"].t.x[0]\"",
		`module.m["a"].t.x`:    `The address module.m["a"].t.x` + lacking + "-replace=\"module.m[\\\"a\\\"].t.x[0]\"",
		"t.one[0]":             "There is no resource instance t.one[0]: t.one has neither count nor for_each, so it has no instance key. Did you mean t.one?",
		`t.many["0"]`:          `There is no resource instance t.many["0"]: t.many has count, so the keys of its instances are numbers. ` + ofIt + "-replace=\"t.many[0]\"\n  -replace=\"t.many[1]\"",
		"t.many[7]":            "There is no resource instance t.many[7]. " + others + "-replace=\"t.many[0]\"\n  -replace=\"t.many[1]\"",
		`module.m["a"].t.x[1]`: `There is no resource instance module.m["a"].t.x[1]. ` + others + "-replace=\"module.m[\\\"a\\\"].t.x[0]\"\n  -replace=\"module.m[\\\"b\\\"].t.x[0]\"\n  -replace=\"module.m[\\\"b\\\"].t.x[1]\"",
		"t.mayn":               "There is no resource instance t.mayn in this plan, so -replace=\"t.mayn\" has no effect. Did you mean t.many?" + list,
		"t.mayn[0]":            "There is no resource instance t.mayn[0] in this plan, so -replace=\"t.mayn[0]\" has no effect. Did you mean t.many[0]?" + list,
		"t.mayn[2]":            "There is no resource instance t.mayn[2] in this plan, so -replace=\"t.mayn[2]\" has no effect. Did you mean t.many?" + list,
		`module.m["b"].t.y[1]`: "There is no resource instance module.m[\"b\"].t.y[1] in this plan, so -replace=\"module.m[\\\"b\\\"].t.y[1]\" has no effect." + list,
		`module.m["b"].s.x[1]`: "There is no resource instance module.m[\"b\"].s.x[1] in this plan, so -replace=\"module.m[\\\"b\\\"].s.x[1]\" has no effect." + list,
		"type.unlike":          "There is no resource instance type.unlike in this plan, so -replace=\"type.unlike\" has no effect." + list,
	} {
		p.ForceReplace = []addr.Instance{parse(given)}
		got := ""
		for _, d := range UnmatchedReplace(tree, p, nil, false) {
			got += d.Detail
			if d.Extra != (diag.Once{}) {
				t.Errorf("%s: got extra %v, want it shown beside others", given, d.Extra)
			}
			if near := strings.Contains(want, "Did you mean") || strings.Contains(want, ofIt); near != (d.Severity == diag.Error) {
				t.Errorf("%s: got severity %v, want an error: %t", given, d.Severity, near)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (want, got) %s", given, diff)
		}
	}
}
