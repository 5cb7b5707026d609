package engine

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// validation is the result of validating a configuration.
type validation struct {
	cfg   *blocks.Config
	diags diag.List
}

// accepted has the configurations that providers accepted without remarks while a configuration was
// validated, by acceptedBlock or addr.ProviderConfig. They have no marks and nothing ephemeral: that is
// unknown while validating. Engines beside each other share one, since runs of tests validate much the same.
type accepted struct{ sync.Map }

// acceptedBlock identifies a block, whichever tree it is in.
type acceptedBlock struct {
	addr.ConfigResource
	provider addr.Provider
}

// acceptedKey returns the key of a block.
func acceptedKey(b *blocks.Resource) acceptedBlock {
	return acceptedBlock{b.Config.Config(), b.Provider}
}

// has reports whether the provider has validated exactly this configuration of a block without remarks.
func (a *accepted) has(block any, config cty.Value) bool {
	known, ok := a.Load(block)
	return ok && known.(cty.Value).RawEquals(config)
}
