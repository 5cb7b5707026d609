package engine_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/internal/engine/given"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blockhash"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// ledger is what a store keeps beside a state: hashes of blocks, and records and marks of units. It learns
// them from full plans.
type ledger struct {
	w       *world
	hashes  map[state.Block]state.Hash
	records map[state.Unit]state.Record
	marks   map[state.Unit]bool
	asked   int // records that were read
}

func newLedger(w *world) *ledger {
	return &ledger{w, nil, map[state.Unit]state.Record{}, map[state.Unit]bool{}, 0}
}

// moment is a configuration with a state.
type moment struct {
	e     *engine.Engine
	cfg   *blocks.Config
	set   *blockhash.Set
	file  *state.File
	vars  map[string]cty.Value
	given *given.Hasher
}

func (l *ledger) moment(vars map[string]cty.Value) *moment {
	w := l.w
	w.t.Helper()
	s := &moment{e: w.engine(&command{}, func(event.Event) {}), vars: vars}
	w.t.Cleanup(s.e.Close)
	tree, diags := (&config.Loader{}).Load(w.dir)
	if diags.HasErrors() {
		w.t.Fatal(diags)
	}
	if s.cfg, diags = s.e.Compile(w.t.Context(), tree); diags.HasErrors() {
		w.t.Fatal(diags)
	}
	manager, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		w.t.Fatal(err)
	}
	s.file = w.stored(manager)
	s.set, err = blockhash.Of(s.cfg, blockhash.Inputs{
		Key: []byte("key"), Variables: vars, Functions: pureFunctions(), Workspace: "default", RootDir: w.dir, WorkDir: w.dir,
		Version: func(addr.Provider) (string, bool) { return "1.0.0", true },
		Slow: func(v cty.Value) ([]byte, error) {
			sum := sha256.Sum256([]byte(v.GoString()))
			return sum[:], nil
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	s.given = given.New([]byte("key"), func(addr.Provider) (string, bool) { return "1.0.0", true })
	return s
}

func (s *moment) hashes() map[state.Block]state.Hash {
	out := map[state.Block]state.Hash{}
	for _, m := range s.set.Modules() {
		for _, e := range m.Entries {
			b := state.Block{Module: m.Path, Name: e.Name}
			if out[b] = (state.Hash{}); e.Known {
				out[b] = state.Hash(e.Hash)
			}
		}
	}
	return out
}

// blockHashes returns the hashes as a store takes them.
func (s *moment) blockHashes() (out state.BlockHashes) {
	for _, m := range s.set.Modules() {
		one := state.ModuleHashes{Module: m.Path}
		for _, e := range m.Entries {
			one.Blocks = append(one.Blocks, state.BlockHash{Name: e.Name, Hash: s.hashes()[state.Block{Module: m.Path, Name: e.Name}]})
		}
		out = append(out, one)
	}
	return out
}

func (s *moment) request() engine.PlanRequest {
	return engine.PlanRequest{Config: s.cfg, State: s.file.State, Meta: s.file.Meta, Variables: s.vars, SkipRefresh: true, Given: s.given}
}

// learn notes what a full plan finds, as the runs that have led to the state would have.
func (l *ledger) learn(s *moment) {
	l.w.t.Helper()
	req := s.request()
	p, diags := s.e.Plan(l.w.t.Context(), req)
	hashes := s.hashes()
	l.hashes = hashes
	record := func(u state.Unit, b state.Block, deps []plan.Dep, right bool, given state.Hash) {
		if !right || diags.HasErrors() {
			l.marks[u] = true
			return
		}
		delete(l.marks, u)
		r := state.Record{Unit: u, Block: b, Seen: hashes[b], Given: given}
		for _, d := range deps {
			if x, is := d.Subject(); is {
				r.Reads = append(r.Reads, x.Key())
			}
		}
		l.records[u] = r
	}
	planned := map[addr.Instance]bool{}
	for _, c := range p.Changes {
		if c.Deposed == addr.Current {
			planned[c.Addr] = true
			record(state.UnitOf(c.Addr), state.BlockOf(c.Addr.Config()), c.Deps, c.Action == plan.NoOp, c.Given)
		}
	}
	for a := range s.file.State.AllInstances() {
		if !planned[a] && a.Resource.Mode == addr.Managed {
			l.marks[state.UnitOf(a)] = true
		}
	}
	for u := range l.records {
		if u.Kind == state.InstanceUnit {
			if a, _ := addr.ParseInstance(u.Addr); s.file.State.Instance(a) == nil {
				delete(l.records, u)
			}
		}
	}
	for _, o := range p.Outputs {
		record(state.Unit{Kind: state.OutputUnit, Addr: o.Name}, state.Block{Name: "output." + o.Name}, o.Deps, o.Action == plan.NoOp, state.Hash{})
	}
	c := &readChecker{w: l.w, req: req, planned: p, objects: map[addr.Instance]cty.Value{}}
	for _, ch := range p.Changes {
		if v, err := ch.After.Live(); err == nil && v != cty.NilVal && ch.Deposed == addr.Current {
			c.objects[ch.Addr] = v
		}
	}
	c.run = c.newRun(func(addr.Instance) {})
	var visit func(m *eval.Module)
	t := &future.Task{}
	visit = func(m *eval.Module) {
		for _, r := range m.Resources() {
			record(state.Unit{Kind: state.RepetitionUnit, Addr: r.Addr().String()}, state.RepetitionOf(r.Addr().Config()), r.RepetitionDeps(t), true, state.Hash{})
		}
		for _, call := range m.Calls() {
			_, name, _ := call.Addr().Parent()
			record(state.Unit{Kind: state.RepetitionUnit, Addr: call.Addr().String()}, state.Block{Module: m.Addr.Module(), Name: "module." + name}, call.Deps(t), true, state.Hash{})
			for _, child := range call.Children(t, nil) {
				visit(child)
			}
		}
	}
	visit(c.run.Root)
}

// changes returns what is due for a configuration.
func (l *ledger) changes(s *moment) *state.Changed {
	out := &state.Changed{Complete: l.hashes != nil}
	now, differs := s.hashes(), map[state.Block]bool{}
	for b, h := range now {
		differs[b] = !h.Is(l.hashes[b])
	}
	for b := range l.hashes {
		if _, is := now[b]; !is {
			differs[b] = true
		}
	}
	for b, yes := range differs {
		if yes {
			out.Blocks = append(out.Blocks, b)
		}
	}
	due := map[state.Unit]state.Reasons{}
	for u := range l.marks {
		due[u] |= state.ByObject
	}
	for u, r := range l.records {
		if differs[r.Block] && !r.Seen.Is(now[r.Block]) {
			due[u] |= state.ByBlock
		}
	}
	for a, in := range s.file.State.AllInstances() {
		u := state.UnitOf(a)
		_, known := l.records[u]
		if !known || in.Current == nil || in.Current.Tainted || len(in.Deposed) > 0 || a.Resource.Mode == addr.Data {
			due[u] |= state.ByRow
		}
	}
	for _, u := range slices.SortedFunc(maps.Keys(due), func(a, b state.Unit) int { return strings.Compare(a.Key(), b.Key()) }) {
		d := state.Due{Unit: u, Why: due[u]}
		if r, known := l.records[u]; known {
			d.Record = &r
		}
		out.Due = append(out.Due, d)
	}
	return out
}

// answer answers a query for records.
func (l *ledger) answer(_ context.Context, q state.RecordQuery) (out []state.Record, _ error) {
	readers := map[string]bool{}
	for _, x := range q.Readers {
		readers[x.Key()] = true
	}
	for u, r := range l.records {
		if slices.Contains(q.Units, u) || slices.Contains(q.Blocks, r.Block) || slices.ContainsFunc(r.Reads, func(k string) bool { return readers[k] }) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b state.Record) int { return strings.Compare(a.Unit.Key(), b.Unit.Key()) })
	l.asked += len(out)
	return out, nil
}

// plan plans what has changed.
func (l *ledger) plan(s *moment, force ...addr.Instance) (*plan.Plan, diag.List, *changed.Work, *shelf) {
	l.w.t.Helper()
	whole := &shelf{whole: s.file.State, read: map[addr.Instance]bool{}}
	work, first := changed.New(s.cfg, s.set.Components(), changed.Source{Found: l.changes(s), Records: l.answer, Fetch: whole.fetch, Rows: &atomic.Int64{}}, changed.Asked{Replace: force})
	st, err := whole.fetch(l.w.t.Context(), first, func(addr.Instance) bool { return true })
	if err != nil {
		l.w.t.Fatal(err)
	}
	st.Outputs, st.Checks, st.Salts = s.file.State.Outputs, s.file.State.Checks, s.file.State.Salts
	req := s.request()
	req.State, req.Part, req.Changed, req.SkipRefresh, req.ForceReplace = st, work.Part, work, false, force
	p, diags := s.e.Plan(l.w.t.Context(), req)
	return p, diags, work, whole
}

// changesOf describes the changes of a plan.
func changesOf(p *plan.Plan, diags diag.List) string {
	var sb strings.Builder
	if diags.HasErrors() {
		return "errors"
	}
	for _, x := range p.Changes {
		if x.Action != plan.NoOp || x.PrevAddr != x.Addr {
			fmt.Fprintf(&sb, "%s %s of %s before %s %q after %q\n", x.Action, x.Reason, x.Object(), x.PrevAddr, x.Before.Packed(), x.After.Packed())
		}
	}
	for _, x := range p.Invocations {
		fmt.Fprintf(&sb, "invoke %s %q\n", x.Action, x.Config.Packed())
	}
	for _, x := range p.Drift {
		fmt.Fprintf(&sb, "drift %s\n", x.Object())
	}
	for _, o := range p.Outputs {
		if o.Action != plan.NoOp {
			fmt.Fprintf(&sb, "output %s %s %q\n", o.Name, o.Action, o.After.Packed())
		}
	}
	return sb.String()
}

// orderOf returns the pairs of steps of changes that come one after the other, directly or through others.
// With destroys, only pairs with a step that destroys.
func orderOf(t *testing.T, p *plan.Plan, destroys bool) map[string]bool {
	t.Helper()
	steps, diags := p.Steps()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	is := func(i int) bool { return steps[i].Change != nil && steps[i].Change.Action != plan.NoOp }
	out := map[string]bool{}
	for i := range steps {
		if !is(i) {
			continue
		}
		seen, queue := map[int32]bool{}, []int32{int32(i)}
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			for _, e := range steps[at].Next {
				if !seen[e.To] {
					seen[e.To] = true
					queue = append(queue, e.To)
				}
			}
		}
		for to := range seen {
			if is(int(to)) && (!destroys || steps[i].Leg == plan.DestroyLeg && steps[to].Leg == plan.DestroyLeg) {
				out[steps[i].String()+" before "+steps[to].String()] = true
			}
		}
	}
	return out
}

// mark marks an instance, as a run that was to change it.
func (l *ledger) mark(text string) {
	l.marks[state.UnitOf(parseAll(l.w.t, []string{text}, addr.ParseInstance)[0])] = true
}

// remove removes the row of an instance, as state rm does.
func (l *ledger) remove(text string) {
	l.w.t.Helper()
	a := parseAll(l.w.t, []string{text}, addr.ParseInstance)[0]
	l.rewrite(func(f *state.File) *state.File {
		f.State.RemoveInstance(a)
		return f
	})
	delete(l.records, state.UnitOf(a))
	l.mark(text)
}

// replace replaces a text in the state, without a mark.
func (l *ledger) replace(before, after string) {
	l.w.t.Helper()
	l.rewrite(func(f *state.File) *state.File {
		var sb strings.Builder
		err := state.Encode(&sb, f)
		text := sb.String()
		if !strings.Contains(text, before) {
			l.w.t.Fatalf("the state has no %s:\n%s", before, text)
		}
		if err == nil {
			f, err = state.Read([]byte(strings.ReplaceAll(text, before, after)))
		}
		if err != nil {
			l.w.t.Fatal(err)
		}
		return f
	})
}

// rewrite writes another state, which no record knows of.
func (l *ledger) rewrite(edit func(*state.File) *state.File) {
	l.w.t.Helper()
	manager, err := l.w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		l.w.t.Fatal(err)
	}
	f := l.w.stored(manager)
	f.State = f.State.Copy()
	f = edit(f)
	f.Serial++
	if err := manager.Write(l.w.t.Context(), f); err != nil {
		l.w.t.Fatal(err)
	}
}
