// Package part says which part of a state a plan with -target needs, so that a state in rows need not be read
// as a whole: the objects that the targets name, and the objects that the blocks behind them lead to. The
// part grows by objects that planning misses.
//
// It may import addr, blocks, moves, plan and state. It must not know how a state is stored, or providers.
package part

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/moves"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Fetch reads the objects of a part of a state. It leaves out instances that keep does not want: they were
// read before, and the plan relies on them as they were then.
type Fetch func(ctx context.Context, p state.Part, keep func(addr.Instance) bool) (*state.State, error)

// Part is the part of a state that was read. A nil *Part is the whole state. It is safe for concurrent use.
type Part struct {
	cfg     *blocks.Config
	named   []addr.Target
	targets *addr.TargetSet // the same
	destroy bool            // the targets are to be destroyed
	fetch   Fetch

	mu       sync.Mutex
	has      map[state.Subject]bool
	known    map[addr.ConfigResource]bool                  // blocks of which some region was read
	users    map[addr.ConfigResource][]addr.ConfigResource // blocks of objects that were read, by the blocks that they depend on
	down     map[addr.ConfigResource]bool                  // blocks whose dependents are needed
	declared bool                                          // also those that depend by the configuration alone
	lacking  map[state.Subject]bool                        // that planning has asked for in vain
	times    int                                           // that planning has begun again
	onDemand bool                                          // objects are read before planning looks for them
	rows     int                                           // instances that were read later
}

// most is how often planning may start again with rows that it has missed. The next time, it gets the whole
// state.
const most = 3

// Possible reports whether a plan can be made of a part of the state. It cannot if a block has computed
// values that are not stored: only the whole state shows which other objects have values made of them.
func Possible(cfg *blocks.Config) bool {
	possible := true
	cfg.EachResource(func(b *blocks.Resource) { possible = possible && len(b.Computed) == 0 })
	return possible
}

// Suffices reports whether a plan can be made of the objects that were read. It cannot if a moved block moves
// one of them, because another object may have the new address, or if one of them has computed values that
// are not stored.
func Suffices(cfg *blocks.Config, read *state.State) bool {
	moved := moves.Concerned(cfg.Tree)
	for a, in := range read.AllInstances() {
		for o := range in.All() {
			if moved(a) || slices.ContainsFunc(o.Withheld, func(w state.Withheld) bool { return w.Computed }) {
				return false
			}
		}
	}
	return true
}

// Made returns the instances in the state that a plan was made from, and the instances that the plan changes.
func Made(p *plan.Plan) []state.Subject {
	out := map[state.Subject]bool{}
	for a := range p.Base.AllInstances() {
		out[state.InstanceSubject(a)] = true
	}
	for _, c := range p.Changes {
		out[state.InstanceSubject(c.Addr)], out[state.InstanceSubject(c.PrevAddr)] = true, true
	}
	return slices.Collect(maps.Keys(out))
}

// OnDemand returns a part that has some subjects, and grows by those that are demanded only. Planning looks
// for nothing else in the state.
func OnDemand(cfg *blocks.Config, has []state.Subject, fetch Fetch) *Part {
	p, _ := New(cfg, nil, plan.Normal, fetch)
	p.onDemand = true
	for _, s := range has {
		p.has[s] = true
	}
	return p
}

// Read reads subjects of a part that grows on demand, and returns the objects that are new.
func (p *Part) Read(ctx context.Context, subjects []state.Subject) (*state.State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var need []state.Subject
	for _, s := range subjects {
		if !p.read(s) {
			need = append(need, s)
		}
	}
	return p.grow(ctx, need)
}

// Demand reads the objects of an instance that planning is about to look for, if the part grows on demand and
// does not have them. It returns nil if nothing was read.
func (p *Part) Demand(ctx context.Context, a addr.Instance) (*state.State, error) {
	if p == nil || !p.onDemand {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.covers(a) {
		return nil, nil
	}
	return p.grow(ctx, []state.Subject{state.InstanceSubject(a)})
}

// Rows returns the number of instances that were read since the part was made.
func (p *Part) Rows() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rows
}

// New returns the part that a plan with targets needs, and the subjects to read first: the instances that the
// targets name, the objects that their blocks depend on, and the sources of moved blocks.
func New(cfg *blocks.Config, targets []addr.Target, mode plan.Mode, fetch Fetch) (*Part, state.Part) {
	p := &Part{
		cfg: cfg, named: targets, targets: addr.NewTargetSet(targets), destroy: mode == plan.Destroy, declared: mode == plan.Destroy, fetch: fetch,
		has: map[state.Subject]bool{}, known: map[addr.ConfigResource]bool{}, users: map[addr.ConfigResource][]addr.ConfigResource{},
		down: map[addr.ConfigResource]bool{}, lacking: map[state.Subject]bool{},
	}
	var from []blocks.Region
	for _, t := range targets {
		p.each(t, func(b *blocks.Resource) {
			r := p.region(b, t)
			from = append(from, r)
			p.addTwins(r, t)
		})
	}
	for _, r := range cfg.LeadsTo(from) {
		for _, in := range twins(r.In) {
			p.addRegion(blocks.Region{Block: r.Block, In: in, Key: r.Key})
		}
	}
	return p, state.Part{Subjects: slices.Collect(maps.Keys(p.has)), Targets: slices.Concat(targets, moves.Sources(cfg.Tree))}
}

// each calls f with each block that a target has instances of.
func (p *Part) each(t addr.Target, f func(*blocks.Resource)) {
	m := p.cfg.Modules[t.Module.Module()]
	if m == nil {
		return
	}
	if t.Resource != nil {
		if b := m.Resources[*t.Resource]; b != nil {
			f(b)
		}
		return
	}
	var all func(m *blocks.Module)
	all = func(m *blocks.Module) {
		for _, b := range m.Resources {
			f(b)
		}
		for _, c := range m.Calls {
			if c.Child != nil {
				all(c.Child)
			}
		}
	}
	all(m)
}

// region returns where a target has instances of a block, and with which key: as far as it has the keys of the
// modules.
func (p *Part) region(b *blocks.Resource, t addr.Target) blocks.Region {
	in, m := addr.RootInstance, p.cfg.Modules[addr.RootModule]
	for _, step := range t.Module.Path() {
		_, name, key := step.Parent()
		call := m.Calls[name]
		if key == addr.NoKey && blocks.FormOf(call.Repeat).Keyed() {
			break // any key
		}
		in, m = in.Child(name, key), call.Child
	}
	return blocks.Region{Block: b, In: in, Key: t.Key}
}

// addTwins adds the objects that may become instances which a target selects, as their resource or modules
// have gained or lost a count.
func (p *Part) addTwins(r blocks.Region, t addr.Target) {
	for _, in := range twins(r.In) {
		switch {
		case t.Key == addr.NoKey:
			p.known[blockOf(r.Block)] = true
			if in != r.In {
				p.addRegion(blocks.Region{Block: r.Block, In: in})
			}
		case in.Module() == r.Block.Module.Config.Path:
			for _, key := range twinKeys(t.Key) {
				p.has[state.InstanceSubject(addr.Instance{Module: in, Resource: r.Block.Config.Addr, Key: key})] = true
			}
		case in != r.In || twinKeys(t.Key)[0] == addr.NoKey:
			p.addRegion(blocks.Region{Block: r.Block, In: in})
		}
	}
}

// addRegion adds the instances of a region, and one that becomes the one with its key, as the resource has
// gained or lost a count.
func (p *Part) addRegion(r blocks.Region) {
	if r.Block.Config.Addr.Mode.Fleeting() {
		return
	}
	p.known[blockOf(r.Block)] = true
	whole := r.In.Module() == r.Block.Module.Config.Path
	if whole && r.Key != addr.NoKey {
		for _, key := range twinKeys(r.Key) {
			p.has[state.InstanceSubject(addr.Instance{Module: r.In, Resource: r.Block.Config.Addr, Key: key})] = true
		}
		return
	}
	if whole {
		p.has[allOf(addr.AbsResource{Module: r.In, Resource: r.Block.Config.Addr})] = true
		return
	}
	p.has[within(blockOf(r.Block), r.In)] = true
}

func blockOf(b *blocks.Resource) addr.ConfigResource {
	return addr.ConfigResource{Module: b.Module.Config.Path, Resource: b.Config.Addr}
}

func allOf(r addr.AbsResource) state.Subject {
	return state.Subject{Kind: state.AllInstances, Addr: r.String()}
}

func within(block addr.ConfigResource, in addr.ModuleInstance) state.Subject {
	return state.Subject{Kind: state.AllWithin, Addr: block.String(), Within: in.String()}
}

// twins returns the addresses that a module instance has before and after its calls gain or lose a count.
func twins(m addr.ModuleInstance) []addr.ModuleInstance {
	out := []addr.ModuleInstance{addr.RootInstance}
	for _, step := range m.Path() {
		_, name, key := step.Parent()
		var next []addr.ModuleInstance
		for _, outer := range out {
			for _, k := range twinKeys(key) {
				next = append(next, outer.Child(name, k))
			}
		}
		out = next
	}
	return out
}

// twinKeys returns the keys that an instance has before and after a count is added or removed.
func twinKeys(key addr.Key) []addr.Key {
	if key == addr.NoKey || key == addr.IntKey(0) {
		return []addr.Key{addr.NoKey, addr.IntKey(0)}
	}
	return []addr.Key{key}
}

// covers reports whether the objects of an instance were read, if there are any. p.mu is held.
func (p *Part) covers(a addr.Instance) bool {
	if p.targets.Selects(a) || p.has[state.InstanceSubject(a)] || p.has[allOf(a.Abs())] {
		return true
	}
	return p.coversWithin(a.Config(), a.Module)
}

// coversWithin reports whether all objects of a block within a module instance were read. p.mu is held.
func (p *Part) coversWithin(block addr.ConfigResource, in addr.ModuleInstance) bool {
	for ; ; in, _, _ = in.Parent() {
		if p.has[within(block, in)] {
			return true
		}
		if in.IsRoot() {
			return p.has[state.Subject{Kind: state.WholeState}]
		}
	}
}

// Look returns o, an object that planning looks up in the state. If the object was not read, that is noted,
// so that planning starts again with it.
func (p *Part) Look(o addr.Object) addr.Object {
	if p == nil {
		return o
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.covers(o.Instance) {
		for _, in := range twins(o.Instance.Module) {
			for _, key := range twinKeys(o.Instance.Key) {
				p.lacking[state.InstanceSubject(addr.Instance{Module: in, Resource: o.Instance.Resource, Key: key})] = true
			}
		}
	}
	return o
}

// LookAll notes, if needed is set, that planning needs all objects of the state.
func (p *Part) LookAll(needed bool) {
	if p == nil || !needed {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if whole := (state.Subject{Kind: state.WholeState}); !p.has[whole] {
		p.lacking[whole] = true
	}
}

// LookBeside notes that planning needs all objects of the state if a target with an instance key selects no
// known instance: the message about the target lists the other instances, and some may be in the state only.
func (p *Part) LookBeside(known iter.Seq[addr.Instance]) {
	if p == nil {
		return
	}
	found := make([]bool, len(p.named))
	for a := range known {
		p.targets.Selecting(a, func(i int) { found[i] = true })
	}
	for i, t := range p.named {
		p.LookAll(!found[i] && keyed(t))
	}
}

// keyed reports whether the address of a target has an instance key.
func keyed(t addr.Target) bool {
	return t.Key != addr.NoKey || slices.ContainsFunc(t.Module.Path(), func(m addr.ModuleInstance) bool {
		_, _, key := m.Parent()
		return key != addr.NoKey
	})
}

// Again reads the objects that planning has missed. It returns false if there are none.
func (p *Part) Again(ctx context.Context) (found *state.State, again bool, err error) {
	if p == nil {
		return nil, false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lacking) == 0 {
		return nil, false, nil
	}
	if p.times++; p.times > most {
		p.lacking = map[state.Subject]bool{{Kind: state.WholeState}: true}
	}
	found, err = p.grow(ctx, slices.Collect(maps.Keys(p.lacking)))
	clear(p.lacking)
	return found, true, err
}

// Dependents reads the objects that depend on objects of the given blocks, directly or through others,
// because these are destroyed. The dependencies are the recorded ones and, if declared is set, also the ones
// in the configuration. It returns the new objects.
func (p *Part) Dependents(ctx context.Context, of []addr.ConfigResource, declared bool) (*state.State, error) {
	if p == nil || len(of) == 0 {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.declared = p.declared || declared
	need := map[state.Subject]bool{}
	p.goDown(of, need)
	return p.grow(ctx, slices.Collect(maps.Keys(need)))
}

// Relied reads and returns the objects that only the scope of a plan needs.
func (p *Part) Relied(ctx context.Context, scope *state.Scope) (*state.State, error) {
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var need []state.Subject
	for s := range scope.Relied {
		if s.Kind != state.OneOutput && s.Kind != state.OneCheck && !p.read(s) {
			need = append(need, s)
		}
	}
	return p.grow(ctx, need)
}

// read reports whether a subject was read. p.mu is held.
func (p *Part) read(s state.Subject) bool {
	if p.has[s] || p.has[state.Subject{Kind: state.WholeState}] {
		return true
	}
	switch t, err := addr.ParseTarget(s.Addr); {
	case err != nil || t.Resource == nil:
		return false
	case s.Kind == state.OneInstance:
		return p.covers(addr.Instance{Module: t.Module, Resource: *t.Resource, Key: t.Key})
	case s.Kind == state.AllInstances:
		of := addr.AbsResource{Module: t.Module, Resource: *t.Resource}
		return p.targets.Selects(of.Instance(addr.NoKey)) || p.coversWithin(of.Config(), t.Module)
	case s.Kind == state.AllWithin:
		in, err := addr.ParseModuleInstance(s.Within)
		return err == nil && p.coversWithin(addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}, in)
	}
	return false
}

// Follow reads the recorded dependencies of the objects that were read first and, if these are destroyed, the
// objects that depend on them.
func (p *Part) Follow(ctx context.Context, first *state.State) (*state.State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grow(ctx, p.follow(first))
}

// grow reads subjects, and the subjects that follow from their objects. It returns the objects that are new.
// p.mu is held.
func (p *Part) grow(ctx context.Context, subjects []state.Subject) (*state.State, error) {
	all := state.New()
	for len(subjects) > 0 {
		found, err := p.fetch(ctx, state.Part{Subjects: subjects}, func(a addr.Instance) bool { return !p.covers(a) && all.Instance(a) == nil })
		if err != nil {
			return nil, err
		}
		for _, s := range subjects {
			p.has[s] = true
		}
		for range found.AllInstances() {
			p.rows++
		}
		all.AddMissing(found)
		subjects = p.follow(found)
	}
	return all, nil
}

// follow returns the subjects that follow from objects that were found. p.mu is held.
func (p *Part) follow(found *state.State) []state.Subject {
	need := map[state.Subject]bool{}
	var down []addr.ConfigResource
	for a, r := range found.Resources {
		block := a.Config()
		seen := map[addr.ConfigResource]bool{}
		for key, in := range r.Instances {
			if p.destroy && p.targets.Selects(a.Instance(key)) {
				down = append(down, block)
			}
			for o := range in.All() {
				for _, used := range o.Dependencies {
					seen[used] = true
				}
			}
		}
		for used := range seen {
			p.users[used] = append(p.users[used], block)
			if p.down[used] {
				down = append(down, block)
			}
			if !p.known[used] && !p.onDemand {
				need[within(used, addr.RootInstance)] = true
			}
		}
	}
	p.goDown(down, need)
	for s := range need {
		if p.has[s] {
			delete(need, s)
		}
	}
	return slices.Collect(maps.Keys(need))
}

// goDown adds to need the subjects of all objects that may depend on blocks. p.mu is held.
func (p *Part) goDown(of []addr.ConfigResource, need map[state.Subject]bool) {
	for len(of) > 0 {
		var declared []*blocks.Resource
		for len(of) > 0 {
			b := of[len(of)-1]
			of = of[:len(of)-1]
			if p.down[b] {
				continue
			}
			p.down[b] = true
			need[state.Subject{Kind: state.Dependents, Addr: b.String()}] = true
			of = append(of, p.users[b]...)
			if m := p.cfg.Modules[b.Module]; p.declared && m != nil && m.Resources[b.Resource] != nil {
				declared = append(declared, m.Resources[b.Resource])
			}
		}
		if len(declared) == 0 {
			return
		}
		for _, b := range p.cfg.Users(declared) {
			if !b.Config.Addr.Mode.Fleeting() {
				need[within(blockOf(b), addr.RootInstance)] = true
				of = append(of, blockOf(b))
			}
		}
	}
}
