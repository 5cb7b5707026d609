package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
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
func (p *planner) noteRefreshed(s *objectOp, before, after prior) {
	o := before.object
	same := before.value.RawEquals(after.value)
	upgraded := before.cleaned || o.SchemaVersion != s.schema.Version || o.Flatmap != nil || s.identityNews(before, after)
	provider := p.providerOf(s)
	if !same || upgraded || string(before.private) != string(after.private) {
		var n *state.Object
		if !after.value.IsNull() {
			if n = s.stateObject(after.value, o.Sensitive, after.private, after.identity, o); n == nil {
				return
			}
		}
		p.setPrior(s.obj, n)
	}
	switch {
	case p.req.Mode == plan.Destroy: // nothing is undone or kept
	case !same:
		p.noteDrift(s, before, after, provider)
	case p.req.Mode == plan.RefreshOnly && s.obj.Deposed == addr.Current && p.moved.From(s.obj.Instance) != s.obj.Instance:
		p.noteDrift(s, before, after, provider) // such a plan shows nothing of a moved object but its new address
	}
}

// providerOf returns the provider configuration that the state records for an object, after moves.
func (p *planner) providerOf(s *objectOp) addr.ProviderConfig {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.prior.Instance(s.obj.Instance); in != nil {
		return in.Provider
	}
	return addr.ProviderConfig{Provider: s.source}
}

// noteDrift records the drift of one object. If only the identity or the address differs, the action is
// NoOp: the entry still shows the new address, but not as a change of the object.
func (p *planner) noteDrift(s *objectOp, before, after prior, provider addr.ProviderConfig) {
	sensitive := before.object.Sensitive
	c := &plan.Change{
		Addr: s.obj.Instance, PrevAddr: p.moved.From(s.obj.Instance), Deposed: s.obj.Deposed, Action: plan.Update, SchemaVersion: s.schema.Version,
		Provider: provider, PriorIdentity: s.sealIdentity(before.identity),
	}
	c.Before, _ = s.seal(before.value, slices.Concat(s.block().SensitivePaths(before.value), sensitive))
	if after.value.IsNull() {
		c.Action = plan.Delete
	} else {
		c.PlannedIdentity = s.sealIdentity(after.identity)
		c.After, _ = s.seal(after.value, slices.Concat(s.block().SensitivePaths(after.value), sensitive))
	}
	if before.value.RawEquals(after.value) {
		c.Action = plan.NoOp
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drift = append(p.drift, c)
}

// identityNews reports whether refreshing returned an identity that differs from the stored one, or uses
// another version of the identity schema.
func (op *objectOp) identityNews(before, after prior) bool {
	switch {
	case after.identity == cty.NilVal || after.identity.IsNull():
		return false
	case len(before.object.Identity) == 0 || before.identity == cty.NilVal:
		return true
	}
	return before.object.IdentityVersion != op.identityVersion() || !before.identity.RawEquals(after.identity)
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

// dependencyFailed reports whether something that an instance depends on could not be planned.
func (p *planner) dependencyFailed(deps []plan.Dep) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(deps, p.broken.Touched)
}
