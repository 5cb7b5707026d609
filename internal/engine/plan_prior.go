package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// startState is the state that the changes of a plan start from.
type startState struct {
	*walk
	planner *planner
}

// stands reports whether an object is taken as the state has it, without asking the provider.
func (st *startState) stands(o addr.Object) bool {
	return st.planner.req.SkipRefresh || !st.planner.deferral.attempts.reads.Has(o) && st.planner.req.Memory.Seen(o)
}

// set sets an object of the state that planning starts from, or removes it if o is nil.
func (st *startState) set(obj addr.Object, o *state.Object) {
	st.planner.mu.Lock()
	defer st.planner.mu.Unlock()
	if o == nil {
		st.planner.prior.RemoveObject(obj)
		return
	}
	in := st.planner.prior.Instance(obj.Instance)
	provider := addr.ProviderConfig{}
	if in != nil {
		provider = in.Provider
	}
	st.planner.prior.SetObject(obj, o, provider)
}

// adoptProviders updates the provider configurations recorded in the state to those that the configuration
// now names, so that a later destruction does not look for a configuration that has been renamed. Resources
// that -target or -exclude leave alone keep the recorded one.
func (st *startState) adoptProviders() {
	for a, in := range st.planner.prior.AllInstances() {
		if !st.planner.selection.Touches(a.Abs()) || st.planner.selection.LeavesOut(a) {
			continue
		}
		if pc := st.run.Providers.Of(a, in.Provider); pc != in.Provider {
			st.planner.prior.SetProvider(a, pc)
		}
	}
}

// noteRefreshed stores the refreshed object and records differences from the stored one as drift.
func (st *startState) noteRefreshed(s *objectOp, before, after object.Prior) {
	o := before.Object
	st.planner.req.Memory.See(s.Obj)
	same := after.SameAs(before, &s.Withheld)
	upgraded := before.Cleaned || o.SchemaVersion != s.Schema.Version || o.Flatmap != nil || s.HasNewIdentity(before, after)
	provider := st.providerOf(s)
	if !same || upgraded || string(before.Private) != string(after.Private) {
		var n *state.Object
		if !after.Value.IsNull() {
			if n = s.StateObject(after.Value, o.Sensitive, after.Private, after.Identity, o); n == nil {
				return
			}
			s.KeepIdentity(n, o)
		}
		st.set(s.Obj, n)
	}
	switch {
	case st.planner.req.Mode == plan.Destroy: // nothing is undone or kept
	case !same:
		st.noteDrift(s, before, after, provider)
	case st.planner.req.Mode == plan.RefreshOnly && s.Obj.Deposed == addr.Current && st.planner.moved.From(s.Obj.Instance) != s.Obj.Instance:
		st.noteDrift(s, before, after, provider) // such a plan shows nothing of a moved object but its new address
	}
}

// providerOf returns the provider configuration that the state records for an object, after moves.
func (st *startState) providerOf(s *objectOp) addr.ProviderConfig {
	st.planner.mu.Lock()
	defer st.planner.mu.Unlock()
	if in := st.planner.prior.Instance(s.Obj.Instance); in != nil {
		return in.Provider
	}
	return addr.ProviderConfig{Provider: s.Source}
}

// noteDrift records the drift of one object. If only the identity or the address differs, the action is
// NoOp: the entry still shows the new address, but not as a change of the object.
func (st *startState) noteDrift(s *objectOp, before, after object.Prior, provider addr.ProviderConfig) {
	sensitive := before.Object.Sensitive
	c := &plan.Change{
		Addr: s.Obj.Instance, PrevAddr: st.planner.moved.From(s.Obj.Instance), Deposed: s.Obj.Deposed, Action: plan.Update, SchemaVersion: s.Schema.Version,
		Provider: provider, PriorIdentity: s.SealIdentity(before.Identity),
	}
	c.Before, _ = s.Seal(before.Value, slices.Concat(s.Block().SensitivePaths(before.Value), sensitive))
	if after.Value.IsNull() {
		c.Action = plan.Delete
	} else {
		c.PlannedIdentity = s.SealIdentity(after.Identity)
		c.After, _ = s.Seal(after.Value, slices.Concat(s.Block().SensitivePaths(after.Value), sensitive))
	}
	if after.SameAs(before, &s.Withheld) {
		c.Action = plan.NoOp
	}
	for _, path := range after.Drifted {
		c.Withheld = append(c.Withheld, plan.Withheld{Path: path, Status: plan.WithheldChanged})
	}
	st.planner.mu.Lock()
	defer st.planner.mu.Unlock()
	st.planner.drift = append(st.planner.drift, c)
}

// changeFor returns the planned change of an instance, nil if there is none.
func (p *planner) changeFor(a addr.Instance) *plan.Change {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes[addr.Object{Instance: a}]
}

// fail marks an instance as not planned, so that its dependents are skipped without an error of their own.
func (p *planner) fail(a addr.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken.Add(a)
}

// invalid reports whether an instance uses a variable or output whose conditions fail, and marks it as not
// planned then. It comes before the values that the instance uses, so that there are no errors that follow. A
// restricted plan asks later: this could read objects that it leaves out.
func (p *planner) invalid(t *future.Task, in *eval.Instance) bool {
	if p.req.Mode != plan.Normal || partial(p) || in.InputsHold(t) {
		return false
	}
	p.fail(in.Addr())
	return true
}

// dependencyFailed reports whether something that an instance depends on could not be planned.
func (p *planner) dependencyFailed(deps []plan.Dep) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(deps, p.broken.Touched)
}

// staysAsIs reports whether the planned object is the prior one, sensitive parts included, so that the plan
// has it once.
func staysAsIs(ip *instancePlan) bool {
	c := ip.change
	return c.Action == plan.NoOp && !c.Before.IsZero() && len(c.Withheld)+len(ip.prior.Sensitive())+len(ip.config.Sensitive) == 0
}

// asStored returns the object of an instance in a plan to destroy everything, where provider configurations
// may still refer to it. A data source without an object in the state is read.
func (p *planner) asStored(in *eval.Instance) (cty.Value, bool) {
	if p.req.Mode != plan.Destroy {
		return cty.NilVal, false
	}
	v, ok := p.fromPrior(in)
	if !ok && in.Config().Addr.Mode == addr.Managed {
		// It may be gone, and it is a matter of order whether that is known already.
		op := p.instanceOp(in)
		if v, ok = op.Live(p.req.State.Object(p.req.Part.Look(addr.Object{Instance: p.moved.From(in.Addr())}))); !ok {
			return unknownObject(in), true
		}
	}
	return v, ok
}

// fromPrior returns the object that the state has. Values that the state has only records of are unavailable,
// also if the configuration of an object that is left alone would store them from now on.
func (p *planner) fromPrior(in *eval.Instance) (cty.Value, bool) {
	op := p.instanceOp(in)
	p.mu.Lock()
	o := p.prior.Object(p.req.Part.Look(op.Obj))
	p.mu.Unlock()
	if o != nil {
		op.Withheld.NameRecorded(o)
	}
	return op.Live(o)
}
