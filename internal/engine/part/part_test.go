package part

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

func compile(t *testing.T, main, module string) *blocks.Config {
	t.Helper()
	return compileFiles(t, map[string]string{"main.tf": main, "m/main.tf": module})
}

func compileFiles(t *testing.T, files map[string]string) *blocks.Config {
	t.Helper()
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, diags := (&config.Loader{FS: dir}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := blocks.Compile(tree, blockstest.Schemas{"made": {Type: cty.String, Computed: true}, "name": {Type: cty.DynamicPseudoType, Optional: true}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return cfg
}

const network = `
resource "t" "net" {}
resource "t" "other" {}
resource "t" "many" {
  count = 3
  name  = t.net.id
}
ephemeral "t" "e" { name = t.other.id }
module "m" {
  source   = "./m"
  for_each = toset(["a", "b"])
  net      = t.net.id
}
module "one" {
  source = "./m"
  net    = null
}
resource "t" "last" { name = [for m in module.m : m.id] }
`

const inner = `
variable "net" {}
resource "t" "x" { name = var.net }
resource "t" "y" {
  for_each = toset(["k"])
  name     = t.x.id
}
output "id" { value = t.y }
`

func target(t *testing.T, text string) addr.Target {
	t.Helper()
	x, err := addr.ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func instance(t *testing.T, text string) addr.Instance {
	t.Helper()
	a, err := addr.ParseInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func keys(subjects []state.Subject) []string {
	out := []string{}
	for _, s := range subjects {
		out = append(out, s.Key())
	}
	slices.Sort(out)
	return out
}

// TestFirst says which objects are read first.
func TestFirst(t *testing.T) {
	cfg := compile(t, network, inner)
	for text, want := range map[string][]string{
		"t.net":                  {},
		"t.many[1]":              {"all t.net", "t.many[1]"},
		"t.many[0]":              {"all t.net", "t.many", "t.many[0]"},
		"t.gone":                 {},
		"module.gone":            {},
		`module.m["a"]`:          {`all module.m["a"].t.x`, "all t.net"},
		"module.m":               {"all module.m.t.x everywhere", "all t.net"},
		"module.one":             {"all module.one.t.x", "all module.one[0].t.x", "all module.one[0].t.y"},
		"module.m.t.x[0]":        {"all module.m.t.x everywhere", "all t.net"},
		`module.m["b"].t.y["k"]`: {`all module.m["b"].t.x`, "all t.net", `module.m["b"].t.y["k"]`},
		"t.last":                 {"all module.m.t.x everywhere", "all module.m.t.y everywhere", "all t.net"},
	} {
		_, first := New(cfg, []addr.Target{target(t, text)}, plan.Normal, nil)
		if diff := cmp.Diff(want, keys(first.Subjects)); diff != "" {
			t.Errorf("%s: want(-) got(+):\n%s", text, diff)
		}
	}
}

// TestFirstBelow reads the objects of modules in modules.
func TestFirstBelow(t *testing.T) {
	cfg := compileFiles(t, map[string]string{
		"main.tf":   "resource \"t\" \"net\" {}\nephemeral \"t\" \"e\" { name = t.net.id }\nmodule \"n\" {\n source = \"./n\"\n count = 1\n net = t.net.id\n depends_on = [ephemeral.t.e]\n}\n",
		"n/main.tf": "variable \"net\" {}\nmodule \"o\" {\n source = \"../m\"\n for_each = toset([\"a\"])\n net = var.net\n}\n",
		"m/main.tf": inner,
	})
	for text, want := range map[string][]string{
		"module.n": {"all module.n.module.o.t.x everywhere", "all t.net"},
		`module.n[0].module.o.t.y["k"]`: {
			"all module.n.module.o.t.x within module.n", "all module.n.module.o.t.x within module.n[0]", "all module.n.module.o.t.y within module.n", "all t.net",
		},
	} {
		_, first := New(cfg, []addr.Target{target(t, text)}, plan.Normal, nil)
		if diff := cmp.Diff(want, keys(first.Subjects)); diff != "" {
			t.Errorf("%s: want(-) got(+):\n%s", text, diff)
		}
	}
}

// shelf is a state whose objects depend on others.
type shelf struct {
	*state.State
	asked []string
	sent  map[string]int // how often objects were read
	err   error
}

func (s *shelf) put(t *testing.T, text string, uses ...string) {
	t.Helper()
	o := &state.Object{}
	for _, u := range uses {
		o.Dependencies = append(o.Dependencies, instance(t, u).Config())
	}
	s.SetObject(addr.Object{Instance: instance(t, text)}, o, addr.ProviderConfig{})
}

func (s *shelf) fetch(_ context.Context, p state.Part, keep func(addr.Instance) bool) (*state.State, error) {
	out := state.New()
	for _, x := range p.Subjects {
		s.asked = append(s.asked, x.Key())
		for a, in := range s.AllInstances() {
			is := x == state.InstanceSubject(a) || x.Kind == state.WholeState || x.Kind == state.AllWithin && x.Addr == a.Config().String()
			for _, u := range in.Current.Dependencies {
				is = is || x == state.Subject{Kind: state.Dependents, Addr: u.String()}
			}
			if is && keep(a) {
				if s.sent == nil {
					s.sent = map[string]int{}
				}
				s.sent[a.String()]++
				out.SetObject(addr.Object{Instance: a}, in.Current, in.Provider)
			}
		}
	}
	slices.Sort(s.asked)
	return out, s.err
}

func names(st *state.State) string {
	var out []string
	if st != nil {
		for a := range st.AllInstances() {
			out = append(out, a.String())
		}
	}
	return strings.Join(out, " ")
}

// TestLook notes objects that were not read. After some attempts, everything is read.
func TestLook(t *testing.T) {
	cfg := compile(t, network, inner)
	s := &shelf{State: state.New()}
	s.put(t, "t.other")
	s.put(t, "t.far")
	s.put(t, "t.farther")
	p, _ := New(cfg, []addr.Target{target(t, "t.many")}, plan.Normal, s.fetch)
	look := func(text string) (string, bool) {
		p.Look(addr.Object{Instance: instance(t, text)})
		found, again, err := p.Again(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return names(found), again
	}
	for _, known := range []string{"t.net", "t.many[7]"} {
		if found, again := look(known); again {
			t.Errorf("%s: got %q to be read, want nothing", known, found)
		}
	}
	if found, again := look("t.other"); found != "t.other" || !again {
		t.Errorf("got %q, %v, want t.other", found, again)
	}
	if found, again := look("t.other"); again {
		t.Errorf("looking again: got %q, want nothing", found)
	}
	for range most - 1 {
		look("t.none" + strings.Repeat("x", len(p.has)))
	}
	if found, again := look("t.far"); found != "t.far t.farther" || !again {
		t.Errorf("after %d attempts: got %q, %v, want the whole state", most, found, again)
	}
	if found, again := look("t.anything"); again {
		t.Errorf("with the whole state: got %q, want nothing", found)
	}
	p.LookAll(true)
	if _, again, _ := p.Again(t.Context()); again {
		t.Error("with the whole state, LookAll: got another attempt, want none")
	}

	p, _ = New(cfg, []addr.Target{target(t, "t.many")}, plan.Normal, s.fetch)
	p.LookAll(false)
	if _, again, _ := p.Again(t.Context()); again {
		t.Error("LookAll without a need: got another attempt, want none")
	}
	p.LookAll(true)
	if found, again, _ := p.Again(t.Context()); !again || names(found) != "t.far t.farther t.other" {
		t.Errorf("LookAll: got %q, want the whole state", names(found))
	}
}

// TestLookBeside asks for the whole state if a target with a key selects nothing that is known.
func TestLookBeside(t *testing.T) {
	cfg := compile(t, network, inner)
	for _, row := range []struct {
		targets string
		whole   bool
	}{
		{"t.many[1]", false},
		{"t.many[7]", true},
		{"t.many", false},
		{"t.other", false},
		{`module.m["a"]`, false},
		{`module.m["q"]`, true},
		{`module.m["q"].t.x`, true},
		{"module.one", false},
		{"t.many[1] t.many[7]", true},
	} {
		s := &shelf{State: state.New()}
		s.put(t, "t.far")
		var targets []addr.Target
		for _, text := range strings.Fields(row.targets) {
			targets = append(targets, target(t, text))
		}
		p, _ := New(cfg, targets, plan.Destroy, s.fetch)
		p.LookBeside(slices.Values([]addr.Instance{instance(t, "t.many[1]"), instance(t, `module.m["a"].t.x`)}))
		if found, again, err := p.Again(t.Context()); again != row.whole || (names(found) != "") != row.whole || err != nil {
			t.Errorf("%s: got %q, %t, %v, want the whole state: %t", row.targets, names(found), again, err, row.whole)
		}
	}
}

// TestWholeState has no part: nothing is ever missed.
func TestWholeState(t *testing.T) {
	var p *Part
	p.Look(addr.Object{Instance: instance(t, "t.a")})
	p.LookAll(true)
	p.LookBeside(slices.Values([]addr.Instance{instance(t, "t.a")}))
	g := Growing{Plan: &plan.Plan{Changes: []*plan.Change{{Addr: instance(t, "t.a"), Action: plan.Delete}}}}
	g.Made(t.Context())
	if g.Missed(t.Context()) || g.Gone(t.Context(), []addr.Object{{Instance: instance(t, "t.a")}}) || g.Relied(t.Context(), &state.Scope{Relied: map[state.Subject]state.RowSet{{Kind: state.OneInstance, Addr: "t.a"}: nil}}) {
		t.Error("got objects that were missed, want none")
	}
}

// TestRelied reads the subjects of a scope that were not read.
func TestRelied(t *testing.T) {
	cfg := compile(t, network, inner)
	relied := func(subjects ...state.Subject) *state.Scope {
		out := &state.Scope{Relied: map[state.Subject]state.RowSet{}}
		for _, s := range subjects {
			out.Relied[s] = nil
		}
		return out
	}
	for _, row := range []struct {
		s    state.Subject
		read bool
	}{
		{state.Subject{Kind: state.OneInstance, Addr: "t.net"}, true},
		{state.Subject{Kind: state.OneInstance, Addr: "t.many[5]"}, true},
		{state.Subject{Kind: state.OneInstance, Addr: "t.other"}, false},
		{state.Subject{Kind: state.AllInstances, Addr: "t.many"}, true},
		{state.Subject{Kind: state.AllInstances, Addr: "t.net"}, true},
		{state.Subject{Kind: state.AllInstances, Addr: "t.other"}, false},
		{state.Subject{Kind: state.AllWithin, Addr: "module.m.t.x"}, false},
		{state.Subject{Kind: state.AllWithin, Addr: "module.m.t.x", Within: `module.m["a"]`}, false},
		{state.Subject{Kind: state.Dependents, Addr: "t.net"}, false},
		{state.Subject{Kind: state.OneOutput, Addr: "o"}, true},
		{state.Subject{Kind: state.OneCheck, Addr: "check.c"}, true},
	} {
		s := &shelf{State: state.New()}
		p, _ := New(cfg, []addr.Target{target(t, "t.many")}, plan.Normal, s.fetch)
		if _, err := p.Relied(t.Context(), relied(row.s)); err != nil || (len(s.asked) == 0) != row.read {
			t.Errorf("%s: got %v, %v, want read before: %t", row.s.Key(), s.asked, err, row.read)
		}
	}
	s := &shelf{State: state.New()}
	p, _ := New(cfg, []addr.Target{target(t, "t.last")}, plan.Normal, s.fetch)
	if _, err := p.Relied(t.Context(), relied(state.Subject{Kind: state.AllWithin, Addr: "module.m.t.x"}, state.Subject{Kind: state.AllWithin, Addr: "module.m.t.x", Within: `module.m["a"]`})); err != nil || len(s.asked) > 0 {
		t.Errorf("modules that were read: got %v, %v, want nothing", s.asked, err)
	}
}

// TestReliedUnreadable reads subjects without instances, and of a whole state none.
func TestReliedUnreadable(t *testing.T) {
	cfg := compile(t, network, inner)
	s := &shelf{State: state.New()}
	p, _ := New(cfg, []addr.Target{target(t, "t.last")}, plan.Normal, s.fetch)
	relied := func(of state.Subject, want ...string) {
		t.Helper()
		s.asked = nil
		if _, err := p.Relied(t.Context(), &state.Scope{Relied: map[state.Subject]state.RowSet{of: nil}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.asked); diff != "" {
			t.Errorf("%s: want(-) got(+):\n%s", of.Key(), diff)
		}
	}
	relied(state.Subject{Kind: state.OneInstance, Addr: "module.m"}, "module.m")
	relied(state.Subject{Kind: state.OneInstance, Addr: "["}, "[")
	relied(state.Subject{Kind: state.AllInstances, Addr: `module.m["a"].t.x`})
	p.LookAll(true)
	if _, _, err := p.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	relied(state.Subject{Kind: state.Dependents, Addr: "t.net"})
}

// TestGrowing adds objects that were read later to all states of an attempt.
func TestGrowing(t *testing.T) {
	cfg := compile(t, network, inner)
	s := &shelf{State: state.New()}
	s.put(t, "t.user", "t.many")
	s.put(t, "t.other")
	attempt := func() (*Growing, *diag.List) {
		s.err = nil
		p, _ := New(cfg, []addr.Target{target(t, "t.many")}, plan.Normal, s.fetch)
		stored, prior, diags := state.New(), state.New(), &diag.List{}
		return &Growing{Part: p, Plan: &plan.Plan{Base: stored}, Report: func(d diag.List) { *diags = append(*diags, d...) }, Stored: &stored, Prior: &prior}, diags
	}
	holds := func(g *Growing, want string) {
		t.Helper()
		for i, st := range []*state.State{*g.Stored, *g.Prior, g.Plan.Base} {
			if got := names(st); got != want {
				t.Errorf("state %d: got %q, want %q", i, got, want)
			}
		}
	}
	many := addr.Object{Instance: instance(t, "t.many[1]")}

	g, _ := attempt()
	if !g.Gone(t.Context(), []addr.Object{many}) || g.Gone(t.Context(), []addr.Object{many}) {
		t.Error("dependents of destroyed objects: want them once")
	}
	holds(g, "")
	if !g.Missed(t.Context()) {
		t.Error("got no other attempt, want one")
	}
	holds(g, "t.user")

	for _, action := range []plan.Action{plan.Delete, plan.DeleteThenCreate, plan.Update} {
		g, _ = attempt()
		g.Plan.Changes = []*plan.Change{{Addr: many.Instance, Action: action}}
		g.Made(t.Context())
		if holds(g, map[bool]string{true: "", false: "t.user"}[action == plan.Update]); g.Missed(t.Context()) {
			t.Error("got another attempt, want none")
		}
	}

	g, _ = attempt()
	stored, base := *g.Stored, state.New()
	g.Plan.Base = base
	if g.Part.LookAll(true); !g.Missed(t.Context()) {
		t.Error("got no other attempt, want one")
	}
	if holds(g, "t.other t.user"); names(stored)+names(base) != "" {
		t.Errorf("states from before: got %q and %q, want them as they were", names(stored), names(base))
	}

	g, _ = attempt()
	scope := &state.Scope{Relied: map[state.Subject]state.RowSet{{Kind: state.OneInstance, Addr: "t.other"}: nil}}
	if !g.Relied(t.Context(), scope) || g.Relied(t.Context(), scope) {
		t.Error("rows of the scope: want them once")
	}
	holds(g, "t.other")

	for i, f := range []func(*Growing) bool{
		func(g *Growing) bool { return g.Gone(t.Context(), []addr.Object{many}) },
		func(g *Growing) bool { return g.Relied(t.Context(), scope) },
		func(g *Growing) bool {
			g.Part.LookAll(true)
			return g.Missed(t.Context())
		},
	} {
		g, diags := attempt()
		s.err = errors.New("lost")
		if f(g) || !diags.HasErrors() {
			t.Errorf("failure %d: got %v, want an error", i, *diags)
		}
	}
}

// TestSuffices refuses a part with an object that a moved block takes elsewhere, or with computed values that
// are not stored.
func TestSuffices(t *testing.T) {
	cfg := compile(t, network+"moved {\n from = t.former\n to = t.net\n}\nmoved {\n from = t.many\n to = t.many[0]\n}\n", inner)
	if _, first := New(cfg, []addr.Target{target(t, "t.net")}, plan.Normal, nil); len(first.Targets) != 2 || first.Targets[1].String() != "t.former" {
		t.Errorf("targets: got %v, want t.net and t.former", first.Targets)
	}
	for text, want := range map[string]bool{"t.net": true, "t.former": false, "t.many[1]": true, "t.many": false} {
		s := &shelf{State: state.New()}
		s.put(t, text)
		if got := Suffices(cfg, s.State); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	st := state.New()
	st.SetObject(addr.Object{Instance: instance(t, "t.net")}, &state.Object{Withheld: []state.Withheld{{Computed: true}}}, addr.ProviderConfig{})
	if Suffices(cfg, st) {
		t.Error("with a computed value: got true, want false")
	}
	for body, want := range map[string]bool{"": true, "lifecycle { ephemeral_attributes = [made] }": false} {
		if got := Possible(compile(t, network+"resource \"t\" \"mine\" {\n"+body+"\n}\n", inner)); got != want {
			t.Errorf("a configuration with %q: got %t, want %t", body, got, want)
		}
	}
}

// TestMade has the instances of the state that a plan was made of, and of its changes.
func TestMade(t *testing.T) {
	s := &shelf{State: state.New()}
	s.put(t, "t.a")
	got := keys(Made(&plan.Plan{Base: s.State, Changes: []*plan.Change{{Addr: instance(t, "t.b"), PrevAddr: instance(t, "t.c")}}}))
	if diff := cmp.Diff([]string{"t.a", "t.b", "t.c"}, got); diff != "" {
		t.Errorf("want(-) got(+):\n%s", diff)
	}
}

// TestFirstOfOne reads the one instance that an instance refers to, also under the key that it had before its
// resource got a count.
func TestFirstOfOne(t *testing.T) {
	cfg := compile(t, `
resource "t" "a" { count = 3 }
resource "t" "user" {
  count = 3
  name  = t.a[count.index].id
}
module "m" {
  source   = "./m"
  for_each = toset(["a"])
}
`, `
resource "t" "a" { for_each = toset(["k"]) }
resource "t" "user" {
  for_each = toset(["k"])
  name     = t.a[each.key].id
}
`)
	for text, want := range map[string][]string{
		"t.user[1]":                 {"t.a[1]", "t.user[1]"},
		"t.user[0]":                 {"t.a", "t.a[0]", "t.user", "t.user[0]"},
		"t.user":                    {"all t.a"},
		`module.m["a"].t.user["k"]`: {`module.m["a"].t.a["k"]`, `module.m["a"].t.user["k"]`},
		`module.m.t.user["k"]`:      {"all module.m.t.a everywhere"},
	} {
		_, first := New(cfg, []addr.Target{target(t, text)}, plan.Normal, nil)
		if diff := cmp.Diff(want, keys(first.Subjects)); diff != "" {
			t.Errorf("%s: want(-) got(+):\n%s", text, diff)
		}
	}
}
