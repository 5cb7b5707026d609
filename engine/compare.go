package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/schema"
)

// replacePaths returns those paths that the provider wants a replacement for and where prior and planned
// object really differ. A write-only attribute is null on both sides, so for one the provider's word is
// taken.
func replacePaths(b *schema.Block, prior, planned cty.Value, asked []cty.Path) []cty.Path {
	var out []cty.Path
	for _, path := range asked {
		before, errBefore := path.Apply(prior)
		after, errAfter := path.Apply(planned)
		switch {
		case errBefore != nil && errAfter != nil:
			continue // leads nowhere: nothing to compare
		case errBefore != nil || errAfter != nil:
			out = append(out, path)
		case !after.IsWhollyKnown() || !before.RawEquals(after) || writeOnly(b, path):
			out = append(out, path)
		}
	}
	return out
}

func writeOnly(b *schema.Block, path cty.Path) bool {
	attrs, blocks := b.Attributes, b.Blocks
	for _, step := range path {
		name, ok := step.(cty.GetAttrStep)
		if !ok {
			continue
		}
		switch {
		case attrs[name.Name] != nil && attrs[name.Name].WriteOnly:
			return true
		case attrs[name.Name] != nil && attrs[name.Name].Nested != nil:
			attrs, blocks = attrs[name.Name].Nested.Attributes, nil
		case blocks[name.Name] != nil:
			attrs, blocks = blocks[name.Name].Attributes, blocks[name.Name].Blocks
		default:
			return false
		}
	}
	return false
}

// without returns the paths of a that are not in b.
func without(a, b []cty.Path) []cty.Path {
	have := pathSet(b)
	return slices.DeleteFunc(slices.Clone(a), func(p cty.Path) bool { _, ok := have[schema.PathString(p)]; return ok })
}

// outsideWriteOnly returns the paths that don't lead into write-only attributes: what is sensitive there is
// no matter of the stored object, which has nothing there.
func outsideWriteOnly(b *schema.Block, paths []cty.Path) []cty.Path {
	if !b.HasWriteOnly() {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), b.InWriteOnly)
}

func samePaths(a, b []cty.Path) bool {
	x, y := pathSet(a), pathSet(b)
	if len(x) != len(y) {
		return false
	}
	for p := range x {
		if _, ok := y[p]; !ok {
			return false
		}
	}
	return true
}

func pathSet(paths []cty.Path) map[string]struct{} {
	set := make(map[string]struct{}, len(paths))
	for _, p := range paths {
		set[schema.PathString(p)] = struct{}{}
	}
	return set
}
