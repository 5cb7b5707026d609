package accepted_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/accepted"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// TestSet has the configuration that a provider accepted last for a block, and no other.
func TestSet(t *testing.T) {
	var s accepted.Set
	block := &blocks.Resource{Config: &config.Resource{Module: &config.Module{}, Addr: addr.Resource{Mode: addr.Managed, Type: "t", Name: "a"}}}
	key, one, two := accepted.Key(block), cty.StringVal("1"), cty.StringVal("2")
	if s.Has(key, one) {
		t.Error("an empty set: got the configuration, want none")
	}
	s.Add(key, one)
	s.Add(key, two)
	if s.Has(key, one) || !s.Has(accepted.Key(block), two) {
		t.Errorf("got the first %v, the last %v, want the last alone", s.Has(key, one), s.Has(key, two))
	}
}
