package schema

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// ProposedNew merges a configuration with the object of an earlier apply: the values of the configuration,
// and for computed attributes that it does not set, the values of prior. The provider starts from it when it
// plans a change. Elements of lists and maps keep the computed values of the element with the same index or
// key; elements of sets keep the values of the element that agrees in all other attributes. Attributes
// without such a counterpart, and all computed ones in a new object, are null: the provider says in its plan
// which of them will be known only after apply. Write-only attributes are as configured.
//
// config must be an object of the block's type, or null to delete. The values have no marks.
//
//	prior   { id = "i-1", size = 1, ip = "10.0.0.1" }   # id and ip are computed
//	config  { id = null,  size = 2, ip = null }
//	result  { id = "i-1", size = 2, ip = "10.0.0.1" }
func ProposedNew(b *Block, prior, config cty.Value) cty.Value {
	merged, _ := merger{absent: cty.NullVal}.object(b.content(), orNone(prior), config)
	return merged
}

// PlannedDataObject returns the known part of an object that will be read later: the configuration, with
// unknown values for all computed attributes that it does not set. The configuration has no marks.
func PlannedDataObject(b *Block, config cty.Value) cty.Value {
	merged, _ := merger{absent: cty.UnknownVal}.object(b.content(), cty.NilVal, config)
	return merged
}

// HoldsMarks reports whether v or any value nested in it carries any mark. It is asked of every value that
// passes a border and mostly answers no, so it allocates nothing for objects and does not look into sets,
// which carry the marks of their elements themselves.
func HoldsMarks(v cty.Value) bool {
	ty := v.Type()
	switch {
	case v.IsMarked():
		return true
	case ty.IsPrimitiveType() || ty.IsSetType() || !isOpen(v):
		return false
	case ty.IsObjectType():
		for name := range ty.AttributeTypes() {
			if HoldsMarks(v.GetAttr(name)) {
				return true
			}
		}
	case v.CanIterateElements():
		for _, elem := range v.Elements() {
			if HoldsMarks(elem) {
				return true
			}
		}
	}
	return false
}

// content is common to blocks and nested attributes: the parts of an object, and their names in order. The
// contract's rules are the same for both.
type content struct {
	attrs                 map[string]*Attribute
	blocks                map[string]*NestedBlock
	attrNames, blockNames []string
	merged                []string // the parts that merging with a prior object may change
	writeOnly             []string // the parts that are write-only, or have such parts
}

// contentOf prepares the parts of an object. Lists that are used in every merge are made here, once for
// each block.
func contentOf(attrs map[string]*Attribute, blocks map[string]*NestedBlock) content {
	c := content{attrs: attrs, blocks: blocks, attrNames: slices.Sorted(maps.Keys(attrs)), blockNames: slices.Sorted(maps.Keys(blocks))}
	for _, name := range c.attrNames {
		a := attrs[name]
		if !a.WriteOnly && (a.Computed || a.Nested != nil) {
			c.merged = append(c.merged, name)
		}
		if a.traits().writeOnly {
			c.writeOnly = append(c.writeOnly, name)
		}
	}
	for _, name := range c.blockNames {
		c.merged = append(c.merged, name)
		if blocks[name].HasWriteOnly() {
			c.writeOnly = append(c.writeOnly, name)
		}
	}
	return c
}

// content returns the prepared parts of the block's objects.
func (b *Block) content() content { return b.known().content }

// content prepares the parts of the nested attribute's objects.
func (o *Object) content() content { return contentOf(o.Attributes, nil) }

// has reports whether a value is an object with the attribute.
func has(object cty.Value, name string) bool {
	if object == cty.NilVal || !isOpen(object) || !object.Type().IsObjectType() {
		return false
	}
	_, ok := object.Type().AttributeTypes()[name] // names are normalized already, unlike arguments of HasAttribute
	return ok
}

// part returns an attribute of an object, or NilVal if there is no such object or attribute.
func part(object cty.Value, name string) cty.Value {
	if !has(object, name) {
		return cty.NilVal
	}
	return object.GetAttr(name)
}

// AttributesOf returns the attributes of a known object without marks of its own. AsValueMap takes several
// times as long: it sorts the names.
func AttributesOf(object cty.Value) map[string]cty.Value {
	types := object.Type().AttributeTypes()
	values := make(map[string]cty.Value, len(types))
	for name := range types {
		values[name] = object.GetAttr(name)
	}
	return values
}

// elements returns the elements of a known list, set or tuple, or nil.
func elements(v cty.Value) []cty.Value {
	if !isOpen(v) || !v.CanIterateElements() || v.Type().IsMapType() || v.Type().IsObjectType() {
		return nil
	}
	return v.AsValueSlice()
}

// entries returns the elements of a known map or object, or nil.
func entries(v cty.Value) map[string]cty.Value {
	if !isOpen(v) || !(v.Type().IsMapType() || v.Type().IsObjectType()) {
		return nil
	}
	return v.AsValueMap()
}

// merger merges configured and prior values. In all methods prior is NilVal if there is no earlier value.
// They report whether the result differs from the configured value: an object is built only if a part does.
type merger struct {
	absent func(cty.Type) cty.Value // makes the value of a computed attribute that is neither configured nor in a prior object
}

// object merges the attributes and nested blocks of one object. A configuration that is null or unknown is
// returned as it is. Only parts that may differ from the configuration are looked at.
func (m merger) object(c content, prior, config cty.Value) (cty.Value, bool) {
	return rewriteObject(config, c.merged, func(name string, v cty.Value) (cty.Value, bool) {
		if nested := c.blocks[name]; nested != nil {
			return m.each(nested.Nesting, nested.content(), part(prior, name), v)
		}
		if !v.IsNull() && c.attrs[name].Nested == nil {
			return v, false
		}
		return m.attr(c.attrs[name], part(prior, name), v)
	})
}

// attr merges one attribute: the configured value if there is one, else the prior value of a computed
// attribute, which the provider had chosen.
func (m merger) attr(a *Attribute, prior, config cty.Value) (cty.Value, bool) {
	merged := prior
	switch {
	case !config.IsNull() && a.Nested != nil:
		return m.each(a.Nested.Nesting, a.Nested.content(), prior, config)
	case !config.IsNull() || !a.Computed:
		return config, false
	case prior == cty.NilVal:
		merged = m.absent(a.ValueType())
	case a.Nested != nil && a.Optional && holdsConfigured(a.Nested, prior):
		return config, false // it was set and no longer is: a change, and not a value that the provider had chosen
	}
	return merged, !merged.RawEquals(config)
}

// holdsConfigured reports whether v has an attribute that only the configuration can have set. Then the
// object was in the configuration, and is not one that the provider had made up.
func holdsConfigured(o *Object, v cty.Value) bool {
	found := false
	w := attrWalk{
		want: func(traits) bool { return !found },
		visit: func(_ cty.Path, a *Attribute, v cty.Value) {
			found = found || !a.Computed && !v.IsNull()
		},
	}
	w.each(o.Nesting, nil, v, func(w attrWalk, path cty.Path, one cty.Value) {
		w.ofObject(o, path, one)
	})
	return found
}

// each merges all objects in config with their counterparts in prior. Elements are matched as ProposedNew
// says.
func (m merger) each(nesting Nesting, c content, prior, config cty.Value) (cty.Value, bool) {
	if nesting != List && nesting != Set && nesting != Map {
		if prior != cty.NilVal && !isOpen(prior) {
			prior = cty.NilVal
		}
		return m.object(c, prior, config)
	}
	if !isOpen(config) || !config.CanIterateElements() || config.LengthInt() == 0 {
		return config, false
	}
	if nesting == Map {
		values, priors, changed := entries(config), entries(prior), false
		for key, one := range values {
			merged, other := m.object(c, orNone(priors[key]), one)
			values[key], changed = merged, changed || other
		}
		if !changed {
			return config, false
		}
		return keyedVal(config.Type(), values), true
	}
	values, priors, changed := elements(config), elements(prior), false
	if nesting == Set {
		priors = counterparts(c, values, priors)
	}
	for i, one := range values {
		before := cty.NilVal
		if i < len(priors) {
			before = orNone(priors[i])
		}
		merged, other := m.object(c, before, one)
		values[i], changed = merged, changed || other
	}
	if !changed {
		return config, false
	}
	return sequenceVal(config.Type(), values), true
}

// orNone returns NilVal for objects that have no content.
func orNone(v cty.Value) cty.Value {
	if !isOpen(v) {
		return cty.NilVal
	}
	return v
}

// counterparts returns for each element of a configured set the element of the prior set that became of it,
// or NilVal.
func counterparts(c content, configs, priors []cty.Value) []cty.Value {
	found := make([]cty.Value, len(configs))
	for i, j := range configPatterns(c).assign(configs, priors) {
		if j >= 0 {
			found[i] = priors[j]
		}
	}
	return found
}
