package engine

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
)

// importTarget is an object to be imported.
type importTarget struct {
	id       string
	identity cty.Value
	rng      *hcl.Range // of the import block; nil for the import command
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

// importIdentity completes the identity given in an import block.
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

// pickImported returns the requested object from the answer, which may contain others.
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

// importText returns the attribute and the value by which an object was imported, for display; both are ""
// if unknown.
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

// undeclared is the target of an import block for which there is no resource block.
type undeclared struct {
	to     addr.Instance
	target *importTarget
	block  *config.Import
}
