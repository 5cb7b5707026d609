// Package settle finds the units that an apply with the scope of a change may record (docs/adr/041): those
// that its plan has evaluated and found right, and those that are gone. At the end of the apply, units stay
// open that were evaluated from an object which has failed, or has become another one than planned.
//
// It may import addr, future, changed, part, scope, eval, blocks, plan and state. It must not know providers,
// or how a state is stored.
package settle

import (
	"context"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Planned gives a plan its scope and, if it is about a change, the units that an apply of it settles. Hashes
// are made from the configuration, nil if they are not known.
func Planned(ctx context.Context, run *eval.Run, cfg *blocks.Config, rows *part.Growing, work *changed.Work, hashes state.BlockHashes) {
	p := rows.Plan
	found := find(run, cfg, p, work, hashes)
	for again := true; again; {
		p.Scope, p.Settling = scope.Of(run, p, *rows.Stored), found.settle(*rows.Stored)
		all := maps.Clone(p.Scope.Relied)
		if p.Settling != nil {
			maps.Copy(all, p.Settling.Relied)
		}
		again = rows.Relied(ctx, &state.Scope{Relied: all})
	}
	p.Scope.Hashes = hashes
}

// candidates are the units that a plan has evaluated.
type candidates struct {
	settling  *plan.Settling
	reads     [][]plan.Dep // of all of them
	instances []addr.Instance
	results   []state.Subject
}

// find returns the units that a plan has evaluated, as far as it leaves them as they are. It returns nil if
// an apply of the plan records nothing: it doesn't have this scope, is restricted or incomplete, or has
// values that are made of computed ones which are not stored.
func find(run *eval.Run, cfg *blocks.Config, p *plan.Plan, work *changed.Work, hashes state.BlockHashes) *candidates {
	if work == nil || hashes == nil || !part.Possible(cfg) || p.Mode != plan.Normal || len(p.Targets)+len(p.Excludes) > 0 || !p.Complete() || p.Invoking() {
		return nil
	}
	f := &finder{
		candidates: &candidates{settling: &plan.Settling{Hashes: hashes, Moment: work.Found().Moment, Full: !work.Partial()}},
		run:        run, plan: p, work: work, t: &future.Task{}, unread: cfg.Unread(),
		declared: map[state.Block]bool{}, differs: map[state.Block]bool{}, due: map[state.Unit]state.Due{}, known: map[state.Unit]bool{}, guarded: map[string]bool{},
	}
	for _, m := range hashes {
		for _, b := range m.Blocks {
			f.declared[state.Block{Module: m.Module, Name: b.Name}] = true
		}
	}
	for _, b := range work.Found().Blocks {
		f.differs[b] = true
	}
	for _, d := range work.Found().Due {
		f.due[d.Unit] = d
	}
	f.changes()
	f.data()
	if f.settling.Full {
		f.whole(run.Root)
	} else {
		f.evaluated()
	}
	f.checks()
	f.gone()
	return f.candidates
}

// settle returns the candidates with their rows in a state as it was read.
func (c *candidates) settle(stored *state.State) *plan.Settling {
	if c == nil {
		return nil
	}
	out := *c.settling
	out.Relied = plan.RowsOf(stored, c.instances, c.results, slices.Values(c.reads))
	return &out
}

// finder finds the units that a plan has evaluated.
type finder struct {
	*candidates
	run      *eval.Run
	plan     *plan.Plan
	work     *changed.Work
	t        *future.Task
	unread   map[*blocks.Value]bool
	declared map[state.Block]bool // have hashes
	differs  map[state.Block]bool
	due      map[state.Unit]state.Due
	known    map[state.Unit]bool // units that the configuration or the state has
	guarded  map[string]bool     // static addresses of blocks with conditions
}

// changes adds the instances and outputs.
func (f *finder) changes() {
	for _, c := range f.plan.Changes {
		f.known[state.UnitOf(c.Addr)] = true
		if c.Moved() {
			f.known[state.UnitOf(c.PrevAddr)] = true
		}
		if c.Action == plan.NoOp {
			f.instances, f.reads = append(f.instances, c.Addr), append(f.reads, c.Deps)
		}
	}
	for _, o := range f.plan.Outputs {
		if f.run.Root.Output(o.Name) != nil {
			f.results, f.reads = append(f.results, state.Subject{Kind: state.OneOutput, Addr: o.Name}), append(f.reads, o.Deps)
		}
	}
}

// data adds the data sources that planning has read, for which it has no changes. All are read in each plan.
func (f *finder) data() {
	for a := range f.plan.Prior.AllInstances() {
		if a.Resource.Mode != addr.Data || f.known[state.UnitOf(a)] {
			continue
		}
		if in, _ := f.run.Find(f.t, a); in != nil {
			deps := in.Deps(f.t)
			f.known[state.UnitOf(a)], f.instances, f.reads = true, append(f.instances, a), append(f.reads, deps)
			f.settling.Units = append(f.settling.Units, state.Finding{Unit: state.UnitOf(a), Block: state.BlockOf(a.Config()), Reads: plan.Subjects(deps)})
		}
	}
}

// add adds a unit. One that is evaluated from nothing stored needs no record, and gets one only to correct a
// former one.
func (f *finder) add(u state.Unit, b state.Block, deps []plan.Dep) {
	if f.known[u] {
		return
	}
	f.known[u] = true
	reads := plan.Subjects(deps)
	if _, due := f.due[u]; len(reads) == 0 && !due {
		return
	}
	f.settling.Units = append(f.settling.Units, state.Finding{Unit: u, Block: b, Reads: reads})
	f.reads = append(f.reads, deps)
}

// repetition adds the repetition of a resource.
func (f *finder) repetition(r *eval.Resource) {
	b := state.RepetitionOf(r.Addr().Config())
	if f.declared[b] && !r.Block.Config.Addr.Mode.Fleeting() {
		f.add(state.Unit{Kind: state.RepetitionUnit, Addr: r.Addr().String()}, b, r.RepetitionDeps(f.t))
	}
}

// call adds the repetition of a call.
func (f *finder) call(m *eval.Module, c *eval.Call) {
	f.add(state.Unit{Kind: state.RepetitionUnit, Addr: c.Addr().String()}, callBlock(m, c), c.Deps(f.t))
}

func callBlock(m *eval.Module, c *eval.Call) state.Block {
	_, name, _ := c.Addr().Parent()
	return state.Block{Module: m.Addr.Module(), Name: "module." + name}
}

// values adds the values of a module instance that nothing else reads.
func (f *finder) values(m *eval.Module) {
	var deps []plan.Dep
	seen := map[plan.Dep]bool{}
	for v := range m.Values {
		if !f.unread[v.Block()] || v.Opens() {
			continue
		}
		for _, d := range v.Deps(f.t) {
			if !seen[d] {
				seen[d] = true
				deps = append(deps, d)
			}
		}
	}
	f.add(state.Unit{Kind: state.ValuesUnit, Addr: m.Addr.String()}, state.Block{Module: m.Addr.Module(), Name: "values"}, deps)
}

// whole adds all units of a module instance, and of those that it calls.
func (f *finder) whole(m *eval.Module) {
	for _, r := range m.Resources() {
		f.repetition(r)
	}
	for _, c := range m.Calls() {
		f.call(m, c)
		for _, child := range c.Children(f.t, nil) {
			f.whole(child)
		}
	}
	f.values(m)
}

// evaluated adds the units that had work, if not everything was planned.
func (f *finder) evaluated() {
	for _, in := range f.work.Fresh() {
		if f.exists(in) { // only the values of a module that is gone may be due
			f.whole(f.run.Module(in))
		}
	}
	for _, path := range f.work.Late() {
		for _, m := range f.run.Modules(f.t, path) {
			if f.work.EvaluatesValues(m) {
				f.values(m)
			}
		}
	}
	paths := map[addr.Module]bool{}
	for b := range f.differs {
		paths[b.Module] = true
	}
	places := map[addr.ModuleInstance]bool{}
	for path := range paths {
		for _, m := range f.run.Modules(f.t, path) {
			places[m.Addr] = true
		}
	}
	for u := range f.due {
		if _, in, ok := repeated(u); ok && f.exists(in) {
			places[in] = true
		}
	}
	for in := range places {
		f.withWork(f.run.Module(in))
	}
}

// withWork adds the repetitions of a module instance that had work.
func (f *finder) withWork(m *eval.Module) {
	had := func(b state.Block, at string) bool {
		_, due := f.due[state.Unit{Kind: state.RepetitionUnit, Addr: at}]
		return due || f.differs[b]
	}
	for _, r := range m.Resources() {
		if had(state.RepetitionOf(r.Addr().Config()), r.Addr().String()) {
			f.repetition(r)
		}
	}
	for _, c := range m.Calls() {
		if had(callBlock(m, c), c.Addr().String()) {
			f.call(m, c)
		}
	}
}

// checks adds the checks, and the conditions of variables and outputs.
func (f *finder) checks() {
	for _, r := range f.plan.Checks {
		f.guarded[r.Config] = true
		if r.Kind == "resource" {
			continue
		}
		f.results = append(f.results, state.Subject{Kind: state.OneCheck, Addr: r.Config})
		for _, o := range r.Objects {
			f.add(state.Unit{Kind: state.CheckUnit, Addr: o.Addr}, state.CheckBlock(r.Config), scope.CheckDeps(f.run, r.Kind, o.Addr))
		}
	}
}

// gone adds the units that are due although neither the configuration nor the state has them.
func (f *finder) gone() {
	for u, due := range f.due {
		if f.known[u] || f.remains(u, due.Record != nil) {
			continue
		}
		b := state.Block{Name: u.Addr}
		if u.Kind == state.InstanceUnit {
			a, _ := addr.ParseInstance(u.Addr)
			b = state.BlockOf(a.Config())
			f.instances = append(f.instances, a)
		}
		if u.Kind == state.OutputUnit {
			b.Name = "output." + u.Addr
			f.results = append(f.results, state.Subject{Kind: state.OneOutput, Addr: u.Addr})
		}
		if u.Kind == state.CheckUnit {
			f.results = append(f.results, state.Subject{Kind: state.OneCheck, Addr: u.Addr})
		}
		f.settling.Units = append(f.settling.Units, state.Finding{Unit: u, Block: b, Gone: true})
	}
	slices.SortFunc(f.settling.Units, func(a, b state.Finding) int { return compareUnits(a.Unit, b.Unit) })
}
