package engine

import (
	"maps"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/moves"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/state"
)

// applyMoves renames the objects in the state that the plan starts from, following the moved blocks.
func (p *planner) applyMoves() {
	var diags diag.List
	p.moved, diags = moves.Apply(p.req.Config.Tree, p.prior, p.req.Mode)
	p.run.Report(diags)
	p.run.Report(p.selection.PartialMoves(p.moved, p.req.Places))
	if len(p.moved) == 0 {
		return
	}
	p.prior.RenameConsumers(maps.All(p.moved))
	p.computed.State = p.prior.Copy() // with the addresses of the configuration; reading objects changes p.prior
}

// converts reports whether a moved object comes from another type, or may come from another provider, so
// that the new provider has to convert it.
func (l *priorLoader) converts(from addr.Instance) bool {
	if from.Resource.Type != l.in.Addr().Resource.Type {
		return true
	}
	if l.sourceOf(from).Provider == l.Source {
		return false
	}
	c, diags := l.walk.providers.Catalog(l.walk.ctx, l.Source)
	return !diags.HasErrors() && c.Capabilities().MoveResourceState
}

// convertMoved has the provider of the new type convert the object that was at from. It returns false if the
// provider could not, which was reported.
func (l *priorLoader) convertMoved(o *state.Object, from addr.Instance) (object.Prior, bool) {
	c, diags := l.walk.providers.Catalog(l.walk.ctx, l.Source)
	if !diags.HasErrors() && !c.Capabilities().MoveResourceState {
		l.Report(diag.Errorf("Move of another resource type is not supported",
			"%s was %s, and the provider %s cannot take over objects of other types. Remove the moved block, and import the object to its new address instead.", l.Obj, from, l.Source.ForDisplay()))
		return object.Prior{}, false
	}
	pr, ok := l.ConvertMoved(o, from, l.sourceOf(from))
	if !ok {
		return pr, false
	}
	pr.Object = l.StateObject(pr.Value, nil, pr.Private, pr.Identity, o)
	return pr, pr.Object != nil
}

// keepConverted puts the converted object into the state that planning starts from, in place of o.
func (l *priorLoader) keepConverted(o *state.Object) bool {
	pr := l.loaded
	n := l.StateObject(pr.Value, nil, pr.Private, pr.Identity, o)
	if n == nil {
		return false
	}
	l.planner.start.set(l.Obj, n)
	l.loaded.Object = n
	return true
}

// sourceOf returns the provider configuration that the state records for an object's earlier address.
func (l *priorLoader) sourceOf(from addr.Instance) addr.ProviderConfig {
	if in := l.planner.req.State.Instance(from); in != nil {
		return in.Provider
	}
	return addr.ProviderConfig{Provider: l.Source}
}

// crosses reports whether moves have taken an object to the address of another type or provider, which has to
// convert it. configured is the provider of the new address.
func crosses(p *planner, to addr.Instance, configured addr.Provider) bool {
	from := p.moved[to] // no address that the state has if there is none
	source := p.req.State.Instance(from)
	return source != nil && (from.Resource.Type != to.Resource.Type || source.Provider.Provider != configured)
}

// putBack puts deferred objects that come from another type or provider back to where they were in the state:
// the plan in which their provider takes them over carries out the move. It comes after all that needs the
// new addresses.
func putBack(p *planner) {
	left := moves.Moved{}
	for to, from := range p.moved {
		in := p.prior.Instance(to)
		if _, taken := p.takenOver[to]; in != nil && !taken && p.changes[addr.Object{Instance: to}] == nil && p.deferral.set.Covers(to) && crosses(p, to, in.Provider.Provider) {
			left[to] = from
		}
	}
	moves.PutBack(p.prior, p.req.State, left)
}
