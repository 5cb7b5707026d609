// Package accepted has the configurations that providers accepted without remarks while a configuration was
// validated, so that they are not asked again.
//
// It may import addr, blocks and cty. It must not know how a provider is asked, or by whom.
package accepted

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Set has the configurations by Block or addr.ProviderConfig. They have no marks and nothing ephemeral: that
// is unknown while validating. Engines beside each other share one, since runs of tests validate much the
// same.
type Set struct{ configurations sync.Map }

// Block identifies a block, whichever tree it is in.
type Block struct {
	addr.ConfigResource
	Provider addr.Provider
}

// Key returns the key of a block.
func Key(b *blocks.Resource) Block { return Block{b.Config.Config(), b.Provider} }

// Has reports whether the provider has validated exactly this configuration of a block without remarks.
func (s *Set) Has(block any, config cty.Value) bool {
	known, ok := s.configurations.Load(block)
	return ok && known.(cty.Value).RawEquals(config)
}

// Add adds a configuration that was accepted, in place of the last one of the block.
func (s *Set) Add(block any, config cty.Value) { s.configurations.Store(block, config) }
