// Package changed finds the work of a plan with the scope of a change (docs/adr/041): the units that are due,
// and those that read an object which planning them has altered, and so on. Blocks are worked on level by
// level, each after the ones that it refers to, so that all objects without work are as the state has them.
//
// It may import addr, diag, future, moves, part, blockhash, blocks, eval, lang, plan and state. It must not
// know providers, or how a state is stored. A plan that it can't be sure of becomes a full one.
package changed

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/moves"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blockhash"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Source names the units that are due, and reads the rows that planning needs beside theirs.
type Source struct {
	Found   *state.Changed
	Records func(context.Context, state.RecordQuery) ([]state.Record, error)
	Fetch   part.Fetch
	// Unversioned are the addresses of providers of which nothing says whether they have changed. Their
	// objects are always due.
	Unversioned []string
	// Rows counts the rows that the store has sent.
	Rows *atomic.Int64
}

// Work is the work of a plan. A nil *Work is the work of a full plan. Its exported methods but Plans, Idle,
// Unchanged and Join are called while no task runs.
type Work struct {
	// Part has the objects that were read.
	Part *part.Part

	cfg    *blocks.Config
	src    Source
	nodes  map[state.Block]*node
	blocks map[blocks.Node][]*node // the same; a resource and its repetition are two
	uses   func() *uses
	full   string // why everything is planned; "" if that is not so
	asks   map[addr.Instance]bool

	mu      sync.Mutex
	attempt attempt
}

// node is a block of the configuration.
type node struct {
	block  blocks.Node
	module addr.Module
	name   string
	level  int
	cycle  []*node // the blocks that lead to each other, it among them; nil if it doesn't lead to itself

	differs bool // from the block that was applied last
}

// Asked are objects that are planned in any case.
type Asked struct {
	Replace []addr.Instance
	Refresh []addr.Target
	Old     []addr.Instance // that were not read for long
}

// instances yields the ones that are named as such.
func (a *Asked) instances(yield func(addr.Instance) bool) {
	for _, list := range [][]addr.Instance{a.Replace, a.Old} {
		for _, one := range list {
			if !yield(one) {
				return
			}
		}
	}
}

// New returns the work of a plan, and the part of the state that is to be read first.
func New(cfg *blocks.Config, components []blockhash.Component, src Source, asked Asked) (*Work, state.Part) {
	w := &Work{cfg: cfg, src: src, nodes: map[state.Block]*node{}, blocks: map[blocks.Node][]*node{}, full: unsuited(cfg, src.Found), asks: askedAbout(src.Found.Due, asked)}
	w.uses = sync.OnceValue(func() *uses { return usesOf(cfg) })
	for _, c := range components {
		var all []*node
		for _, u := range c.Units {
			n := &node{block: u.Block, module: u.Module, name: u.Name, level: c.Level}
			w.nodes[state.Block{Module: u.Module, Name: u.Name}] = n
			for _, part := range w.blocks[u.Block] { // the repetition of a resource comes before it, and is worked on with it
				part.level = n.level
			}
			w.blocks[u.Block] = append(w.blocks[u.Block], n)
			all = append(all, n)
		}
		for _, n := range all {
			if c.Cyclic {
				n.cycle = all
			}
		}
	}
	for _, b := range src.Found.Blocks {
		if n := w.nodes[b]; n != nil {
			n.differs = true
		}
	}
	first := state.Part{Subjects: []state.Subject{{Kind: state.WholeState}}}
	if w.full == "" {
		first = state.Part{Targets: moves.Sources(cfg.Tree)}
		for _, d := range src.Found.Due {
			if d.Unit.Kind == state.InstanceUnit {
				first.Subjects = append(first.Subjects, state.Subject{Kind: state.OneInstance, Addr: d.Unit.Addr})
			}
		}
		for _, b := range src.Found.Blocks {
			if n := w.nodes[b]; n != nil {
				if r, is := n.block.(*blocks.Resource); is && !r.Config.Addr.Mode.Fleeting() {
					first.Subjects = append(first.Subjects, state.Subject{Kind: state.AllWithin, Addr: addr.ConfigResource{Module: n.module, Resource: r.Config.Addr}.String()})
				}
			}
		}
		for a := range asked.instances {
			first.Subjects = append(first.Subjects, state.InstanceSubject(a))
		}
	}
	w.Part = part.OnDemand(cfg, first.Subjects, src.Fetch)
	w.attempt.asked = asked
	return w, first
}

// unsuited returns why a plan of a configuration has to be a full one, "" if it doesn't.
func unsuited(cfg *blocks.Config, found *state.Changed) string {
	switch {
	case !found.Complete:
		return "no full plan has been applied with this scope yet"
	case !part.Possible(cfg):
		return "which objects have values that are made of computed ones which are not stored takes all objects to find out"
	}
	for _, m := range cfg.SortedModules() {
		if len(m.Config.Imports) > 0 {
			return "there are import blocks"
		}
	}
	return ""
}

// Partial reports whether the plan has the scope of a change, and is not a full one.
func (w *Work) Partial() bool { return w != nil && w.full == "" }

// Full returns why a plan with the scope of a change has become a full one, "" if it hasn't.
func (w *Work) Full() string {
	if w == nil {
		return ""
	}
	return w.full
}

// GiveUp makes the plan a full one, for a reason that is shown, if so.
func (w *Work) GiveUp(so bool, why string) {
	if so && w.Partial() {
		w.full = why
	}
}

// Plans reports whether an instance has work, which is noted then. Its objects were read. It is safe for
// concurrent use.
func (w *Work) Plans(a addr.Instance, block *blocks.Resource) bool {
	if !w.Partial() {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.attempt.has(a, block) {
		w.attempt.kept[a] = block
		return false
	}
	w.attempt.planned = append(w.attempt.planned, a)
	return true
}

// Unchanged reports whether a resource is as it was when it was last applied, with all that its hash is made
// of: then it was validated. It is safe for concurrent use.
func (w *Work) Unchanged(r *blocks.Resource) bool {
	if !w.Partial() || len(w.blocks[r]) == 0 {
		return false
	}
	return !slices.ContainsFunc(w.blocks[r], func(n *node) bool { return n.differs })
}

// Idle reports whether an instance has no work. Its object isn't read then, unless something with work asks
// for the value. It is safe for concurrent use.
func (w *Work) Idle(a addr.Instance, block *blocks.Resource) bool {
	if !w.Partial() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.attempt.has(a, block)
}

// Join adds an instance to the work that planning looks for and that the state doesn't have as it is needed.
// It is safe for concurrent use.
func (w *Work) Join(a addr.Instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.attempt.kept, a)
	w.attempt.due[a] = true
	w.attempt.planned = append(w.attempt.planned, a)
}

// Rows returns the number of instances that were read after the first ones.
func (w *Work) Rows() int { return w.Part.Rows() }

// Extent says how far a plan of changes has gone that has read the objects of a state; nil for other plans.
func (w *Work) Extent(read *state.State) *plan.Extent {
	switch {
	case w == nil:
		return nil
	case w.full != "":
		return &plan.Extent{Full: w.full}
	}
	out := &plan.Extent{Objects: w.src.Found.Objects, Rows: int(w.src.Rows.Load()), Unversioned: w.src.Unversioned}
	out.Collections, out.Collected = w.attempt.wholes.count(read)
	for _, a := range w.attempt.done {
		switch {
		case a.Resource.Mode.Fleeting():
		case read.Instance(a) == nil:
			out.New++
		default:
			out.Evaluated++
		}
	}
	for a := range w.attempt.gone {
		if read.Instance(a) != nil {
			out.Evaluated++
		}
	}
	return out
}

// Evaluated returns the number of instances that were planned.
func (w *Work) Evaluated() int { return len(w.attempt.done) }

// lates returns the modules with checks, outputs and other values to be evaluated when all instances are
// planned, in the order of their addresses.
func (w *Work) lates() (out []addr.Module) {
	fresh := map[addr.Module]bool{} // modules with new instances
	for in := range w.attempt.fresh {
		fresh[in.Module()] = true
	}
	byName := map[string]addr.Module{}
	for path := range w.attempt.late {
		byName[path.String()] = path
	}
	for _, m := range w.cfg.SortedModules() {
		if path := m.Config.Path; below(path, fresh) {
			byName[path.String()] = path
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}

// below reports whether a module is one of some others, or is called by one or by another one below it.
func below(m addr.Module, outer map[addr.Module]bool) bool {
	for ; ; m, _ = m.Parent() {
		if outer[m] {
			return true
		}
		if m.IsRoot() {
			return false
		}
	}
}

// suffices gives up if a plan can't be made of the objects that were read.
func (w *Work) suffices(read *state.State) {
	w.GiveUp(!part.Suffices(w.cfg, read), "objects move, or have computed values that are not stored")
}

// subjects returns the objects that a record says a unit was evaluated from. It leaves out all else.
func subjects(keys []string) (out []state.Subject) {
	for _, key := range keys {
		resource, all := strings.CutPrefix(key, "all ")
		if !all {
			if kind, _, spaced := strings.Cut(key, " "); !spaced || strings.Contains(kind, "[") {
				out = append(out, state.Subject{Kind: state.OneInstance, Addr: key})
			}
			continue
		}
		block, everywhere := strings.CutSuffix(resource, " everywhere")
		named, in, within := strings.Cut(resource, " within ")
		switch {
		case everywhere:
			out = append(out, state.Subject{Kind: state.AllWithin, Addr: block})
		case within && !strings.Contains(named, "["): // a key may have anything in it, but a block has none
			out = append(out, state.Subject{Kind: state.AllWithin, Addr: named, Within: in})
		default:
			out = append(out, state.Subject{Kind: state.AllInstances, Addr: resource})
		}
	}
	return out
}
