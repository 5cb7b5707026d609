package object

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Foresee returns an object, without marks, as far as its configuration tells it without a provider, and the
// sensitive paths. A configuration with errors is cty.NilVal, and tells nothing.
func Foresee(op *Op, cfg cty.Value) (cty.Value, []cty.Path) {
	if cfg == cty.NilVal {
		return cty.UnknownVal(op.Block().Type()), nil
	}
	v := schema.PlannedDataObject(op.Block(), op.Block().NullWriteOnly(op.Answers.Given(cfg)))
	return v, op.Withheld.Outside(value.PathsWith(cfg, value.Sensitive))
}
