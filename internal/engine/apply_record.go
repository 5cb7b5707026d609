package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
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

func (a *applier) object(o addr.Object) *state.Object {
	stored, _ := a.req.State.Object(o)
	return stored
}

func (a *applier) count(f func(*plan.Counts)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.counts)
}
