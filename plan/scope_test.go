package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// storedState returns a state with objects, each given as an address and the blocks that it depends on. The
// version of an object is its number.
func storedState(t *testing.T, objects ...string) *state.State {
	t.Helper()
	st := state.New()
	for i, text := range objects {
		words := strings.Fields(text)
		o := &state.Object{Version: state.Version{byte(i + 1)}}
		a := addr.Object{Instance: inst(t, words[0])}
		for _, w := range words[1:] {
			if w == "deposed" {
				a.Deposed = "00000001"
				continue
			}
			o.Dependencies = append(o.Dependencies, inst(t, w).Config())
		}
		st.SetObject(a, o, addr.ProviderConfig{})
	}
	return st
}

// describe returns the lines of a scope: claims, optional claims and compared rows, without the intents that
// go with each change of an instance.
func describe(s *state.Scope) []string {
	var out []string
	add := func(prefix string, c state.Claims) {
		for subject, mode := range c {
			if mode == state.Intent && subject.Kind != state.Dependents {
				continue
			}
			out = append(out, fmt.Sprintf("%s%s %s", prefix, mode, subject.Key()))
		}
	}
	add("", s.Claims)
	for _, c := range s.Optional {
		add("free ", c)
	}
	for subject, set := range s.Relied {
		var rows []string
		for name, version := range set {
			number := ""
			if version != (state.Version{}) && subject.Kind != state.OneOutput && subject.Kind != state.OneCheck {
				number = fmt.Sprint("@", version[0])
			}
			rows = append(rows, name.String()+number)
		}
		slices.Sort(rows)
		out = append(out, strings.TrimSpace(fmt.Sprintf("= %s: %s", subject.Key(), strings.Join(rows, ", "))))
	}
	slices.Sort(out)
	return out
}

func TestScope(t *testing.T) {
	span := func(p *Plan) {
		within := addr.RootInstance.Child("a", addr.NoKey)
		d := Dep{Resource: addr.AbsResource{Module: within.Child("b", addr.NoKey), Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "x"}}, All: true, Modules: true, Within: within}
		p.Changes[0].Deps = append(p.Changes[0].Deps, d)
	}
	tests := []struct {
		name    string
		changes []string
		stored  []string
		more    func(*Plan, *ScopeOptions)
		want    []string
	}{
		{
			"nothing to do",
			[]string{"t.a no-op uses t.b"},
			[]string{"t.a", "t.b"},
			nil, nil,
		},
		{
			"a change and what it was evaluated from",
			[]string{"t.a update uses t.b[0] t.none", "t.b[0] no-op"},
			[]string{"t.a t.b", "t.b[0]"},
			nil,
			[]string{"= t.a: t.a@1", "= t.b[0]: t.b[0]@2", "= t.none:", "i on t.none", "s t.b[0]", "s t.none", "x t.a"},
		},
		{
			"an object that is created is claimed by its absence",
			[]string{"t.a create"},
			nil, nil,
			[]string{"= t.a:", "x t.a"},
		},
		{
			"a new dependency",
			[]string{"t.a create uses t.b"},
			[]string{"t.b"},
			nil,
			[]string{"= t.a:", "= t.b: t.b@1", "i on t.b", "s t.b", "x t.a"},
		},
		{
			"a data source that a step reads",
			[]string{"data.d.a read"},
			nil, nil,
			[]string{"= data.d.a:", "x data.d.a"},
		},
		{
			"a move",
			[]string{"t.new no-op uses t.b"},
			[]string{"t.old"},
			func(p *Plan, _ *ScopeOptions) { p.Changes[0].PrevAddr = inst(t, "t.old") },
			[]string{"= t.new:", "= t.old: t.old@1", "x t.new", "x t.old"},
		},
		{
			"an import",
			[]string{"t.a no-op uses t.b"},
			[]string{"t.b"},
			func(p *Plan, _ *ScopeOptions) { p.Changes[0].Importing = &Importing{ID: "i"} },
			[]string{"= t.a:", "= t.b: t.b@1", "i on t.b", "s t.b", "x t.a"},
		},
		{
			"a deposed object belongs to its instance",
			[]string{"t.a no-op", "t.a delete deposed"},
			[]string{"t.a", "t.a deposed"},
			nil,
			[]string{"= on t.a:", "= t.a: t.a (deposed object 00000001)@2, t.a@1", "s on t.a", "x t.a"},
		},
		{
			"destroying relies on no further dependents",
			[]string{"t.a[0] delete"},
			[]string{"t.a[0]", "t.a[1]", "t.b t.a", "module.m.t.c t.a"},
			nil,
			[]string{"= on t.a: module.m.t.c, t.b", "= t.a[0]: t.a[0]@1", "s on t.a", "x t.a[0]"},
		},
		{
			"so does a replacement, which may be of a new dependent",
			[]string{"t.a delete-create", "t.b create uses t.a"},
			[]string{"t.a"},
			nil,
			[]string{"= on t.a:", "= t.a: t.a@1", "= t.b:", "x on t.a", "x t.a", "x t.b"},
		},
		{
			"forgetting does not",
			[]string{"t.a forget"},
			[]string{"t.a", "t.b t.a"},
			nil,
			[]string{"= t.a: t.a@1", "x t.a"},
		},
		{
			"a whole resource",
			[]string{"t.a update uses t.b[*]"},
			[]string{"t.a t.b", "t.b[0]", "t.b[1]", "t.c"},
			nil,
			[]string{"= all t.b: t.b[0]@2, t.b[1]@3", "= t.a: t.a@1", "s all t.b", "x t.a"},
		},
		{
			"a whole resource of which an instance changes",
			[]string{"t.a update uses t.b[*]", "t.b[0] update"},
			[]string{"t.a t.b", "t.b[0]", "t.b[1]"},
			nil,
			[]string{"= all t.b: t.b[0]@2, t.b[1]@3", "= t.a: t.a@1", "= t.b[0]: t.b[0]@2", "x all t.b", "x t.a", "x t.b[0]"},
		},
		{
			"all instances of a module",
			[]string{"t.a update"},
			[]string{"t.a module.a.module.b.t.x", `module.a.module.b["k"].t.x`, `module.a.module.b["l"].t.x`, "module.a.module.b.t.y", "module.c.module.b.t.x"},
			func(p *Plan, _ *ScopeOptions) { span(p) },
			[]string{`= all module.a.module.b.t.x within module.a: module.a.module.b["k"].t.x@2, module.a.module.b["l"].t.x@3`, "= t.a: t.a@1", "s all module.a.module.b.t.x within module.a", "x t.a"},
		},
		{
			"drift is written where it is free",
			[]string{"t.b no-op"},
			[]string{"t.a", "t.b", "t.gone"},
			func(p *Plan, opt *ScopeOptions) {
				p.Drift = []*Change{{Addr: inst(t, "t.a"), Action: Update}, {Addr: inst(t, "t.gone"), Action: Delete}}
				p.Adopted = []state.ObjectChange{{Object: addr.Object{Instance: inst(t, "t.gone")}}}
				opt.Records = []addr.Instance{inst(t, "t.b")}
			},
			[]string{"= t.a: t.a@1", "= t.b: t.b@2", "= t.gone: t.gone@3", "free x t.a", "free x t.b", "free x t.gone"},
		},
		{
			"data is written where it is free, and has changed", nil,
			[]string{"data.d.same", "data.d.changed"},
			func(p *Plan, opt *ScopeOptions) {
				p.Adopted = []state.ObjectChange{
					{Object: addr.Object{Instance: inst(t, "data.d.same")}, New: &state.Object{}},
					{Object: addr.Object{Instance: inst(t, "data.d.changed")}, New: &state.Object{SchemaVersion: 1}},
					{Object: addr.Object{Instance: inst(t, "data.d.new")}, New: &state.Object{}},
				}
			},
			[]string{"= data.d.changed: data.d.changed@2", "= data.d.new:", "free x data.d.changed", "free x data.d.new"},
		},
		{
			"an object that was moved without a change", nil,
			[]string{"t.old"},
			func(p *Plan, opt *ScopeOptions) {
				p.Adopted = []state.ObjectChange{{Object: addr.Object{Instance: inst(t, "t.new")}, New: &state.Object{}}, {Object: addr.Object{Instance: inst(t, "t.old")}}}
			},
			[]string{"= t.new:", "= t.old: t.old@1", "x t.new", "x t.old"},
		},
		{
			"outputs", nil,
			[]string{"t.a"},
			func(p *Plan, opt *ScopeOptions) {
				opt.Stored.Outputs["changed"] = &state.Output{}
				deps := change(t, "t.x update uses t.a").Deps
				p.Outputs = []*OutputChange{{Name: "changed", Action: Update, Deps: deps}, {Name: "new", Action: Create}, {Name: "same", Action: NoOp, Deps: deps}}
			},
			[]string{"= output changed: changed", "= output new:", "= t.a: t.a@1", "s t.a", "x output changed", "x output new"},
		},
		{
			"checks",
			[]string{"t.a update"},
			[]string{"t.a", "t.b"},
			func(p *Plan, opt *ScopeOptions) {
				result := func(config string, s state.CheckStatus) state.CheckResult {
					return state.CheckResult{Kind: "check", Config: config, Status: s, Objects: []state.CheckObject{{Addr: config, Status: s}}}
				}
				opt.Stored.Checks = []state.CheckResult{result("check.same", state.CheckPass), result("check.changed", state.CheckPass), result("check.touched", state.CheckPass), result("check.gone", state.CheckPass), result("check.out", state.CheckPass)}
				p.Checks = []state.CheckResult{result("check.same", state.CheckPass), result("check.changed", state.CheckFail), result("check.touched", state.CheckPass), {Kind: "check", Config: "check.out", Status: state.CheckUnknown}}
				opt.Checks = map[string][]Dep{"check.touched": change(t, "t.x update uses t.a").Deps, "check.changed": change(t, "t.x update uses t.b").Deps}
			},
			[]string{
				"= check check.changed: check.changed", "= check check.gone: check.gone", "= check check.touched: check.touched", "= t.a: t.a@1", "= t.b: t.b@2",
				"s t.b", "x check check.changed", "x check check.gone", "x check check.touched", "x t.a",
			},
		},
		{
			"outputs and checks with turns",
			[]string{"t.a update"},
			[]string{"t.a", "t.b"},
			func(p *Plan, opt *ScopeOptions) {
				touched, other := change(t, "t.x update uses t.a t.b").Deps, change(t, "t.x update uses t.b").Deps
				p.Outputs = []*OutputChange{{Name: "touched", Action: Update, Deps: touched}, {Name: "other", Action: Create, Deps: other}, {Name: "opened", Action: Create, Deps: touched}}
				for _, config := range []string{"check.touched", "check.other"} {
					p.Checks = append(p.Checks, state.CheckResult{Kind: "check", Config: config, Status: state.CheckPass, Objects: []state.CheckObject{{Addr: config, Status: state.CheckPass}}})
				}
				opt.Checks = map[string][]Dep{"check.touched": touched, "check.other": other}
				opt.Turns = map[state.Subject]bool{}
				for _, name := range []string{"touched", "other"} {
					opt.Turns[state.Subject{Kind: state.OneOutput, Addr: name}] = true
					opt.Turns[state.Subject{Kind: state.OneCheck, Addr: "check." + name}] = true
				}
			},
			[]string{
				"= check check.other:", "= output opened:", "= output other:", "= t.a: t.a@1", "= t.b: t.b@2",
				"s t.b", "x check check.other", "x output opened", "x output other", "x t.a",
			},
		},
		{
			"an action that a change triggers",
			[]string{"t.a update"},
			[]string{"t.a", "t.b"},
			func(p *Plan, _ *ScopeOptions) {
				p.Invocations = []*Invocation{{Deps: change(t, "t.x update uses t.b").Deps}}
			},
			[]string{"= t.a: t.a@1", "= t.b: t.b@2", "s t.b", "x t.a"},
		},
		{
			"everything is destroyed",
			[]string{"t.a delete"},
			[]string{"t.a", "module.m.t.b"},
			func(p *Plan, _ *ScopeOptions) { p.Mode = Destroy },
			[]string{"= : module.m.t.b@2, t.a@1", "x"},
		},
		{
			"some is destroyed",
			[]string{"t.a delete"},
			[]string{"t.a", "t.b"},
			func(p *Plan, _ *ScopeOptions) { p.Mode, p.Targets = Destroy, []addr.Target{{}} },
			[]string{"= on t.a:", "= t.a: t.a@1", "s on t.a", "x t.a"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, opt := &Plan{}, ScopeOptions{Stored: storedState(t, test.stored...)}
			for _, text := range test.changes {
				p.Changes = append(p.Changes, change(t, text))
			}
			if test.more != nil {
				test.more(p, &opt)
			}
			got := Scope(p, opt)
			for i, line := range test.want {
				if line == "x" {
					test.want[i] = "x " // of the whole state
				}
			}
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, describe(got)); diff != "" {
				t.Errorf("the scope (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIntents requires that a change of an instance excludes those who read all instances around it, and no
// change of another one.
func TestIntents(t *testing.T) {
	p := &Plan{Changes: []*Change{change(t, `module.a["k"].t.x[0] update`)}}
	got := Scope(p, ScopeOptions{Stored: state.New()}).Claims
	want := map[string]state.ClaimMode{
		"":                                      state.Intent,
		`module.a["k"].t.x[0]`:                  state.Exclusive,
		`all module.a["k"].t.x`:                 state.Intent,
		`all module.a.t.x everywhere`:           state.Intent,
		`all module.a.t.x within module.a["k"]`: state.Intent,
	}
	keys := map[string]state.ClaimMode{}
	for s, m := range got {
		keys[s.Key()] = m
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("the claims (-want +got):\n%s", diff)
	}
}
