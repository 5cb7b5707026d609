package engine

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval/blocks"
)

// validation is what validating a configuration has found.
type validation struct {
	cfg   *blocks.Config
	diags diag.List
	// accepted has the configurations that providers found nothing to remark on, without marks, by
	// *blocks.Resource and addr.ProviderConfig. Nothing ephemeral is in them: it is unknown while validating.
	accepted sync.Map
}

// accepts reports whether the provider has already been asked about exactly this configuration of a block and
// had no remarks. v may be nil.
func (v *validation) accepts(block any, config cty.Value) bool {
	if v == nil {
		return false
	}
	known, ok := v.accepted.Load(block)
	return ok && known.(cty.Value).RawEquals(config)
}
