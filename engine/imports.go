package engine

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
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

// resolveImports evaluates import blocks and adds what the request asks for. An object that the state has already is left alone.
func (p *planner) resolveImports() {
	p.imports = map[addr.Instance]*importTarget{}
	if p.req.Mode == plan.Destroy {
		return
	}
	for a, id := range p.req.Imports {
		p.imports[a] = &importTarget{id: id}
	}
	if len(p.req.Config.Tree.Root.Imports) == 0 {
		return
	}
	for _, target := range p.run.Imports(&future.Task{}) {
		if target.Block == nil || target.To == (addr.Instance{}) || p.prior.Instance(target.To) != nil {
			continue
		}
		if other := p.imports[target.To]; other != nil && other.rng != nil {
			p.run.Report(diag.At(target.Block.Range, "Duplicate import configuration",
				"%s is imported here and at %s. It can be imported once only: remove one of the two.", target.To, *other.rng))
			continue
		}
		if p.run.Declared(target.To) {
			p.imports[target.To] = &importTarget{id: target.ID, identity: target.Identity, rng: &target.Block.Range}
			continue
		}
		p.run.Report(diag.At(target.Block.Range, "Configuration for import target does not exist",
			"The configuration for the import of %s does not exist. Write a resource block for it; all of its arguments will be compared with the real object.", target.To))
	}
}

// unusedImports reports import blocks for instances that the configuration turned out not to have.
func (p *planner) unusedImports() {
	for a, imp := range p.imports {
		if _, ok := p.desired[a]; ok || imp.rng == nil || p.unresolved(a) || !p.selected(a) || p.run.Diags.HasErrors() {
			continue
		}
		p.run.Report(diag.At(*imp.rng, "Configuration for import target does not exist",
			"The configuration declares no instance %s: its count, for_each or enabled argument says so, or that of a module around it. Correct the address or the argument.", a))
	}
}

// importPrior imports the object and reads it.
func (ip *instancePlan) importPrior(imp *importTarget, meta cty.Value) bool {
	req := provider.ImportRequest{Type: ip.typeName(), ID: imp.id}
	if imp.identity != cty.NilVal {
		id, diags := ip.importIdentity(imp.identity)
		ip.report(diags)
		if diags.HasErrors() {
			return false
		}
		req.Identity = id
	}
	done := ip.started(OpImport, ip.obj, plan.NoOp, "id", imp.id)
	resp, diags := ip.p.ImportResource(ip.ctx, req)
	var got prior
	if !diags.HasErrors() {
		got, diags = ip.imported(resp, diags)
	}
	ip.report(diags)
	done(diags, "id", imp.id)
	if diags.HasErrors() {
		return false
	}
	got, ok := ip.refreshed(got, meta)
	if !ok {
		return false
	}
	if got.value.IsNull() {
		ip.report(diag.Errorf("Cannot import non-existent remote object",
			"The provider found no object for %s. Only objects that exist can be imported; check the id, and that the provider is configured for the right place.", ip.obj))
		return false
	}
	got.importing = &plan.Importing{ID: imp.id, Identity: ip.sealedIdentity(got.identity)}
	if imp.id == "" {
		got.importing.Identity = ip.sealedIdentity(req.Identity)
	}
	ip.prior = got
	return ip.keepImported()
}

// keepImported puts the imported object into the state that the plan starts from.
func (ip *instancePlan) keepImported() bool {
	o := ip.subject.stored(ip.prior.value, nil, ip.prior.private, ip.prior.identity, nil)
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

func (ip *instancePlan) importIdentity(v cty.Value) (cty.Value, diag.List) {
	c, diags := ip.providers.catalog(ip.ctx, ip.source)
	if diags.HasErrors() {
		return v, diags
	}
	id, diags := c.Identity(ip.typeName())
	if diags.HasErrors() {
		return v, diags
	}
	if id == nil {
		return v, append(diags, diag.Errorf("Import by identity is not supported", "The resource type %s has no identity; import it with an id instead.", ip.typeName())...)
	}
	attrs := map[string]cty.Value{}
	for name, a := range id.Attributes {
		attrs[name] = cty.NullVal(a.Type)
		if !v.Type().HasAttribute(name) {
			if a.RequiredForImport {
				diags = append(diags, diag.Errorf("Incomplete import identity", "The identity of %s needs the attribute %q.", ip.typeName(), name)...)
			}
			continue
		}
		got, err := convert.Convert(v.GetAttr(name), a.Type)
		if err != nil {
			diags = append(diags, diag.Errorf("Invalid import identity", "The attribute %q of the identity is not suitable: %s.", name, err)...)
			continue
		}
		attrs[name] = got
	}
	return cty.ObjectVal(attrs), diags
}

// imported picks the object that was asked for out of the answer.
func (ip *instancePlan) imported(resp provider.ImportResponse, diags diag.List) (prior, diag.List) {
	none := prior{}
	if resp.Deferred != "" {
		return none, append(diags, ip.deferredAnswer("importing", resp.Deferred)...)
	}
	for _, o := range resp.Objects {
		if o.Type != ip.typeName() {
			continue
		}
		v, diags := ip.accept(o.State, diags, "imported object", true)
		if v == cty.NilVal {
			return none, diags
		}
		if v.IsNull() {
			return none, append(diags, ip.violation("imported object", errNull))
		}
		return prior{value: v, private: o.Private, identity: o.Identity}, diags
	}
	if len(resp.Objects) == 0 {
		return none, append(diags, diag.Errorf("Nothing imported", "The provider %s returned no object for %s.", ip.source.ForDisplay(), ip.obj)...)
	}
	return none, append(diags, ip.violation("imported object", errWrongType))
}

var errWrongType = errors.New("it is of another resource type than asked for")
