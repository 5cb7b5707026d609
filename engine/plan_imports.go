package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// resolveImports evaluates import blocks. It skips objects that the state already has. Only modes of
// planning that show imports make any.
func (p *planner) resolveImports() {
	p.imports = map[addr.Instance]*importTarget{}
	if p.req.Mode != plan.Normal {
		return
	}
	if len(p.req.Config.Tree.Root.Imports) == 0 {
		return
	}
	pool := future.NewPool(p.workers())
	targets := p.run.Imports(pool)
	pool.Wait()
	for _, target := range targets() {
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

// unusedImports reports import blocks whose target instance the configuration does not have.
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

// undeclaredImport handles an import block whose target has no resource block: it is noted for generation,
// or reported.
func (p *planner) undeclaredImport(t eval.ImportTarget, imp *importTarget) {
	switch {
	case !p.generating:
		p.run.Report(diag.At(t.Block.Range, "Configuration for import target does not exist",
			"The configuration for the import of %s does not exist. Write a resource block for it, whose arguments will be compared with the real object, or generate one: mayfly plan -generate-config-out=generated.tf", t.To))
	case !t.To.Module.IsRoot():
		p.run.Report(diag.At(t.Block.Range, "Cannot generate configuration in a module",
			"The configuration for the import of %s does not exist, and it can be generated in the root module only. Write the resource block in the module.", t.To))
	case t.To.Key != addr.NoKey:
		p.run.Report(diag.At(t.Block.Range, "Configuration generation for count and for_each resources not supported",
			"The configuration for the import of %s does not exist, and it can be generated for single objects only. Import to an address without a key, or write the resource block.", t.To))
	default:
		p.missing = append(p.missing, undeclared{to: t.To, target: imp, block: t.Block})
	}
}
