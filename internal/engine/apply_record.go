package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
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
	changes := a.outcomes.Recordable(a.req.State, a.req.Plan, a.req.Writes, slices.Concat(a.req.Plan.Adopted, state.Diff(a.req.Plan.Prior, start)))
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
		if n, outdated := scope.Record(c, a.instance(c.Addr), st); outdated {
			st.SetObject(c.Object(), n, c.Provider)
		}
	}
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
