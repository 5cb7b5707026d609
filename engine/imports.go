package engine

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
)

// importTarget is an object to be imported.
type importTarget struct {
	id       string
	identity cty.Value
	rng      *hcl.Range // of the import block; nil for the import command
}

// resolveImports evaluates import blocks. An object that the state has already is left alone. Only a plan
// that shows imports makes any.
func (p *planner) resolveImports() {
	p.imports = map[addr.Instance]*importTarget{}
	if p.req.Mode != plan.Normal {
		return
	}
	if len(p.req.Config.Tree.Root.Imports) == 0 {
		return
	}
	for _, target := range p.run.Imports(&future.Task{}) {
		if target.Block == nil || target.To == (addr.Instance{}) || p.prior.Instance(target.To) != nil {
			continue
		}
		if other := p.imports[target.To]; other != nil {
			p.run.Report(diag.At(target.Block.Range, "Duplicate import configuration",
				"%s is imported here and at %s. It can be imported once only: remove one of the two.", target.To, *other.rng))
			continue
		}
		imp := &importTarget{id: target.ID, identity: target.Identity, rng: &target.Block.Range}
		p.imports[target.To] = imp
		if !p.run.Declared(target.To) {
			p.undeclaredImport(target, imp)
			continue
		}
		if target.Block.Provider != nil && p.generated[target.To] == nil {
			p.run.Report(diag.At(target.Block.Provider.Range, "Invalid import provider argument",
				"The provider argument of an import block is for generating configuration, but %s is already declared, with a provider of its own. Remove the argument.", target.To))
		}
	}
}

// unusedImports reports import blocks for instances that the configuration turned out not to have.
func (p *planner) unusedImports() {
	for a, imp := range p.imports {
		if _, ok := p.desired[a]; ok || p.unresolved(a) || !p.selection.Selects(a) || p.run.Diags.HasErrors() {
			continue
		}
		p.run.Report(diag.At(*imp.rng, "Configuration for import target does not exist",
			"The configuration declares no instance %s: its count, for_each, or enabled argument rules it out, or that of a module around it. Correct the address or the argument.", a))
	}
}

// importPrior imports the object and reads it, unless generating its configuration did so.
func (ip *instancePlan) importPrior(imp *importTarget, meta cty.Value) bool {
	got, ok := prior{}, true
	if g := ip.planner.generated[ip.in.Addr()]; g != nil {
		got, ip.generated = g.prior, g.Text
	} else {
		got, ok = ip.importObject(imp, meta)
	}
	if !ok {
		return false
	}
	ip.prior = got
	return ip.keepImported()
}

// importObject asks the provider for an object and reads it.
func (op *objectOp) importObject(imp *importTarget, meta cty.Value) (prior, bool) {
	req := provider.ImportRequest{Type: op.typeName(), ID: imp.id}
	key, text := "id", imp.id
	if imp.identity != cty.NilVal {
		id, diags := op.importIdentity(imp)
		op.report(diags)
		if diags.HasErrors() {
			return prior{}, false
		}
		req.Identity = id
		key, text = contract.IdentityText(id)
	}
	done := op.events.Begin(event.OpImport, op.obj, plan.NoOp, key, text)
	resp, diags := op.p.ImportResource(op.ctx, req)
	var got prior
	if !diags.HasErrors() {
		got, diags = op.pickImported(resp, diags)
	}
	op.report(diags)
	done(diags, key, text)
	if diags.HasErrors() {
		return prior{}, false
	}
	got, ok := op.refresh(got, meta)
	if !ok {
		return prior{}, false
	}
	if got.value.IsNull() {
		op.report(diag.Errorf("Cannot import non-existent remote object",
			"The provider found no object for %s. Only objects that exist can be imported; check the id or identity, and that the provider is configured for the right place.", op.obj))
		return prior{}, false
	}
	got.importing = &plan.Importing{ID: imp.id}
	if imp.id == "" {
		got.importing.Identity = op.sealIdentity(req.Identity)
	}
	return got, true
}

// keepImported puts the imported object into the state that the plan starts from.
func (ip *instancePlan) keepImported() bool {
	o := ip.stateObject(ip.prior.value, nil, ip.prior.private, ip.prior.identity, nil)
	if o == nil {
		return false
	}
	ip.prior.object = o
	po := ip.in.Provider(ip.t)
	ip.planner.mu.Lock()
	defer ip.planner.mu.Unlock()
	ip.planner.prior.SetObject(ip.obj, o, po.Addr)
	return true
}

// importIdentity makes a complete identity of what an import block says.
func (op *objectOp) importIdentity(imp *importTarget) (cty.Value, diag.List) {
	c, diags := op.providers.Catalog(op.ctx, op.source)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	id, diags := c.Identity(op.typeName())
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	given, wrong := contract.CompleteIdentity(id, op.typeName(), imp.identity, *imp.rng)
	return given, append(diags, wrong...)
}

// pickImported picks the object that was asked for out of the answer.
func (op *objectOp) pickImported(resp provider.ImportResponse, diags diag.List) (prior, diag.List) {
	none := prior{}
	if resp.Deferred != "" {
		return none, append(diags, op.answers.Deferred("importing", resp.Deferred)...)
	}
	for _, o := range resp.Objects {
		if o.Type != op.typeName() {
			continue
		}
		v, diags := op.answers.AcceptKnown(o.State, diags, contract.Imported)
		if v == cty.NilVal {
			return none, diags
		}
		if v.IsNull() {
			return none, append(diags, op.answers.Violations(contract.Imported, contract.ErrNull)...)
		}
		id, wrong := op.answers.AcceptIdentity(o.Identity, contract.Imported)
		return prior{value: v, private: o.Private, identity: id}, append(diags, wrong...)
	}
	if len(resp.Objects) == 0 {
		return none, append(diags, diag.Errorf("Nothing imported", "The provider %s returned no object for %s.", op.source.ForDisplay(), op.obj)...)
	}
	return none, append(diags, op.answers.Violations(contract.Imported, contract.ErrWrongType)...)
}

// importText returns by what an object was imported, for a line about it; both are "" if that cannot be told.
func importText(i *plan.Importing) (key, text string) {
	if i.ID != "" {
		return "id", i.ID
	}
	id, err := i.Identity.Live()
	if err != nil || id == cty.NilVal || id.IsNull() || id.IsMarked() || !id.CanIterateElements() {
		return "", ""
	}
	return contract.IdentityText(id)
}
