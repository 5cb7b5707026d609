package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// shelf is a state that is read in parts.
type shelf struct {
	whole *state.State
	read  map[addr.Instance]bool
	times int
}

// fetch returns the objects of a part.
func (s *shelf) fetch(_ context.Context, p state.Part, keep func(addr.Instance) bool) (*state.State, error) {
	s.times++
	targets, found := addr.NewTargetSet(p.Targets), state.New()
	want := map[state.Subject]bool{}
	for _, x := range p.Subjects {
		want[x] = true
	}
	for a, in := range s.whole.AllInstances() {
		is := want[state.Subject{Kind: state.WholeState}] || targets.Selects(a) || want[state.InstanceSubject(a)] || want[state.Subject{Kind: state.AllInstances, Addr: a.Abs().String()}]
		for _, span := range plan.Spans(a) {
			is = is || want[state.Subject{Kind: state.AllWithin, Addr: span.Block.String(), Within: span.Within.String()}]
		}
		is = is || want[state.Subject{Kind: state.AllWithin, Addr: a.Config().String(), Within: a.Module.String()}]
		for o := range in.All() {
			for _, used := range o.Dependencies {
				is = is || want[state.Subject{Kind: state.Dependents, Addr: used.String()}]
			}
		}
		if !is || !keep(a) {
			continue
		}
		s.read[a] = true
		if in.Current != nil {
			found.SetObject(addr.Object{Instance: a}, in.Current, in.Provider)
		}
		for key, o := range in.Deposed {
			found.SetObject(addr.Object{Instance: a, Deposed: key}, o, in.Provider)
		}
	}
	return found, nil
}

// planned plans with targets, from the whole state or from a part of it.
func (w *world) planned(mode plan.Mode, targets []string, replace []addr.Instance, inParts bool) (string, *shelf) {
	w.t.Helper()
	c := &command{}
	e := w.engine(c, func(event.Event) {})
	defer e.Close()
	tree, diags := (&config.Loader{}).Load(w.dir)
	cfg, more := e.Compile(w.t.Context(), tree)
	if diags = append(diags, more...); diags.HasErrors() {
		w.t.Fatal(diags)
	}
	manager, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		w.t.Fatal(err)
	}
	f := w.stored(manager)
	req := engine.PlanRequest{Config: cfg, State: f.State, Mode: mode, Meta: f.Meta, Targets: w.targets(targets), ForceReplace: replace, Scoped: true}
	s := &shelf{whole: f.State, read: map[addr.Instance]bool{}}
	if inParts {
		pt, first := part.New(cfg, req.Targets, mode, s.fetch)
		st, err := s.fetch(w.t.Context(), first, func(addr.Instance) bool { return true })
		if err != nil {
			w.t.Fatal(err)
		}
		st.Outputs, st.Checks, st.Salts = f.State.Outputs, f.State.Checks, f.State.Salts
		more, err := pt.Follow(w.t.Context(), st)
		if err != nil {
			w.t.Fatal(err)
		}
		st.AddMissing(more)
		req.State, req.Part = st, pt
	}
	p, diags := e.Plan(w.t.Context(), req)
	w.newEntries()
	var sb strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&sb, "%s: %s: %s\n", d.Severity, d.Summary, d.Detail)
	}
	if diags.HasErrors() {
		return sb.String(), s
	}
	for _, list := range [][]*plan.Change{p.Changes, p.Drift} {
		for _, x := range list {
			fmt.Fprintf(&sb, "%s %s of %s before %s %q after %q deps %v recorded %v first %t\n", x.Action, x.Reason, x.Object(), x.PrevAddr, x.Before.Packed(), x.After.Packed(), x.Deps, x.StateDeps, x.CreateBeforeDestroy)
			if got, want := fmt.Sprint(p.Prior.Object(x.Object()) != nil), fmt.Sprint(p.Base.Object(addr.Object{Instance: x.PrevAddr, Deposed: x.Deposed}) != nil); x.Action == plan.NoOp {
				fmt.Fprintf(&sb, "stored %s %s\n", got, want)
			}
		}
		sb.WriteString("---\n")
	}
	for _, o := range p.Outputs {
		fmt.Fprintf(&sb, "output %s %s %q deps %v\n", o.Name, o.Action, o.After.Packed(), o.Deps)
	}
	for _, r := range p.Checks {
		fmt.Fprintf(&sb, "check %s %s %v\n", r.Config, r.Status, r.Objects)
	}
	for _, a := range p.Adopted {
		fmt.Fprintf(&sb, "adopted %s %t\n", a.Object, a.New != nil)
	}
	var scope []string
	for claim, m := range p.Scope.Claims {
		scope = append(scope, fmt.Sprintf("claim %s %s", m, claim.Key()))
	}
	for subject, rows := range p.Scope.Relied {
		var names []string
		for row, version := range rows {
			names = append(names, fmt.Sprintf("%s %x", row, version))
		}
		slices.Sort(names)
		scope = append(scope, fmt.Sprintf("relied %s %v", subject.Key(), names))
	}
	slices.Sort(scope)
	sb.WriteString(strings.Join(scope, "\n"))
	return sb.String(), s
}

// estate is a random configuration: things in the root module and in instances of a module, which refer to
// things before them.
type estate struct {
	rng   *rand.Rand
	parts []*estatePart
}

type estatePart struct {
	name  string
	form  int // 0 single, 1 count, 2 for_each
	n     int
	uses  []int // parts before it
	whole bool  // refers to all instances of what it uses
	size  int
	cbd   bool
	gone  bool
	inner bool // in the module
}

func newEstate(rng *rand.Rand) *estate {
	e := &estate{rng: rng}
	for i := range 8 {
		p := &estatePart{name: fmt.Sprintf("p%d", i), form: rng.IntN(3), n: 1 + rng.IntN(3), whole: rng.IntN(3) == 0, cbd: rng.IntN(4) == 0, inner: i >= 3 && i < 6}
		for j := range i {
			if rng.IntN(3) == 0 && !(e.parts[j].inner && p.inner != e.parts[j].inner && rng.IntN(2) == 0) {
				p.uses = append(p.uses, j)
			}
		}
		e.parts = append(e.parts, p)
	}
	return e
}

func (e *estate) mutate() {
	for _, p := range e.parts {
		switch e.rng.IntN(8) {
		case 0:
			p.gone = true
		case 1:
			p.n = e.rng.IntN(4)
		case 2:
			p.form = e.rng.IntN(3)
		case 3:
			p.size++
		case 4:
			p.cbd = !p.cbd
		case 5:
			p.uses = nil
		}
	}
}

// ref returns a reference from one part to another.
func (e *estate) ref(from, to *estatePart) string {
	if to.gone {
		return "null"
	}
	if to.inner && !from.inner {
		return "[for m in module.m : m." + to.name + "]"
	}
	if !to.inner && from.inner {
		return "var." + to.name
	}
	of := "sim_thing." + to.name
	switch {
	case to.form == 0:
		return of + ".id"
	case from.whole && to.form == 1:
		return of + "[*].id"
	case from.whole:
		return "values(" + of + ")[*].id"
	case to.form == 1:
		return "try(" + of + "[0].id, null)"
	default:
		return "try(" + of + "[\"k0\"].id, null)"
	}
}

func (e *estate) text(p *estatePart) string {
	if p.gone {
		return ""
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "resource \"sim_thing\" %q {\n", p.name)
	key := `""`
	switch p.form {
	case 1:
		fmt.Fprintf(&sb, " count = %d\n", p.n)
		key = "count.index"
	case 2:
		fmt.Fprintf(&sb, " for_each = toset([for i in range(%d) : \"k${i}\"])\n", p.n)
		key = "each.key"
	}
	where := ""
	if p.inner {
		where = "${var.m}-"
	}
	fmt.Fprintf(&sb, " name = \"%s%s-${%s}\"\n size = %d\n", where, p.name, key, p.size)
	var refs []string
	for _, j := range p.uses {
		refs = append(refs, e.ref(p, e.parts[j]))
	}
	fmt.Fprintf(&sb, " json = jsonencode([%s])\n lifecycle { create_before_destroy = %t }\n}\n", strings.Join(refs, ", "), p.cbd)
	return sb.String()
}

// ids returns an expression for all instances.
func (p *estatePart) ids() string {
	switch of := "sim_thing." + p.name; {
	case p.gone:
		return "null"
	case p.form == 0:
		return of + ".id"
	case p.form == 1:
		return of + "[*].id"
	default:
		return "{ for k, v in " + of + " : k => v.id }"
	}
}

// write writes the configuration.
func (e *estate) write(w *world) {
	var root, inner, args strings.Builder
	inner.WriteString(prelude + "variable \"m\" {}\n")
	for _, p := range e.parts {
		if p.inner {
			inner.WriteString(e.text(p))
			fmt.Fprintf(&inner, "output %q { value = %s }\n", p.name, p.ids())
			continue
		}
		root.WriteString(e.text(p))
		of := p.ids()
		if p.name < "p3" {
			fmt.Fprintf(&inner, "variable %q {}\n", p.name)
			fmt.Fprintf(&args, " %s = %s\n", p.name, of)
		}
		fmt.Fprintf(&root, "output %q { value = %s }\n", p.name, of)
	}
	fmt.Fprintf(&root, "module \"m\" {\n source = \"./inner\"\n for_each = toset([\"a\", \"b\"])\n m = each.key\n%s}\n", args.String())
	w.file("inner/main.tf", inner.String())
	w.config(root.String())
}

func (e *estate) target() string {
	p := e.parts[e.rng.IntN(len(e.parts))]
	keys := []string{"", "[0]", `["k0"]`, "[1]"}
	at := "sim_thing." + p.name + keys[e.rng.IntN(len(keys))]
	if !p.inner {
		return at
	}
	return []string{"module.m", `module.m["a"]`, `module.m["a"].` + at, "module.m." + at}[e.rng.IntN(4)]
}

// TestPartOfState plans with targets from a part of the state, and from the whole one: the plans and their
// scopes are the same.
func TestPartOfState(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			e := newEstate(rand.New(rand.NewPCG(seed, 7)))
			w := newWorld(t, "")
			e.write(w)
			w.ok(command{})
			for range 3 {
				e.mutate()
				e.write(w)
				for range 4 {
					targets := []string{e.target()}
					if e.rng.IntN(3) == 0 {
						targets = append(targets, e.target())
					}
					mode := []plan.Mode{plan.Normal, plan.Normal, plan.Destroy, plan.RefreshOnly}[e.rng.IntN(4)]
					want, _ := w.planned(mode, targets, nil, false)
					got, read := w.planned(mode, targets, nil, true)
					t.Logf("mode %v %v: %d of %d instances, %d readings", mode, targets, len(read.read), count(read.whole), read.times)
					if strings.Contains(want, "Moved resource instances excluded by targeting") {
						continue // an object outside of the part, which stays where it is
					}
					if got != want {
						t.Errorf("mode %v %v: got\n%s\nwant\n%s", mode, targets, got, want)
					}
				}
			}
		})
	}
}

func count(st *state.State) (n int) {
	for range st.AllInstances() {
		n++
	}
	return n
}
