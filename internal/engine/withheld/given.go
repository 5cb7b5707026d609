package withheld

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// SameGiven is SameStored without differences that ask for no change under a configuration: of values that
// only the provider gives, and between null and the zero value, which providers of the legacy type system do
// not tell apart.
func (a *Attributes) SameGiven(before, after, cfg cty.Value, stored *state.Object) bool {
	return sameGiven(a.Block, a.unrecorded(before, stored), a.unrecorded(after, stored), cfg)
}

// drifted reports whether an object is another one than its record so far, as far as that is stored and given
// by a configuration.
func (a *Attributes) drifted(v cty.Value, earlier *state.Object) bool {
	if earlier == nil {
		return false
	}
	had, err := a.storedBy(earlier)
	cfg := cty.NilVal
	if len(a.Made) > 0 {
		cfg = a.Made[0].Value
	}
	return err != nil || !sameGiven(a.Block, a.rest(had), a.rest(v), cfg)
}

// sameGiven is SameGiven for the objects of a block. cfg is its configuration, cty.NilVal if that is not
// known.
func sameGiven(b *schema.Block, before, after, cfg cty.Value) bool {
	if before.RawEquals(after) || isUnset(before) && isUnset(after) {
		return true
	}
	if before.IsNull() || after.IsNull() || !before.IsKnown() || !after.IsKnown() {
		return false
	}
	for name, attr := range b.Attributes {
		was, is, given := before.GetAttr(name), after.GetAttr(name), part(cfg, cty.GetAttrPath(name))
		open := !attr.Optional || given == cty.NilVal && cfg != cty.NilVal && !cfg.IsNull()
		if !was.RawEquals(is) && !(attr.Computed && open) && !(isUnset(was) && isUnset(is)) {
			return false
		}
	}
	for name, nested := range b.Blocks {
		if !sameBlocks(nested, before.GetAttr(name), after.GetAttr(name), part(cfg, cty.GetAttrPath(name))) {
			return false
		}
	}
	return true
}

// sameBlocks is sameGiven for the blocks of a type.
func sameBlocks(nested *schema.NestedBlock, before, after, cfg cty.Value) bool {
	switch nested.Nesting {
	case schema.Single, schema.Group:
		return sameGiven(&nested.Block, before, after, cfg)
	case schema.List:
		if isUnset(before) || isUnset(after) || !before.IsKnown() || !after.IsKnown() || before.LengthInt() != after.LengthInt() {
			break
		}
		for it := before.ElementIterator(); it.Next(); {
			i, was := it.Element()
			if !sameGiven(&nested.Block, was, after.Index(i), part(cfg, cty.Path{cty.IndexStep{Key: i}})) {
				return false
			}
		}
		return true
	}
	return before.RawEquals(after) || isUnset(before) && isUnset(after)
}

// isUnset reports whether a value is null or one that providers of the legacy type system return for it.
func isUnset(v cty.Value) bool { return v.IsNull() || isZero(v) }
