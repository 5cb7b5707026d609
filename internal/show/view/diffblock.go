package view

import (
	"maps"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// keepAttr reports whether an attribute is shown even if it does not change, because people recognize
// objects by it.
func keepAttr(name string) bool { return name == "id" || name == "name" || name == "tags" }

// block returns the node of a block's content. With a nil schema, all attributes are taken from the values.
func (d differ) block(s *schema.Block, b, a cty.Value, why *paths) *node {
	vb, va := entries(b), entries(a)
	e := sided(exists(b), exists(a))
	var body nested
	if s == nil {
		body.attrs = d.bare(vb, va, why)
	} else {
		body.attrs = d.attributes(s.Attributes, vb, va, why, true)
		body.blocks = d.blocks(s.Blocks, vb, va, why)
	}
	if e == same {
		e = body.effect()
	}
	d.showWriteOnly(body.attrs, e)
	return &node{effect: e, body: body, forces: why.here()}
}

// effect returns the effect on the block's attributes, or changed if any nested block differs.
func (b nested) effect() effect {
	if e := summarise(b.attrs); e != same {
		return e
	}
	for _, g := range b.blocks {
		for _, it := range g.items {
			if it.node.effect != same {
				return changed
			}
		}
	}
	return same
}

// usesExtensions reports whether an attribute that other engines don't have is set before or after. If none
// is, plans look as they do there. Write-only attributes are always null here and don't count.
func usesExtensions(attrs map[string]*schema.Attribute, vb, va map[string]cty.Value) bool {
	for name, attr := range attrs {
		for _, v := range []cty.Value{vb[name], va[name]} {
			if attr.Extension && v != cty.NilVal && (!v.IsKnown() || !v.IsNull()) {
				return true
			}
		}
	}
	return false
}

// showWriteOnly gives write-only attributes the effect of their object: it is unknown whether such a value
// changes, but it is sent whenever the object is. A change that was made outside sends nothing, so the
// attributes stay as they are.
func (d differ) showWriteOnly(attrs []named, e effect) {
	if d.found && e == changed {
		return
	}
	for _, it := range attrs {
		if _, ok := it.node.body.(writeOnlyValue); ok {
			it.node.effect = e
		}
	}
}

// bare returns the nodes of the attributes of an object without a schema, sorted by name. Null ones are left
// out, since nothing says which of them could be set.
func (d differ) bare(vb, va map[string]cty.Value, why *paths) []named {
	var items []named
	for _, name := range unionKeys(vb, va) {
		b, a := orAbsent(vb[name]), orAbsent(va[name])
		if exists(b) || exists(a) || why.key(name).status() != "" {
			items = append(items, d.keepable(name, d.value(b, a, typed, why.key(name))))
		}
	}
	return items
}

// keepable returns a named node that is shown unchanged if people recognize the object by it. Of such a map,
// as tags are, all elements are.
func (d differ) keepable(name string, n *node) named {
	it := named{name: name, node: n, keep: keepAttr(name)}
	if m, ok := n.body.(mapping); ok && it.keep {
		for i := range m.items {
			m.items[i].keep = true
		}
	}
	return it
}

// attributes returns the nodes of the attributes in the schema, sorted by name; those that are null on both
// sides are left out. Write-only attributes have no value here: they are listed unchanged, and showWriteOnly
// sets their effect once the effect on the whole object is known. inBlock keeps identifying attributes
// visible.
func (d differ) attributes(attrs map[string]*schema.Attribute, vb, va map[string]cty.Value, why *paths, inBlock bool) []named {
	var items []named
	extended := usesExtensions(attrs, vb, va)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		attr := attrs[name]
		path := why.key(name)
		if attr.Extension && !extended {
			continue
		}
		if attr.WriteOnly {
			n := &node{body: writeOnlyValue{}, forces: path.here()}
			if n.forces {
				n.effect = changed // so that the enclosing node is shown
			}
			items = append(items, named{name: name, node: n})
			continue
		}
		if status := path.status(); status != "" {
			items = append(items, named{name: name, node: withheldNode(status, path, len(vb) == 0)})
			continue
		}
		b, a := orAbsent(vb[name]), orAbsent(va[name])
		if !exists(b) && !exists(a) {
			continue
		}
		n := d.attribute(attr, b, a, path)
		if inBlock {
			items = append(items, d.keepable(name, n))
		} else {
			items = append(items, named{name: name, node: n})
		}
	}
	return items
}

// attribute returns the node of one attribute. Nested attributes are compared by their schema, unless one
// side is unknown or sensitive and has to be shown as a whole.
func (d differ) attribute(attr *schema.Attribute, b, a cty.Value, why *paths) *node {
	if attr.Sensitive && !d.show {
		b, _ = value.Unmark(b)
		a, _ = value.Unmark(a)
		n := d.secret(b, a, true, true)
		n.forces = why.here()
		return n
	}
	if attr.Nested == nil || isOpaque(b) || isOpaque(a) {
		return d.value(b, a, flavourOf(attr.Type), why)
	}
	b, _ = value.Unmark(b)
	a, _ = value.Unmark(a)
	n := d.nestedAttr(attr.Nested, b, a, why)
	n.forces = why.here()
	return n
}

// isOpaque reports whether a value must be shown as a whole: it is unknown or sensitive.
func isOpaque(v cty.Value) bool {
	raw, secret := value.Unmark(v)
	return secret || exists(raw) && !raw.IsKnown()
}

// nestedAttr compares nested attributes by how the schema nests them: maps by key, lists by index, sets by
// equality of whole elements.
func (d differ) nestedAttr(o *schema.Object, b, a cty.Value, why *paths) *node {
	e := sided(exists(b), exists(a))
	switch o.Nesting {
	case schema.Map:
		body := mapping{noun: "element", commas: true}
		vb, va := entries(b), entries(a)
		for _, k := range unionKeys(vb, va) {
			body.items = append(body.items, named{name: strconv.Quote(k), node: d.nestedObject(o, vb[k], va[k], why.key(k))})
		}
		if e == same {
			e = summarise(body.items)
		}
		return &node{effect: e, body: body}
	case schema.List:
		body := sequence{}
		eb, ea := elements(b), elements(a)
		for i := range max(len(eb), len(ea)) {
			body.items = append(body.items, d.nestedObject(o, at(eb, i), at(ea, i), why.index(i)))
		}
		return finish(&body, e)
	case schema.Set:
		body := sequence{}
		for _, p := range matchSet(elements(b), elements(a)) {
			body.items = append(body.items, d.nestedObject(o, p.before, p.after, nil))
		}
		return finish(&body, e)
	default:
		return d.nestedObject(o, b, a, why)
	}
}

// at returns the element at an index, cty.NilVal behind the end. Lists whose elements follow a schema are
// compared index by index, since the configuration refers to them by index.
func at(values []cty.Value, i int) cty.Value {
	if i < len(values) {
		return values[i]
	}
	return cty.NilVal
}

// nestedObject compares one object of a nested attribute; one that is null, unknown or sensitive on either
// side is compared as a plain value.
func (d differ) nestedObject(o *schema.Object, b, a cty.Value, why *paths) *node {
	if isOpaque(b) || isOpaque(a) || isNull(b) || isNull(a) {
		return d.value(b, a, typed, why)
	}
	b, _ = value.Unmark(b)
	a, _ = value.Unmark(a)
	e := sided(exists(b), exists(a))
	body := nested{attrs: d.attributes(o.Attributes, entries(b), entries(a), why, false)}
	if e == same {
		e = summarise(body.attrs)
	}
	d.showWriteOnly(body.attrs, e)
	return &node{effect: e, body: body, forces: why.here()}
}

// isNull reports whether a value exists and is null. Marks make no difference.
func isNull(v cty.Value) bool {
	raw, _ := value.Unmark(v)
	return exists(raw) && raw.IsNull()
}

// blocks returns the nested blocks by their types, sorted by name. Types without a block on either side are
// left out.
func (d differ) blocks(types map[string]*schema.NestedBlock, vb, va map[string]cty.Value, why *paths) []blockGroup {
	var groups []blockGroup
	for _, name := range slices.Sorted(maps.Keys(types)) {
		b, a := orAbsent(vb[name]), orAbsent(va[name])
		if items := d.blockItems(types[name], b, a, why.key(name)); len(items) > 0 {
			groups = append(groups, blockGroup{name, items})
		}
	}
	return groups
}

// blockItems returns the items for the blocks of one type, matched by how the schema nests them. A
// collection that is unknown on one side is one item without a schema. Sensitivity of the collection hides
// each block in it.
func (d differ) blockItems(nb *schema.NestedBlock, b, a cty.Value, why *paths) []blockItem {
	rawB, secretB := value.Unmark(b)
	rawA, secretA := value.Unmark(a)
	if exists(rawB) && !rawB.IsKnown() || exists(rawA) && !rawA.IsKnown() {
		if !exists(b) && !exists(a) {
			return nil
		}
		return []blockItem{{node: d.value(b, a, typed, why)}}
	}
	one := func(label string, b, a cty.Value, why *paths) blockItem {
		return blockItem{label, d.oneBlock(&nb.Block, b, a, (secretB || secretA) && !d.show, why)}
	}
	var items []blockItem
	switch nb.Nesting {
	case schema.List:
		eb, ea := elements(rawB), elements(rawA)
		for i := range max(len(eb), len(ea)) {
			items = append(items, one("", at(eb, i), at(ea, i), why.index(i)))
		}
	case schema.Set:
		for _, m := range matchSet(elements(rawB), elements(rawA)) {
			it := one("", m.before, m.after, nil)
			it.node.forces = why.here()
			items = append(items, it)
		}
	case schema.Map:
		mb, ma := entries(rawB), entries(rawA)
		for _, k := range unionKeys(mb, ma) {
			items = append(items, one(strconv.Quote(k), mb[k], ma[k], why.key(k)))
		}
	default:
		if exists(rawB) || exists(rawA) {
			items = append(items, one("", rawB, rawA, why))
		}
	}
	for _, it := range items {
		it.node.forces = it.node.forces || why.here()
	}
	return items
}

// oneBlock returns the node of one block. secret is set if the whole collection of blocks is sensitive.
func (d differ) oneBlock(s *schema.Block, b, a cty.Value, secret bool, why *paths) *node {
	b, sb := value.Unmark(orAbsent(b))
	a, sa := value.Unmark(orAbsent(a))
	if secret || (sb || sa) && !d.show {
		n := &node{effect: sided(exists(b), exists(a)), body: secretBlock{}}
		if n.effect == same && !equalDeep(b, a) {
			n.effect = changed
		}
		return n
	}
	if exists(a) && !a.IsKnown() || exists(b) && !b.IsKnown() {
		return d.value(b, a, typed, why)
	}
	return d.block(s, b, a, why)
}
