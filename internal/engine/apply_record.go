package engine

import (
	"slices"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/slot"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// askToApply has the provider make a planned change. It returns the answer, whose object is accepted.
func askToApply(ia *instanceApply, planned provider.PlanResponse) *object.Answer {
	defer object.Await(&ia.Op)()
	resp, diags := applyChange(trace.With(ia.a.changing, trace.Of(ia.Ctx)), ia.Provider, provider.ApplyRequest{
		Type: ia.TypeName(), Prior: ia.prior.Value, Planned: planned.Planned, Config: ia.config.Value, PlannedPrivate: planned.Private, Identity: planned.Identity,
		ProviderMeta: ia.meta(ia.in),
	})
	answer := &object.Answer{Op: &ia.Op, Prior: ia.prior, Planned: planned, Resp: resp}
	answer.AcceptObject(diags)
	return answer
}

// adopt makes durable the changes of planning that need no provider operation during the apply: objects that
// were moved, refreshed, imported or upgraded, and data that was read.
func (a *applier) adopt() error {
	start := a.req.Plan.Prior.Copy()
	a.reading.dropReads(start)
	a.refreshDependencies(start)
	changes := slices.Concat(a.req.Plan.Adopted, state.Diff(a.req.Plan.Prior, start))
	if len(changes) > 0 {
		id, err := a.req.State.Begin(changes[0].Object, "refresh")
		if err == nil {
			err = a.req.State.Commit(id, changes...)
		}
		if err != nil {
			return err
		}
	}
	a.reportImports()
	return nil
}

// reportImports reports the imported objects. They are recorded together, before the first step, since
// importing them takes no provider call during an apply.
func (a *applier) reportImports() {
	for _, c := range a.req.Plan.Changes {
		if c.Importing == nil {
			continue
		}
		a.counts.Import++
		key, text := object.ImportText(c.Importing)
		a.events.Begin(event.OpAdopt, c.Object(), c.Action, key, text)(nil, key, text)
	}
}

// refreshDependencies gives objects of st that the plan leaves as they are the dependencies, replace order
// and provider that the configuration now asks for.
func (a *applier) refreshDependencies(st *state.State) {
	for _, c := range a.req.Plan.Changes {
		if c.Action != plan.NoOp || c.Deposed != addr.Current {
			continue
		}
		o := st.Object(c.Object())
		if o == nil {
			continue
		}
		deps, skip := stateDeps(c.Deps), o.SkipDestroy
		if in := a.instance(c.Addr); in != nil {
			skip = in.Config().Lifecycle.SkipDestroy()
		}
		in := st.Instance(c.Addr)
		if sameResources(o.Dependencies, deps) && o.CreateBeforeDestroy == c.CreateBeforeDestroy && o.SkipDestroy == skip && in.Provider == c.Provider {
			continue
		}
		n := o.Clone()
		n.Dependencies, n.CreateBeforeDestroy, n.SkipDestroy = deps, c.CreateBeforeDestroy, skip
		st.SetObject(c.Object(), n, c.Provider)
	}
}

// sameResources reports whether two lists of dependencies are the same, whatever their order: the order is
// no reason to store an object again.
func sameResources(a, b []addr.ConfigResource) bool {
	if len(a) != len(b) {
		return false
	}
	have := make(map[addr.ConfigResource]struct{}, len(a))
	for _, r := range a {
		have[r] = struct{}{}
	}
	for _, r := range b {
		if _, ok := have[r]; !ok {
			return false
		}
	}
	return true
}

// journalEntry is an entry of the journal while it is open.
type journalEntry struct {
	a  *applier
	id uint64
	// onDurable, if set, reports the end of the operation. It is called once the results are durable: an
	// operation reported as complete is in the state, even if this process dies right after.
	onDurable func(diag.List)
	// task and turn, if set, belong to a step whose provider calls end with the entry. Other steps begin
	// while a disk or a service makes its results durable; dependent steps begin after that.
	task *future.Task
	turn *slot.Turn
}

// beginEntry makes it durable that an operation on an object is about to start. It returns nil if that
// failed; the operation must not start then.
func (a *applier) beginEntry(o addr.Object, action string) *journalEntry {
	id, err := a.req.State.Begin(o, action)
	if err != nil {
		a.run.Report(journalFailed(err))
		return nil
	}
	return &journalEntry{a: a, id: id}
}

// end records the results and makes them durable.
func (e *journalEntry) end(failed bool, changes ...state.ObjectChange) bool {
	e.addSalts(changes)
	write := e.a.req.State.Commit
	if failed {
		write = e.a.req.State.Fail
	}
	return e.await(func() error { return write(e.id, changes...) })
}

// enqueue is end in two parts for an operation that has not failed: it returns once the results have their
// place in the journal, if the journal can give them one, and wait when they are durable.
func (e *journalEntry) enqueue(changes ...state.ObjectChange) (wait func() bool) {
	q, ok := e.a.req.State.(state.Queue)
	if !ok {
		done := e.end(false, changes...)
		return func() bool { return done }
	}
	e.addSalts(changes)
	durable := q.Enqueue(e.id, changes...)
	return func() bool { return e.await(durable) }
}

// addSalts adds the salts that this run has made to the results, which may depend on them.
func (e *journalEntry) addSalts(changes []state.ObjectChange) {
	made := e.a.hasher.Made()
	for i := range changes {
		changes[i].Salts = made
	}
}

// await waits until the results are durable, and reports whether they are.
func (e *journalEntry) await(durable func() error) bool {
	var diags diag.List
	e.whileOthersBegin(func() {
		if err := durable(); err != nil {
			diags = journalFailed(err)
			e.a.run.Report(diags)
		}
	})
	if e.onDurable != nil {
		e.onDurable(diags)
	}
	return len(diags) == 0
}

// grace is how long an operation keeps its slot while its results become durable, if its successor is more
// urgent than other waiting steps. A disk is usually faster, so that the successor gets the slot.
const grace = 50 * time.Millisecond

// whileOthersBegin calls write, which makes the results of an operation durable. Meanwhile another step may
// begin in its place.
func (e *journalEntry) whileOthersBegin(write func()) {
	if e.turn == nil {
		write()
		return
	}
	if e.a.steps.Highest() >= e.task.Next {
		if e.turn.Leave() {
			defer e.task.Idle()()
		}
		write()
		return
	}
	left, parked := make(chan struct{}), false
	late := time.AfterFunc(grace, func() {
		defer close(left)
		if parked = e.turn.Leave(); parked {
			e.task.Park()
		}
	})
	defer func() {
		if late.Stop() {
			return
		}
		if <-left; parked {
			e.task.Unpark()
		}
	}()
	write()
}

func (a *applier) object(o addr.Object) *state.Object {
	stored, _ := a.req.State.Object(o)
	return stored
}

func (a *applier) count(f func(*plan.Counts)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.counts)
}
