package schema

import (
	"github.com/zclconf/go-cty/cty"
)

// ProposedNew merges a configuration with the object of an earlier apply: the values of the configuration,
// and for computed attributes that it does not set, those of prior. It is where the provider starts from when
// it plans a change. Elements of lists and maps keep the computed values of the element with the same index
// or key; elements of sets those of the element that agrees in all other parts. What has no such counterpart,
// and everything computed in a new object, is null: which of it will be known only after apply, the provider
// says in its plan. Write-only attributes are as configured.
//
// config must be an object of the block's type, or null to delete. Marks are dropped.
func ProposedNew(b *Block, prior, config cty.Value) cty.Value {
	return merger{absent: cty.NullVal}.object(b.content(), orNone(unmarked(prior)), unmarked(config))
}

// PlannedDataObject is what is known of an object that will be read later: the configuration, with unknown
// values for all computed attributes that it does not set. Marks are dropped.
func PlannedDataObject(b *Block, config cty.Value) cty.Value {
	return merger{absent: cty.UnknownVal}.object(b.content(), cty.NilVal, unmarked(config))
}

func unmarked(v cty.Value) cty.Value {
	if v == cty.NilVal || !HoldsMarks(v) {
		return v
	}
	v, _ = v.UnmarkDeep()
	return v
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

// content is what blocks and nested attributes have in common: the parts of an object.
type content struct {
	attrs  map[string]*Attribute
	blocks map[string]*NestedBlock
}

func (b *Block) content() content  { return content{attrs: b.Attributes, blocks: b.Blocks} }
func (o *Object) content() content { return content{attrs: o.Attributes} }

// part returns an attribute of an object, or NilVal if there is no such object or attribute.
func part(object cty.Value, name string) cty.Value {
	if object == cty.NilVal || !isOpen(object) || !object.Type().IsObjectType() || !object.Type().HasAttribute(name) {
		return cty.NilVal
	}
	return object.GetAttr(name)
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
type merger struct {
	absent func(cty.Type) cty.Value // makes the value of a computed attribute that is neither configured nor in a prior object
}

// object merges the attributes and nested blocks of one object. A configuration that is null or unknown is
// returned as it is.
func (m merger) object(c content, prior, config cty.Value) cty.Value {
	if !isOpen(config) || !config.Type().IsObjectType() {
		return config
	}
	values := config.AsValueMap()
	if len(values) == 0 {
		return config
	}
	for name, v := range values {
		if attr := c.attrs[name]; attr != nil {
			values[name] = m.attr(attr, part(prior, name), v)
		} else if nested := c.blocks[name]; nested != nil {
			values[name] = m.each(nested.Nesting, nested.content(), part(prior, name), v)
		}
	}
	return cty.ObjectVal(values)
}

// attr merges one attribute: the configured value if there is one, else the prior value of a computed
// attribute, which the provider had chosen.
func (m merger) attr(a *Attribute, prior, config cty.Value) cty.Value {
	switch {
	case a.WriteOnly:
		return config
	case !config.IsNull() && a.Nested != nil:
		return m.each(a.Nested.Nesting, a.Nested.content(), prior, config)
	case !config.IsNull() || !a.Computed:
		return config
	case prior == cty.NilVal:
		return m.absent(a.ValueType())
	case a.Nested != nil && a.Optional && holdsConfigured(a.Nested, prior):
		return config // it was set and no longer is: a change, and not a value that the provider had chosen
	default:
		return prior
	}
}

// holdsConfigured reports whether v has an attribute that only the configuration can have set.
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

// each merges all objects that config holds with their counterparts in prior.
func (m merger) each(nesting Nesting, c content, prior, config cty.Value) cty.Value {
	if nesting != List && nesting != Set && nesting != Map {
		if prior != cty.NilVal && !isOpen(prior) {
			prior = cty.NilVal
		}
		return m.object(c, prior, config)
	}
	if !isOpen(config) || !config.CanIterateElements() || config.LengthInt() == 0 {
		return config
	}
	if nesting == Map {
		values, priors := entries(config), entries(prior)
		for key, one := range values {
			values[key] = m.object(c, orNone(priors[key]), one)
		}
		return keyedVal(config.Type(), values)
	}
	values, priors := elements(config), elements(prior)
	if nesting == Set {
		priors = counterparts(c, values, priors)
	}
	for i, one := range values {
		before := cty.NilVal
		if i < len(priors) {
			before = orNone(priors[i])
		}
		values[i] = m.object(c, before, one)
	}
	return sequenceVal(config.Type(), values)
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
