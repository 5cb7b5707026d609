package object

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Prior is the object that planning starts from: upgraded to the current schema and, unless refreshing is
// off, refreshed from the real object.
type Prior struct {
	Object    *state.Object // nil if there is none
	Value     cty.Value     // without marks; null if there is none
	Private   []byte
	Identity  cty.Value // cty.NilVal if there is none
	Importing *plan.Importing
	Cleaned   bool       // the stored object had write-only values, which Value lacks
	Drifted   []cty.Path // withheld attributes whose values in the real object the state does not know
}

// PrivateToDelete returns the private data that the provider gets for a destruction: the planned data for
// a plain destruction, the object's own for the old half of a replacement.
func (pr Prior) PrivateToDelete(c *plan.Change) []byte {
	if c.Action == plan.Delete && c.PlannedPrivate != nil {
		return c.PlannedPrivate
	}
	return pr.Private
}

// SameAs reports whether an object was read as it was, as far as that is stored, and without another value of
// a withheld attribute.
func (pr Prior) SameAs(before Prior, w *withheld.Attributes) bool {
	return len(pr.Drifted) == 0 && w.SameStored(before.Value, pr.Value, before.Object)
}

// Sensitive returns the paths that are sensitive in the stored object.
func (pr Prior) Sensitive() []cty.Path {
	if pr.Object == nil {
		return nil
	}
	return pr.Object.Sensitive
}

// Records returns the state's records of the attributes that are not stored.
func (pr Prior) Records() []state.Withheld {
	if pr.Object == nil {
		return nil
	}
	return pr.Object.Withheld
}

// NoPrior returns the prior object to plan from if there is no object.
func NoPrior(b *schema.Block) Prior {
	return Prior{Value: cty.NullVal(b.Type())}
}

// Review judges the answer that made a prior object while the configuration was not known, and takes out of
// it the values that must not be stored. private is the private data in the state. It returns false if the
// object cannot be used, which was reported.
func (op *Op) Review(pr *Prior, private []byte) bool {
	got, diags := op.Answers.Review(contract.Answered{Value: pr.Value, Identity: pr.Identity, Private: pr.Private}, private)
	pr.Value, pr.Identity, pr.Private = got.Value, got.Identity, got.Private
	op.Report(diags)
	return !diags.HasErrors()
}
