package contract

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// IgnoreChanges returns the configuration with the parts that ignore_changes names taken from the prior
// object, and its sensitive paths: the stored ones for parts taken from the prior object, the configured
// ones for the rest. Without a prior object it changes nothing. The values have no marks.
func IgnoreChanges(
	b *schema.Block, lc *config.Lifecycle, prior, cfg cty.Value, configured, stored []cty.Path,
) (merged cty.Value, sensitive []cty.Path) {
	if prior.IsNull() || !lc.IgnoreAll && len(lc.IgnoreChanges) == 0 {
		return cfg, configured
	}
	return ignoredValues(b, lc, prior, cfg), ignoredSensitive(b, lc, prior, cfg, configured, stored)
}

// ignoredValues returns the values of IgnoreChanges. Write-only attributes keep their configured value, at
// any depth: the prior object has none, and null must not be sent in its place.
func ignoredValues(b *schema.Block, lc *config.Lifecycle, prior, cfg cty.Value) cty.Value {
	out, prior := cfg, asConfigured(b, prior)
	if lc.IgnoreAll {
		out = configFromPrior(b, prior, cfg)
	}
	for _, t := range lc.IgnoreChanges {
		if path := traversalPath(t); b.Settable(path) {
			out = value.ReplaceAt(out, prior, path)
		}
	}
	for _, path := range b.WriteOnlyPaths(cfg) {
		if parent, err := path[:len(path)-1].Apply(out); err == nil && !parent.IsNull() {
			out = value.ReplaceAt(out, cfg, path)
		}
	}
	return out
}

// ignoredSensitive returns the sensitive paths of IgnoreChanges.
func ignoredSensitive(b *schema.Block, lc *config.Lifecycle, prior, cfg cty.Value, configured, stored []cty.Path) []cty.Path {
	taken := takenPaths(b, lc, prior, cfg)
	within := func(p cty.Path) bool { return slices.ContainsFunc(taken, p.HasPrefix) }
	out := slices.DeleteFunc(slices.Clone(configured), within)
	for _, p := range stored {
		if within(p) {
			out = append(out, p)
			continue
		}
		for _, t := range taken {
			if t.HasPrefix(p) {
				out = append(out, t)
			}
		}
	}
	return out
}

// takenPaths returns the paths that IgnoreChanges takes from the prior object and that have a value there.
func takenPaths(b *schema.Block, lc *config.Lifecycle, prior, cfg cty.Value) []cty.Path {
	var out []cty.Path
	if lc.IgnoreAll {
		for name, a := range b.Attributes {
			if !fromConfig(a, cfg.GetAttr(name)) {
				out = append(out, cty.GetAttrPath(name))
			}
		}
		for name := range b.Blocks {
			out = append(out, cty.GetAttrPath(name))
		}
	}
	for _, t := range lc.IgnoreChanges {
		path := traversalPath(t)
		if !b.Settable(path) {
			continue
		}
		path = normalPath(prior.Type(), path)
		if _, err := path.Apply(prior); err == nil { // or the configured value stays
			out = append(out, path)
		}
	}
	return out
}

// Ignores reports whether ignore_changes names a path or a prefix of it.
func Ignores(b *schema.Block, lc *config.Lifecycle, path cty.Path) bool {
	if lc.IgnoreAll {
		return true
	}
	ty := b.Type()
	return slices.ContainsFunc(lc.IgnoreChanges, func(t hcl.Traversal) bool {
		named := traversalPath(t)
		return b.Settable(named) && path.HasPrefix(normalPath(ty, named))
	})
}

// normalPath returns the path with the kind of steps that values of the type have: an element of a map may be
// written like an attribute.
func normalPath(ty cty.Type, path cty.Path) cty.Path {
	out := slices.Clone(path)
	for i, step := range path {
		if attr, ok := step.(cty.GetAttrStep); ok && ty.IsMapType() {
			out[i] = cty.IndexStep{Key: cty.StringVal(attr.Name)}
		}
		next, err := out[i : i+1].Apply(cty.UnknownVal(ty))
		if err != nil {
			return out
		}
		ty = next.Type()
	}
	return out
}

// configFromPrior returns a configuration that asks for the object as it is. prior has no attributes that
// only the provider sets.
func configFromPrior(b *schema.Block, prior, cfg cty.Value) cty.Value {
	out := prior.AsValueMap()
	for name, a := range b.Attributes {
		if fromConfig(a, cfg.GetAttr(name)) {
			out[name] = cfg.GetAttr(name)
		}
	}
	return cty.ObjectVal(out)
}

// fromConfig reports whether an attribute is taken from the configuration even where all changes are ignored:
// the prior object has nothing to say about it.
func fromConfig(a *schema.Attribute, configured cty.Value) bool {
	return a.WriteOnly || a.Computed && configured.IsNull()
}

// asConfigured returns an object as a configuration would have it: with null for attributes that only the
// provider sets, at any depth.
func asConfigured(b *schema.Block, v cty.Value) cty.Value {
	out, _ := cty.Transform(v, func(path cty.Path, v cty.Value) (cty.Value, error) { // the callback never fails
		if a := b.AttributeAt(path); a != nil && a.Computed && !a.Optional {
			return cty.NullVal(v.Type()), nil
		}
		return v, nil
	})
	return out
}

// traversalPath converts a relative traversal, as ignore_changes has it, to a path.
func traversalPath(t hcl.Traversal) cty.Path {
	var path cty.Path
	for _, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			path = append(path, cty.GetAttrStep{Name: s.Name})
		case hcl.TraverseAttr:
			path = append(path, cty.GetAttrStep{Name: s.Name})
		case hcl.TraverseIndex:
			path = append(path, cty.IndexStep{Key: s.Key})
		}
	}
	return path
}
