package object

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// ImportTarget is an object to be imported.
type ImportTarget struct {
	ID       string
	Identity cty.Value
	Range    *hcl.Range // of the import block; nil for the import command
	Unknown  bool       // which object it is will be known only after apply
	Deps     []plan.Dep // of the id or identity, where they matter: see eval.ImportTarget
}

// Import asks the provider of an operation for the target and reads it. meta is as in Refresh. Import returns
// false if there is no such object or that failed, which was reported.
func (t *ImportTarget) Import(op *Op, meta cty.Value) (Prior, bool) {
	req := provider.ImportRequest{Type: op.TypeName(), ID: t.ID}
	key, text := "id", t.ID
	if t.Identity != cty.NilVal {
		id, diags := t.identity(op)
		op.Report(diags)
		if diags.HasErrors() {
			return Prior{}, false
		}
		req.Identity = id
		key, text = contract.IdentityText(id)
	}
	op.publishImported(t.ID, req.Identity)
	done := op.Events.BeginDeferrable(event.OpImport, op.Obj, plan.NoOp, key, text)
	defer Await(op)()
	resp, diags := op.Provider.ImportResource(op.Ctx, req)
	var got Prior
	if !diags.HasErrors() {
		_, wrong := PutsOff(op, resp.Deferred, "importing")
		diags = append(diags, wrong...)
	}
	if !diags.HasErrors() && op.PutOff == "" {
		got, diags = t.pick(op, resp, diags)
	}
	op.Report(diags)
	done(op.PutOff != "", diags, key, text)
	if diags.HasErrors() || op.PutOff != "" {
		return Prior{}, false
	}
	got, ok := op.Refresh(got, meta)
	if !ok {
		return Prior{}, false
	}
	if got.Value.IsNull() {
		op.Report(diag.Errorf("Cannot import non-existent remote object",
			"The provider found no object for %s. Only objects that exist can be imported; check the id or identity, and that the provider is configured for the right place.", op.Obj))
		return Prior{}, false
	}
	got.Importing = &plan.Importing{ID: t.ID}
	if t.ID == "" {
		got.Importing.Identity = op.SealIdentity(req.Identity)
	}
	return got, true
}

// Planned returns the record of an import that a later plan makes, which names nothing if the object is not
// known yet; nil if t is nil.
func (t *ImportTarget) Planned(op *Op) *plan.Importing {
	if t == nil {
		return nil
	}
	return &plan.Importing{ID: t.ID, Identity: op.SealIdentity(t.Identity)}
}

// ImportAgain imports an object that was imported for the plan, of which o is the record: for the values that
// neither of the two has. It returns false if that failed, which was reported.
func ImportAgain(op *Op, i *plan.Importing, o *state.Object, meta cty.Value) (Prior, bool) {
	identity, err := i.Identity.Unmarked()
	if err != nil {
		op.Report(diag.Errorf("Plan cannot be read", "The identity by which %s was imported cannot be used: %s. Make a new plan.", op.Obj, err))
		return Prior{}, false
	}
	pr, ok := (&ImportTarget{ID: i.ID, Identity: identity, Range: &hcl.Range{}}).Import(op, meta)
	pr.Object = o
	return pr, ok
}

// publishImported publishes the id or identity that an object is imported by.
func (op *Op) publishImported(id string, identity cty.Value) {
	op.Answers.Publish(func(yield func(string) bool) { yield(id) })
	if identity != cty.NilVal {
		op.Answers.PublishValue(identity)
	}
}

// PublishImporting publishes the id or identity that an object was imported by for the plan. i may be nil.
func (op *Op) PublishImporting(i *plan.Importing) {
	if i == nil {
		return
	}
	identity, _ := i.Identity.Unmarked() // nothing if it cannot be decoded
	op.publishImported(i.ID, identity)
}

// identity completes the identity given in an import block.
func (t *ImportTarget) identity(op *Op) (cty.Value, diag.List) {
	c, diags := op.Providers.Catalog(op.Ctx, op.Source)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	id, diags := c.Identity(op.TypeName())
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	given, wrong := contract.CompleteIdentity(id, op.TypeName(), t.Identity, *t.Range)
	return given, append(diags, wrong...)
}

// pick returns the target from the answer, which may contain other objects.
func (t *ImportTarget) pick(op *Op, resp provider.ImportResponse, diags diag.List) (Prior, diag.List) {
	none := Prior{}
	for _, o := range resp.Objects {
		if o.Type != op.TypeName() {
			continue
		}
		v, diags := op.Answers.AcceptKnown(o.State, diags, contract.Imported)
		if v == cty.NilVal {
			return none, diags
		}
		if v.IsNull() {
			return none, append(diags, op.Answers.Violations(contract.Imported, contract.ErrNull)...)
		}
		id, wrong := op.Answers.AcceptIdentity(o.Identity, contract.Imported)
		private, leaks := op.Answers.AcceptPrivate(o.Private, nil, contract.Imported)
		return Prior{Value: v, Private: private, Identity: id}, slices.Concat(diags, wrong, leaks)
	}
	if len(resp.Objects) == 0 {
		return none, append(diags, diag.Errorf("Nothing imported", "The provider %s returned no object for %s.", op.Source.ForDisplay(), op.Obj)...)
	}
	return none, append(diags, op.Answers.Violations(contract.Imported, contract.ErrWrongType)...)
}

// SuggestConfig returns a configuration for an object: the provider's if it generates one, and else one made
// from the object itself.
func (op *Op) SuggestConfig(v cty.Value) (cty.Value, bool) {
	c, diags := op.Providers.Catalog(op.Ctx, op.Source)
	if diags.HasErrors() || !c.Capabilities().GenerateResourceConfig {
		return v, !diags.HasErrors()
	}
	got, diags := op.Provider.GenerateConfig(op.Ctx, provider.GenerateRequest{Type: op.TypeName(), State: v})
	if !diags.HasErrors() {
		got, diags = op.Answers.AcceptExisting(got, diags, contract.Generated)
	}
	op.Report(diags)
	return got, !diags.HasErrors()
}
