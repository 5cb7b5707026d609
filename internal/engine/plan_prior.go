package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// setPrior sets an object of the state that planning starts from, or removes it if o is nil.
func (p *planner) setPrior(obj addr.Object, o *state.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o == nil {
		p.prior.RemoveObject(obj)
		return
	}
	in := p.prior.Instance(obj.Instance)
	provider := addr.ProviderConfig{}
	if in != nil {
		provider = in.Provider
	}
	p.prior.SetObject(obj, o, provider)
}

// adoptProviders updates the provider configurations recorded in the state to those that the configuration
// now names, so that a later destruction does not look for a configuration that has been renamed. Resources
// that -target or -exclude leave alone keep the recorded one.
func (p *planner) adoptProviders() {
	for a, in := range p.prior.AllInstances() {
		if !p.selection.Touches(a.Abs()) || p.selection.LeavesOut(a) {
			continue
		}
		if pc := p.run.ProviderOf(a, in.Provider); pc != in.Provider {
			p.prior.SetProvider(a, pc)
		}
	}
}

// noteRefreshed stores the refreshed object and records differences from the stored one as drift.
func (p *planner) noteRefreshed(s *objectOp, before, after object.Prior) {
	o := before.Object
	same := after.SameAs(before, &s.Withheld)
	upgraded := before.Cleaned || o.SchemaVersion != s.Schema.Version || o.Flatmap != nil || s.HasNewIdentity(before, after)
	provider := p.providerOf(s)
	if !same || upgraded || string(before.Private) != string(after.Private) {
		var n *state.Object
		if !after.Value.IsNull() {
			if n = s.StateObject(after.Value, o.Sensitive, after.Private, after.Identity, o); n == nil {
				return
			}
			s.KeepIdentity(n, o)
		}
		p.setPrior(s.Obj, n)
	}
	switch {
	case p.req.Mode == plan.Destroy: // nothing is undone or kept
	case !same:
		p.noteDrift(s, before, after, provider)
	case p.req.Mode == plan.RefreshOnly && s.Obj.Deposed == addr.Current && p.moved.From(s.Obj.Instance) != s.Obj.Instance:
		p.noteDrift(s, before, after, provider) // such a plan shows nothing of a moved object but its new address
	}
}

// providerOf returns the provider configuration that the state records for an object, after moves.
func (p *planner) providerOf(s *objectOp) addr.ProviderConfig {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.prior.Instance(s.Obj.Instance); in != nil {
		return in.Provider
	}
	return addr.ProviderConfig{Provider: s.Source}
}

// noteDrift records the drift of one object. If only the identity or the address differs, the action is
// NoOp: the entry still shows the new address, but not as a change of the object.
func (p *planner) noteDrift(s *objectOp, before, after object.Prior, provider addr.ProviderConfig) {
	sensitive := before.Object.Sensitive
	c := &plan.Change{
		Addr: s.Obj.Instance, PrevAddr: p.moved.From(s.Obj.Instance), Deposed: s.Obj.Deposed, Action: plan.Update, SchemaVersion: s.Schema.Version,
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drift = append(p.drift, c)
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
	if p.req.Mode != plan.Normal || p.selection.Restricted() || in.InputsHold(t) {
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
