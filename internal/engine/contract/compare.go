package contract

import (
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// ReplacePaths returns those paths that the provider wants a replacement for and where prior and planned
// object really differ. A write-only attribute is null on both sides, so for one the provider's word is
// taken.
func ReplacePaths(b *schema.Block, prior, planned cty.Value, asked []cty.Path) []cty.Path {
	var out []cty.Path
	for _, path := range asked {
		before, errBefore := path.Apply(prior)
		after, errAfter := path.Apply(planned)
		switch {
		case errBefore != nil && errAfter != nil:
			continue // leads nowhere: nothing to compare
		case errBefore != nil || errAfter != nil:
			out = append(out, path)
		case !before.RawEquals(after) || b.InWriteOnly(path):
			out = append(out, path)
		}
	}
	return out
}

// SamePaths reports whether two lists have the same paths, in any order and apart from some.
func SamePaths(a, b, except []cty.Path) bool {
	return maps.Equal(pathSet(a, except), pathSet(b, except))
}

// pathSet returns the paths without those in except. The keys are the paths in their written form, since a
// cty.Path cannot be the key of a map.
func pathSet(paths, except []cty.Path) map[string]struct{} {
	set := make(map[string]struct{}, len(paths))
	for _, p := range paths {
		set[schema.PathString(p)] = struct{}{}
	}
	for _, p := range except {
		delete(set, schema.PathString(p))
	}
	return set
}

// SaysMore reports whether the configuration sets something that is not wholly known in the planned object.
// An attribute that it sets to null was unknown when planning if the planned object has an unknown value
// there that no provider computes.
func SaysMore(b *schema.Block, config, planned cty.Value) bool {
	unknown := func(name string) bool {
		return !config.GetAttr(name).IsNull() && !planned.GetAttr(name).IsWhollyKnown()
	}
	for name, a := range b.Attributes {
		if unknown(name) || !a.Computed && !planned.GetAttr(name).IsKnown() {
			return true
		}
	}
	for name := range b.Blocks {
		if unknown(name) {
			return true
		}
	}
	return false
}

// NullUnknown puts null in place of unknown parts, so that the object can be stored.
func NullUnknown(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return cty.NullVal(v.Type()), nil
		}
		return v, nil
	})
	if err != nil {
		return cty.NullVal(v.Type())
	}
	return out
}

// TakesWriteOnly reports whether an update takes the value of the write-only argument at a path: one that has
// a version, an argument of its name with "_version", is taken if that changes.
func TakesWriteOnly(b *schema.Block, path cty.Path, before, after cty.Value) bool {
	version := b.WriteOnlyVersion(path)
	if version == nil {
		return true
	}
	was, err1 := version.Apply(before)
	is, err2 := version.Apply(after)
	return err1 != nil || err2 != nil || !is.IsWhollyKnown() || !is.RawEquals(was)
}
