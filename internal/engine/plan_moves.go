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
func (ip *instancePlan) converts(from addr.Instance) bool {
	if from.Resource.Type != ip.in.Addr().Resource.Type {
		return true
	}
	if ip.sourceOf(from).Provider == ip.Source {
		return false
	}
	c, diags := ip.walk.providers.Catalog(ip.walk.ctx, ip.Source)
	return !diags.HasErrors() && c.Capabilities().MoveResourceState
}

// convertMoved has the provider of the new type convert the object that was at from. It returns false if the
// provider could not, which was reported.
func (ip *instancePlan) convertMoved(o *state.Object, from addr.Instance) (object.Prior, bool) {
	c, diags := ip.walk.providers.Catalog(ip.walk.ctx, ip.Source)
	if !diags.HasErrors() && !c.Capabilities().MoveResourceState {
		ip.Report(diag.Errorf("Move of another resource type is not supported",
			"%s was %s, and the provider %s cannot take over objects of other types. Remove the moved block, and import the object to its new address instead.", ip.Obj, from, ip.Source.ForDisplay()))
		return object.Prior{}, false
	}
	pr, ok := ip.ConvertMoved(o, from, ip.sourceOf(from))
	if !ok {
		return pr, false
	}
	pr.Object = ip.StateObject(pr.Value, nil, pr.Private, pr.Identity, o)
	return pr, pr.Object != nil
}

// keepConverted puts the converted object into the state that planning starts from, in place of o.
func (ip *instancePlan) keepConverted(o *state.Object) bool {
	pr := ip.loaded
	n := ip.StateObject(pr.Value, nil, pr.Private, pr.Identity, o)
	if n == nil {
		return false
	}
	ip.planner.start.set(ip.Obj, n)
	ip.loaded.Object = n
	return true
}

// sourceOf returns the provider configuration that the state records for an object's earlier address.
func (ip *instancePlan) sourceOf(from addr.Instance) addr.ProviderConfig {
	if in := ip.planner.req.State.Instance(from); in != nil {
		return in.Provider
	}
	return addr.ProviderConfig{Provider: ip.Source}
}
