package changed

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Planner plans the instances that have work. Its methods are called while no task runs.
type Planner interface {
	// Load adds objects that were read to the state that planning starts from.
	Load(found *state.State)
	// Resource queues the instances of a resource that have work.
	Resource(r *eval.Resource)
	// Results queues the checks and root outputs of a module for which due returns true, by their names in
	// the module.
	Results(m *eval.Module, due func(name string) bool)
	// Wait waits for all that was queued. It returns false if there are errors.
	Wait() bool
	// Altered reports whether an instance that was planned has a change, or another value than the state.
	Altered(a addr.Instance) bool
}

// Plan has all planned that has work, and returns the resources whose objects may be gone. It returns false
// if the plan has become a full one, which must be made again, or if there are errors, which were reported.
func (w *Work) Plan(ctx context.Context, run *eval.Run, pool *future.Pool, p Planner) ([]addr.AbsResource, bool) {
	w.begin()
	s := &session{Work: w, ctx: ctx, run: run, planner: p, t: &future.Task{}}
	ok, err := s.plan()
	if ok && err == nil {
		err = s.loadLate()
	}
	if err != nil {
		run.Report(diag.Errorf("Error reading the state", "%s", diag.Sentence(err)))
	}
	if !ok || err != nil {
		return nil, false
	}
	for _, path := range w.lates() {
		for _, m := range run.Modules(s.t, path) {
			due := func(name string) bool { return w.attempt.isLate(m.Addr, name) }
			values := func(v *eval.Value) bool { return due(strings.TrimPrefix(v.Addr(), m.Addr.Join(""))) }
			pool.Go(func(t *future.Task) {
				run.Guard("the values of a module", func() {
					m.CheckVariables(t, values)
					m.OutputPreconditions(t, values)
					m.EvaluateValues(t, values)
				})
			})
			p.Results(m, due)
		}
	}
	return slices.SortedFunc(maps.Keys(w.attempt.seen), addr.AbsResource.Compare), true
}

// session plans the work of one attempt.
type session struct {
	*Work
	ctx     context.Context
	run     *eval.Run
	planner Planner
	t       *future.Task
}

// plan plans all levels. It returns false if there are errors, or the plan has become a full one.
func (s *session) plan() (bool, error) {
	if err := s.addRecorded(); err != nil {
		return false, err
	}
	if err := s.follow(); err != nil { // the readers of objects that are gone with their blocks
		return false, err
	}
	for s.full == "" {
		it, more := s.attempt.next()
		if !more {
			return true, nil
		}
		if ok, err := s.work(it); !ok || err != nil {
			return false, err
		}
	}
	return false, nil
}

// addRecorded adds the units of blocks that the configuration doesn't have any more, and the instances that
// are planned in any case, with their records.
func (s *session) addRecorded() error {
	q := state.RecordQuery{}
	for _, b := range s.src.Found.Blocks {
		if s.nodes[b] == nil {
			q.Blocks = append(q.Blocks, b)
		}
	}
	for a := range s.attempt.asked.instances {
		q.Units = append(q.Units, state.UnitOf(a))
	}
	if len(q.Blocks)+len(q.Units) == 0 {
		return nil
	}
	records, err := s.src.Records(s.ctx, q)
	for i := range records {
		s.addUnit(records[i].Unit, &records[i])
	}
	for _, u := range q.Units { // the ones without records
		s.addUnit(u, nil)
	}
	return err
}

// work plans the work of a level. It returns false if there are errors, or the plan has become a full one.
func (s *session) work(it *items) (bool, error) {
	for _, at := range slices.SortedFunc(maps.Keys(it.calls), func(a, b place) int {
		return cmp.Or(strings.Compare(a.call.Address(), b.call.Address()), a.in.Compare(b.in))
	}) {
		if err := s.expand(at); err != nil {
			return false, err
		}
	}
	resources := map[addr.AbsResource]*eval.Resource{}
	need, err := s.collect(it, resources)
	if err != nil || s.run.Diags.HasErrors() {
		return false, err
	}
	if err := s.load(need); err != nil {
		return false, err
	}
	for _, a := range slices.SortedFunc(maps.Keys(resources), addr.AbsResource.Compare) {
		s.attempt.seen[a] = true
		s.planner.Resource(resources[a])
	}
	if !s.planner.Wait() {
		return false, nil
	}
	return true, s.follow()
}

// load reads objects, and those that are gone.
func (s *session) load(need []state.Subject) error {
	for _, a := range s.attempt.unread {
		need = append(need, state.InstanceSubject(a))
	}
	s.attempt.unread = nil
	found, err := s.Part.Read(s.ctx, need)
	if err == nil {
		s.planner.Load(found)
	}
	return err
}

// collect finds the resources with work, and returns the subjects to be read for them. Units that are not
// declared are gone.
func (s *session) collect(it *items, resources map[addr.AbsResource]*eval.Resource) (need []state.Subject, err error) {
	asked := ahead{}
	compared := grouped[addr.ConfigResource]{} // where stored units may be gone
	for region := range it.regions {
		block := addr.ConfigResource{Module: region.Block.Module.Config.Path, Resource: region.Block.Config.Addr}
		for _, m := range s.run.ModulesWithin(s.t, region.In, block.Module) {
			r := m.Resource(block.Resource)
			resources[r.Addr()] = r
			s.addInstances(asked, r)
			if !block.Resource.Mode.Fleeting() {
				need = append(need, state.Subject{Kind: state.AllInstances, Addr: r.Addr().String()})
			}
		}
		if !block.Resource.Mode.Fleeting() {
			compared.add(block, region.In)
		}
	}
	for block, in := range compared {
		units, err := s.unitsOf(state.BlockOf(block))
		if err != nil {
			return nil, err
		}
		for _, a := range units {
			if !in.have(a.Module) {
				continue
			}
			if found, known := s.run.Find(s.t, a); known && found == nil {
				s.goes(a)
			}
		}
	}
	for a, rec := range it.single {
		in, known := s.run.Find(s.t, a)
		switch {
		case !known: // which was reported
		case in == nil:
			s.goes(a)
			for _, m := range s.run.ModulesWithin(s.t, a.Module, a.Module.Module()) {
				if r := m.Resource(a.Resource); r != nil {
					resources[r.Addr()] = r // which has to be known, to tell that others are not gone
				}
			}
		default:
			resources[a.Abs()] = in.Resource
			need = append(need, state.InstanceSubject(a))
			if rec != nil {
				reads := subjects(rec.Reads)
				s.attempt.wholes.add(slices.Values(reads))
				need = append(need, reads...)
			}
		}
	}
	s.attempt.wholes.add(maps.Keys(asked))
	return slices.AppendSeq(need, maps.Keys(asked)), nil
}

// follow adds the readers of altered objects.
func (s *session) follow() error {
	about := map[state.Subject]bool{}
	alter := func(a addr.Instance) {
		for _, x := range state.Around(a) {
			about[x] = true
		}
	}
	for _, a := range s.attempt.left {
		s.attempt.seen[a.Abs()] = true
		alter(a)
	}
	s.attempt.done = append(s.attempt.done, s.attempt.planned...)
	for _, a := range s.attempt.planned {
		if s.planner.Altered(a) {
			alter(a)
		}
	}
	s.attempt.left, s.attempt.planned = nil, nil
	if len(about) == 0 {
		return nil
	}
	records, err := s.src.Records(s.ctx, state.RecordQuery{Readers: slices.Collect(maps.Keys(about))})
	if err != nil {
		return err
	}
	for i := range records {
		s.addUnit(records[i].Unit, &records[i])
	}
	if len(s.attempt.left) > 0 {
		return s.follow()
	}
	return nil
}

// Settle gives up if the order of changes, or the moment at which data is read, may depend on objects that
// were not read, or if an object was read as the state has it before its work was found.
func (w *Work) Settle(changes iter.Seq[*plan.Change], read *state.State) {
	if !w.Partial() {
		return
	}
	var replaced []*blocks.Resource
	changing := false
	for c := range changes {
		changing = changing || c.Action != plan.NoOp && c.Action != plan.Read
		if c.Action == plan.Delete || c.Action.DestroysReplaced() {
			if n := w.nodes[state.BlockOf(c.Addr.Config())]; n != nil {
				replaced = append(replaced, n.block.(*blocks.Resource))
			}
		}
	}
	if len(replaced) > 0 {
		before := func(b *blocks.Resource) bool { return b.Config.Lifecycle.CreateBeforeDestroy }
		w.GiveUp(slices.ContainsFunc(w.cfg.Users(replaced), before), "an object is replaced on which others depend that are created before they are destroyed")
	}
	for a, block := range w.attempt.kept {
		w.GiveUp(w.attempt.has(a, block), "an object was read before it was found to have work")
	}
	w.GiveUp(changing && w.waits(), "data is read, or something is opened, when all changes in a module are done")
	w.suffices(read)
}

// waits reports whether a data source or an ephemeral resource waits for a module.
func (w *Work) waits() bool {
	found := false
	w.cfg.EachResource(func(b *blocks.Resource) {
		if b.Config.Addr.Mode == addr.Managed || found {
			return
		}
		found = slices.ContainsFunc(b.DependsOn, func(ref lang.Ref) bool { return ref.Kind == lang.Module })
		for m := b.Module; m.Parent != nil && !found; m = m.Parent {
			found = len(blocks.CallOf(m).DependsOn) > 0
		}
	})
	return found
}
