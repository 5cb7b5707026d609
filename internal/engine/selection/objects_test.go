package selection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
)

func targets(t interface{ Fatal(...any) }, texts ...string) (out []addr.Target) {
	for _, text := range texts {
		x, err := addr.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// TestDestroysAgainstModel compares Destroys with a look at every pair of objects, repeated until nothing
// changes.
func TestDestroysAgainstModel(t *testing.T) {
	var instances []addr.Instance
	for r := range 4 {
		for k := range 2 {
			instances = append(instances, instance(t, fmt.Sprintf("t.r%d[%d]", r, k)))
		}
	}
	texts := rapid.SliceOfN(rapid.SampledFrom([]string{"t.r0", "t.r1[0]", "t.r2", "t.r2[1]", "t.r3[1]"}), 0, 2)
	rapid.Check(t, func(rt *rapid.T) {
		found := make([]Object, len(instances))
		for i, a := range instances {
			found[i] = Object{Addr: a, Kept: rapid.IntRange(0, 9).Draw(rt, "kept") == 0, Stays: rapid.IntRange(0, 9).Draw(rt, "stays") == 0, Due: rapid.IntRange(0, 9).Draw(rt, "due") == 0}
			for range rapid.IntRange(0, 2).Draw(rt, "deps") {
				on := rapid.SampledFrom(instances).Draw(rt, "on")
				switch rapid.IntRange(0, 2).Draw(rt, "how") {
				case 0:
					found[i].Recorded = append(found[i].Recorded, on.Config())
				case 1:
					found[i].Declared = append(found[i].Declared, plan.Dep{Resource: on.Abs(), All: true})
				default:
					found[i].Declared = append(found[i].Declared, plan.Dep{Resource: on.Abs(), Key: on.Key})
				}
			}
		}
		s := New(targets(rt, texts.Draw(rt, "targets")...), targets(rt, texts.Draw(rt, "excludes")...))
		got := s.Destroys(found)
		taken, kept := make([]bool, len(found)), make([]bool, len(found))
		for i, o := range found {
			kept[i] = o.Kept || s.LeavesOut(o.Addr)
		}
		repeat := func(note func(user, used int)) {
			for range found {
				for i := range found {
					for j := range found {
						if dependsOn(&found[i], found[j].Addr) {
							note(i, j)
						}
					}
				}
			}
		}
		repeat(func(user, used int) { kept[used] = kept[used] || kept[user] })
		for i, o := range found {
			taken[i] = !kept[i] && !o.Stays && (o.Due || s.targets.Empty() || s.targets.Selects(o.Addr))
		}
		repeat(func(user, used int) { taken[user] = !kept[user] && (taken[user] || taken[used]) })
		for i, o := range found {
			if got[i] != taken[i] {
				rt.Errorf("%s: got %t, want %t", o.Addr, got[i], taken[i])
			}
		}
	})
}

// dependsOn reports whether an object depends on the object at a: what is declared of a block counts, and
// what the state recorded of the others, but not of the object's own block.
func dependsOn(o *Object, a addr.Instance) bool {
	declared := slices.ContainsFunc(o.Declared, func(d plan.Dep) bool { return d.Resource == a.Abs() })
	if slices.ContainsFunc(o.Declared, func(d plan.Dep) bool { return d.Resource == a.Abs() && (d.All || d.Key == a.Key) }) {
		return true
	}
	return !declared && a.Config() != o.Addr.Config() && slices.Contains(o.Recorded, a.Config())
}

func TestPartialMoves(t *testing.T) {
	moved := map[addr.Instance]addr.Instance{instance(t, "t.new"): instance(t, "t.old")}
	for _, row := range []struct {
		targets, excludes []string
		want              string // in the error; "" for none
	}{
		{nil, nil, ""},
		{[]string{"t.new"}, nil, ""},
		{[]string{"t.other"}, nil, "-target='t.new'"},
		{nil, []string{"t.other"}, ""},
		{nil, []string{"t.new"}, "-exclude='t.new'"},
		{nil, []string{"t.old"}, "-exclude='t.old'"},
	} {
		diags := New(targets(t, row.targets...), targets(t, row.excludes...)).PartialMoves(moved, config.OptionPlaces{})
		if diags.HasErrors() != (row.want != "") || row.want != "" && !strings.Contains(diags[0].Detail, row.want) {
			t.Errorf("-target %v -exclude %v: got %v, want %q", row.targets, row.excludes, diags.Err(), row.want)
		}
	}
}

func TestUnmatched(t *testing.T) {
	files := fstest.MapFS{
		"main.tf": {Data: []byte("resource \"t\" \"site\" {}\ndata \"t\" \"found\" {}\nephemeral \"t\" \"found\" {}\nmodule \"one\" {\n  source = \"./m\"\n}\n" +
			"resource \"t\" \"texts\" {\n  for_each = var.a\n}\nresource \"t\" \"numbers\" {\n  count = var.a\n}\nresource \"t\" \"maybe\" {\n  lifecycle {\n    enabled = var.a\n  }\n}\n" +
			"module \"pair\" {\n  source = \"./n\"\n  count = 2\n}\nmodule \"tree\" {\n  source = \"./n\"\n  for_each = var.a\n}\n")},
		"m/main.tf": {Data: []byte("resource \"t\" \"in\" {}\nresource \"t\" \"many\" {}\n")},
		"n/main.tf": {Data: []byte("resource \"t\" \"inner\" {}\n")},
	}
	tree, diags := (&config.Loader{FS: files}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	known := []addr.Instance{instance(t, "t.site"), instance(t, "module.one.t.in"), instance(t, "t.gone[1]"), instance(t, "t.numbers[3]"), instance(t, `module.one["k"].t.many["x"]`)}
	for _, row := range []struct{ option, want string }{
		{"t.site", ""},
		{"t.gone", ""},
		{"module.one", ""},
		{"t.iste", "Did you mean t.site?"},
		{"data.t.site", "Did you mean t.site?"},
		{"data.t.site[0]", "Did you mean t.site?"},
		{`module.one["k"].data.t.many["x"]`, `Did you mean module.one["k"].t.many["x"]?`},
		{"t.found", "Did you mean data.t.found?"},
		{"t.fuond", "Neither the configuration nor the state has that address."},
		{"t.in", "Did you mean module.one.t.in?"},
		{"module.oen", "Did you mean module.one?"},
		{`module.one["k"].t.mayn["x"]`, `Did you mean module.one["k"].t.many["x"]?`},
		{`module.oen["k"].t.many["x"]`, `Did you mean module.one["k"].t.many["x"]?`},
		{`module.one["k"].t.mayn["y"]`, "Did you mean module.one.t.many?"},
		{"module.one.t.mayn", "Did you mean module.one.t.many?"},
		{`module.oen["k"]`, `Did you mean module.one["k"]?`},
		{`module.oen["j"]`, "Did you mean module.one?"},
		{"t.gone[0]", "There is t.gone[1]."},
		{"t.unheard_of", "Neither the configuration nor the state has that address."},
		{"t.texts", ""},
		{`t.texts["a"]`, ""},
		{"t.texts[0]", "t.texts has for_each, so the keys of its instances are strings. Without a key, the address is that of all instances."},
		{`t.numbers["0"]`, "t.numbers has count, so the keys of its instances are numbers. There is t.numbers[3]. Without a key,"},
		{"t.numbers[0]", "There is no such instance. There is t.numbers[3]."},
		{"t.site[0]", "t.site has neither count nor for_each, so it has no instance key. Did you mean t.site?"},
		{`t.maybe["a"]`, "t.maybe has neither count nor for_each, so it has no instance key. Did you mean t.maybe?"},
		{"module.one[0]", "module.one has neither count nor for_each, so it has no instance key. Did you mean module.one?"},
		{"module.one[0].t.in[1]", "Did you mean module.one.t.in?"},
		{"module.pair[7].t.inner[0]", "module.pair.t.inner has neither count nor for_each, so it has no instance key. Did you mean module.pair[7].t.inner?"},
		{`module.pair["a"].t.inner`, "module.pair has count, so the keys of its instances are numbers. Without a key,"},
		{`module.tree["a"]`, ""},
		{"module.tree[0].t.inner[0]", "module.tree has for_each, so the keys of its instances are strings. Without a key,"},
		{`t.tetxs["a"]`, `Did you mean t.texts["a"]?`},
		{"t.tetxs[0]", "Did you mean t.texts?"},
		{`module.teer["a"]`, `Did you mean module.tree["a"]?`},
		{`module.tree["a"].t.innre`, `Did you mean module.tree["a"].t.inner?`},
		{"module.tree[0].t.innre", "Did you mean module.tree.t.inner?"},
		{`t.texts["*"]`, `selects nothing. In plans, ["*"] stands for keys that are not known yet. For all instances, use -target=t.texts.`},
		{`t.numbers["*"]`, "There is t.numbers[3]. Without a key, the address is that of all instances. In plans,"},
		{`module.tree["*"].t.inner`, "use -target=module.tree.t.inner."},
		{`module.pair["*"]`, "use -target=module.pair."},
	} {
		got := New(targets(t, row.option), nil).Unmatched(tree, slices.Values(known), nil, config.OptionPlaces{})
		if (len(got) > 0) != (row.want != "") || len(got) > 0 && !strings.Contains(got[0].Detail, row.want) {
			t.Errorf("%s: %v, want %q", row.option, got, row.want)
		}
	}
}

// Addresses in a file are shown there, in the words of a file.
func TestArguments(t *testing.T) {
	tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte("resource \"t\" \"site\" {}\n")}}}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	moved := map[addr.Instance]addr.Instance{instance(t, "t.new"): instance(t, "t.old")}
	first, second := hcl.Range{Filename: "a", Start: hcl.Pos{Line: 1}}, hcl.Range{Filename: "a", Start: hcl.Pos{Line: 2}}
	p := &plan.Plan{ForceReplace: []addr.Instance{instance(t, "t.many"), instance(t, "t.none")}}
	p.Changes = []*plan.Change{{Addr: instance(t, "t.many[0]")}}
	written := config.Places{first, second}
	of := func(s *Selection, places config.OptionPlaces) diag.List {
		return append(s.Unmatched(tree, slices.Values([]addr.Instance{instance(t, "t.new")}), nil, places), s.PartialMoves(moved, places)...)
	}
	got := slices.Concat(
		of(New(targets(t, "t.new", "t.iste"), nil), config.OptionPlaces{Targets: written}),
		of(New(targets(t, "t.iste"), nil), config.OptionPlaces{Targets: written}),
		of(New(nil, targets(t, "t.new", "t.x")), config.OptionPlaces{Excludes: written}),
		UnmatchedReplace(tree, p, written, false),
	)
	want := []struct {
		line            int
		summary, detail string
	}{
		{2, "Nothing matches target", "The address t.iste in the argument \"target\" selects nothing. Neither the configuration nor the state has that address. Did you mean t.site?"},
		{1, "Nothing matches target", "The address t.iste in the argument \"target\" selects nothing. Neither the configuration nor the state has that address. Did you mean t.site?"},
		{1, "Moved resource instances excluded by targeting", "Objects in the state have new addresses in the configuration, and the argument \"target\" does not cover all of them. The state would have them at the new addresses although the plan does not show that. Leave out the argument, or add these addresses:\n\n  t.new"},
		{2, "Nothing matches exclude", "The address t.x in the argument \"exclude\" leaves nothing out. Neither the configuration nor the state has that address."},
		{1, "Moved resource instances excluded by targeting", "Objects in the state have new addresses in the configuration, and the argument \"exclude\" names some of them. The state would have them at the new addresses although the plan does not show that. Leave out these addresses:\n\n  t.new"},
		{1, "Nothing matches replace", "The address t.many lacks an instance key, so it is not the address of an instance. To replace particular instances, use one or more of these addresses:\n  t.many[0]"},
		{2, "Nothing matches replace", "There is no resource instance t.none in this plan, so naming it in the argument \"replace\" has no effect."},
	}
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i, d := range got {
		if w := want[i]; d.Summary != w.summary || d.Detail != w.detail || d.Subject == nil || d.Subject.Start.Line != w.line {
			t.Errorf("got %v, %s, want %+v", d.Subject, d, w)
		}
	}
}

// Only blocks of the same mode are proposed for an import.
func TestInConfiguration(t *testing.T) {
	files := fstest.MapFS{"main.tf": {Data: []byte("resource \"t\" \"site\" {}\ndata \"t\" \"found\" {}\n")}}
	tree, diags := (&config.Loader{FS: files}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	for given, want := range map[string]string{"t.iste": "\n\nDid you mean t.site?", "t.found": "", "t.fuond": ""} {
		if got := InConfiguration(tree, instance(t, given)); got != want {
			t.Errorf("%s: got %q, want %q", given, got, want)
		}
	}
}
