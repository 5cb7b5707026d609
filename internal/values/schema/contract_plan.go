package schema

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// AssertPlanValid checks an object that a provider planned: each attribute that is set in the configuration
// must have that value, or keep the prior one; attributes that are neither set nor computed must be null,
// write-only ones always; and there must be one nested object for each block. prior and config are null for a
// new and a deleted object. The values have no marks. The errors are cty.PathErrors without values. The
// caller judges them: errors of a provider with the legacy SDK are only logged.
func AssertPlanValid(b *Block, prior, config, planned cty.Value) []error {
	switch {
	case config.IsNull() && planned != cty.NilVal && planned.IsNull():
		return nil
	case config.IsNull():
		return []error{cty.Path(nil).NewErrorf("the object is to be deleted, but the plan is not null")}
	case !isOpen(planned):
		return []error{cty.Path(nil).NewErrorf("the object is configured, but the plan is null or unknown as a whole")}
	}
	errs, conforms := assertObject(b, planned)
	if !conforms {
		return errs
	}
	check := planCheck{faults{what: "the planned value", errs: errs}}
	check.object(b.content(), nil, orNone(prior), config, planned)
	return check.errs
}

// AssertOpenResult checks the result of opening an ephemeral resource: an object of the right type, wholly
// known, which has everything exactly as it is configured; only computed attributes that are not configured
// may be filled in. The values have no marks. The errors are cty.PathErrors without values. It is rule E43.
func AssertOpenResult(b *Block, config, result cty.Value) []error {
	if !isOpen(result) {
		return []error{cty.Path(nil).NewErrorf("the result is null or unknown as a whole")}
	}
	errs, conforms := assertObject(b, result)
	errs = append(errs, AssertWhollyKnown(result)...)
	if !conforms {
		return errs
	}
	check := planCheck{faults{what: "the result", errs: errs}}
	check.object(b.content(), nil, cty.NilVal, config, result)
	return check.errs
}

// planCheck compares values that a provider derived from a configuration with that configuration. In all
// methods prior is NilVal if there is no prior value. Paths are valid during the call only: errors copy them.
type planCheck struct{ faults }

// faults are the errors that a check finds.
type faults struct {
	what string // the checked value, as the subject of a sentence
	errs []error
}

// fail adds an error. The format must not include values.
func (f *faults) fail(path cty.Path, format string, args ...any) {
	f.errs = append(f.errs, path.NewErrorf(f.what+" "+format, args...))
}

// object checks one planned object. Null and unknown objects are for the caller to judge.
func (c *planCheck) object(parts content, path cty.Path, prior, config, planned cty.Value) {
	if !isOpen(config) || !isOpen(planned) {
		return
	}
	for _, name := range parts.attrNames {
		a := parts.attrs[name]
		if a.WriteOnly { // all write-only attributes have been checked together
			continue
		}
		config, planned := part(config, name), part(planned, name)
		if config != cty.NilVal && planned != cty.NilVal && (config.IsNull() && a.Computed || equal(planned, config)) {
			continue
		}
		c.attr(a, append(path, cty.GetAttrStep{Name: name}), part(prior, name), config, planned)
	}
	for _, name := range parts.blockNames {
		path := append(path, cty.GetAttrStep{Name: name})
		c.blocks(parts.blocks[name], path, part(prior, name), part(config, name), part(planned, name))
	}
}

// attr checks one planned attribute that is not the configured one. A plan may have the prior value in its
// place, or any value for a computed attribute that is not configured, which the caller allows.
func (c *planCheck) attr(a *Attribute, path cty.Path, prior, config, planned cty.Value) {
	switch {
	case config == cty.NilVal || planned == cty.NilVal:
		c.fail(path, "lacks this attribute, or the configuration does")
	case config.IsNull():
		c.fail(path, "must be null: the attribute is not computed and the configuration does not set it")
	case prior != cty.NilVal && !prior.IsNull() && equal(planned, prior):
	case a.Nested != nil && isOpen(config) && isOpen(planned):
		c.each(a.Nested.Nesting, a.Nested.content(), path, prior, config, planned)
	default:
		if prior == cty.NilVal || prior.IsNull() {
			c.fail(path, "differs from the configured one")
		} else {
			c.fail(path, "is neither the configured nor the prior one")
		}
	}
}

// blocks checks the blocks of one type: as many as are configured, since a provider can't plan blocks of
// its own.
func (c *planCheck) blocks(n *NestedBlock, path cty.Path, prior, config, planned cty.Value) {
	switch {
	case config == cty.NilVal || planned == cty.NilVal:
		c.fail(path, "lacks these blocks, or the configuration does")
	case !config.IsKnown(): // an unknown number of blocks
	case !planned.IsKnown():
		c.fail(path, "must not be unknown as a whole: the blocks are known, only their attributes may be unknown")
	case config.IsNull() != planned.IsNull():
		c.fail(path, "must have an object for each configured block and no others")
	case !config.IsNull():
		c.each(n.Nesting, n.content(), path, prior, config, planned)
	}
}

// each compares the objects of a nested attribute or of blocks.
func (c *planCheck) each(nesting Nesting, parts content, path cty.Path, prior, config, planned cty.Value) {
	switch nesting {
	case Set:
		c.set(parts, path, elements(prior), elements(config), elements(planned))
	case List:
		priors, configs, all := elements(prior), elements(config), elements(planned)
		if len(configs) != len(all) {
			c.fail(path, "has %d elements, but %d are configured", len(all), len(configs))
			return
		}
		for i := range configs {
			before := cty.NilVal
			if i < len(priors) {
				before = orNone(priors[i])
			}
			c.one(parts, append(path, cty.IndexStep{Key: cty.NumberIntVal(int64(i))}), before, configs[i], all[i])
		}
	case Map:
		c.keyed(parts, path, prior, config, planned)
	default:
		c.one(parts, path, orNone(prior), config, planned)
	}
}

// keyed checks the elements of a map: planned keys must be exactly the configured ones.
func (c *planCheck) keyed(parts content, path cty.Path, prior, config, planned cty.Value) {
	priors, configs, all := entries(prior), entries(config), entries(planned)
	for _, key := range slices.Sorted(maps.Keys(configs)) {
		path := append(path, stepTo(config.Type(), cty.StringVal(key)))
		if one, ok := all[key]; ok {
			c.one(parts, path, orNone(priors[key]), configs[key], one)
		} else {
			c.fail(path, "lacks this configured element")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if _, ok := configs[key]; !ok {
			c.fail(append(path, stepTo(planned.Type(), cty.StringVal(key))), "has this element, which is not configured")
		}
	}
}

// one checks one element. An element that is null or unknown in the configuration must be so in the plan,
// or be as it was.
func (c *planCheck) one(parts content, path cty.Path, prior, config, planned cty.Value) {
	switch {
	case !isOpen(config) && !equal(config, planned) && (prior == cty.NilVal || !equal(planned, prior)):
		c.fail(path, "differs from the configured one")
	case isOpen(config) && !isOpen(planned):
		c.fail(path, "is null or unknown, but is configured")
	default:
		c.object(parts, path, prior, config, planned)
	}
}

// set compares sets, whose elements may have come from the configuration or, if the provider found a change
// not to matter, from prior. Elements that became equal are one element in the plan, so there may be fewer
// than configured as long as not all of them are known.
func (c *planCheck) set(parts content, path cty.Path, priors, configs, all []cty.Value) {
	matching := configPatterns(parts)
	matching.fits = func(config, one cty.Value) bool {
		inner := planCheck{}
		inner.one(parts, nil, cty.NilVal, config, one)
		return len(inner.errs) == 0
	}
	lonely, stray := matching.cover(configs, all)
	kept := contained(priors, stray)
	switch {
	case len(all) > len(configs):
		c.fail(path, "has %d elements, but %d are configured", len(all), len(configs))
	case len(stray) > kept:
		c.fail(path, "has an element that corresponds to none in the configuration")
	case len(lonely) > kept:
		c.fail(path, "has no element that corresponds to one in the configuration")
	case len(all) < len(configs) && whollyKnown(configs):
		c.fail(path, "has %d elements, but %d are configured", len(all), len(configs))
	}
}

// whollyKnown reports whether none of the values has unknown parts.
func whollyKnown(values []cty.Value) bool {
	return !slices.ContainsFunc(values, func(v cty.Value) bool { return !v.IsWhollyKnown() })
}

// contained counts the elements of some that are among all.
func contained(all, some []cty.Value) int {
	if len(some) == 0 || len(all) == 0 {
		return 0
	}
	byHash := make(map[int][]cty.Value, len(all))
	for _, v := range all {
		byHash[v.Hash()] = append(byHash[v.Hash()], v)
	}
	count := 0
	for _, v := range some {
		if slices.ContainsFunc(byHash[v.Hash()], func(other cty.Value) bool { return equal(v, other) }) {
			count++
		}
	}
	return count
}
