package engine

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval/blocks"
)

// validation is the result of validating a configuration.
type validation struct {
	cfg   *blocks.Config
	diags diag.List
	// accepted holds the configurations that providers accepted without remarks, by *blocks.Resource or
	// addr.ProviderConfig. They have no marks and nothing ephemeral: that is unknown while validating.
	accepted sync.Map
}

// accepts reports whether the provider has validated exactly this configuration of a block without remarks.
// v may be nil.
func (v *validation) accepts(block any, config cty.Value) bool {
	if v == nil {
		return false
	}
	known, ok := v.accepted.Load(block)
	return ok && known.(cty.Value).RawEquals(config)
}
