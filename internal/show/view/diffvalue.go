package view

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aymanbagabas/go-udiff/lcs"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const (
	// Texts that stand for a value. People know these words from other engines, and scripts match them.
	sensitiveText = "(sensitive value)"
	unknownText   = "(known after apply)"
	// sameSensitive is shown as sensitiveText if only the sensitivity changes.
	sameSensitive = "(sensitive value, unchanged)"
)

// differ builds the trees of nodes for pairs of values, before and after. A side that doesn't exist is
// cty.NilVal, which differs from null. This file compares values without a schema; diffblock.go compares with
// one, and diffstring.go compares texts and the JSON documents in them.
type differ struct {
	show  bool // sensitive values in clear
	found bool // the changes were made outside and detected: nothing is sent to the provider
}

// flavour selects the notation of containers. Objects typed by a schema omit null attributes and quote map
// keys; free ones (outputs, dynamic attributes, JSON documents) are shown in full.
type flavour uint8

const (
	typed flavour = iota
	free
)

// flavourOf returns the notation for values of the type that a schema declares.
func flavourOf(ty cty.Type) flavour {
	if ty == cty.DynamicPseudoType {
		return free
	}
	return typed
}

// value returns the node of a value; at least one side must exist.
func (d differ) value(b, a cty.Value, f flavour, why *paths) *node {
	if status := why.status(); status != "" {
		return withheldNode(status, why, false)
	}
	b, bs := value.Unmark(b)
	a, as := value.Unmark(a)
	var n *node
	if (bs || as) && !d.show {
		n = d.secret(b, a, bs, as)
	} else {
		n = d.public(b, a, f, why)
		if exists(b) && exists(a) && bs != as {
			n.effect, n.secret = changed, sensitivityChange(as)
		}
	}
	n.forces = why.here()
	return n
}

// secret returns the node of a value of which at least one side is hidden. It shows whether the value
// changes and whether its sensitivity does, and nothing of the content; bs and as say which sides are
// sensitive.
func (d differ) secret(b, a cty.Value, bs, as bool) *node {
	n := &node{effect: sided(exists(b), exists(a)), body: hidden{sensitiveText}}
	if n.effect != same {
		return n
	}
	equal := equalDeep(b, a)
	if equal && bs != as {
		n.body = hidden{sameSensitive}
	}
	if !equal || bs != as {
		n.effect = changed
	}
	if bs != as {
		n.secret = sensitivityChange(as)
	}
	return n
}

// sensitivityChange returns the change of a value that is sensitive on one side only: after the change, if
// after is set.
func sensitivityChange(after bool) sensitivity {
	if after {
		return becomesSensitive
	}
	return becomesPublic
}

// exists reports whether a value is there at all. It may be null or unknown.
func exists(v cty.Value) bool { return v != cty.NilVal }

// orAbsent returns cty.NilVal for null, because a null attribute is one that is not set.
func orAbsent(v cty.Value) cty.Value {
	if v == cty.NilVal || v.IsNull() {
		return cty.NilVal
	}
	return v
}

// equalDeep reports whether two values are equal, ignoring marks.
func equalDeep(b, a cty.Value) bool {
	if !exists(b) || !exists(a) {
		return exists(b) == exists(a)
	}
	b, _ = b.UnmarkDeep()
	a, _ = a.UnmarkDeep()
	return b.RawEquals(a)
}

// public returns the node of a value that may be shown. Values of one kind are compared in depth; between
// kinds, and against an unknown value, the old value and the new one are shown as a pair.
func (d differ) public(b, a cty.Value, f flavour, why *paths) *node {
	e := sided(exists(b), exists(a))
	if exists(a) && !a.IsKnown() {
		if !exists(b) {
			return &node{effect: added, body: leaf{after: unknownText}}
		}
		if !b.IsKnown() { // in the configuration of an action
			return &node{effect: same, body: leaf{before: unknownText, after: unknownText}}
		}
		before := d.value(b, cty.NilVal, f, nil)
		return &node{effect: changed, body: pair{before, &node{effect: added, body: leaf{after: unknownText}}}}
	}
	kb, ka := kindOf(b), kindOf(a)
	if e == same && kb != ka {
		return &node{effect: changed, body: pair{d.value(b, cty.NilVal, f, nil), d.value(cty.NilVal, a, f, nil)}}
	}
	if ka == kindNone {
		ka = kb
	}
	switch ka {
	case kindSequence:
		return d.sequence(b, a, f, why, e)
	case kindSet:
		return d.set(b, a, f, e)
	case kindMapping:
		return d.mapping(b, a, f, why, e)
	case kindString:
		return d.text(b, a, e)
	default:
		return scalar(b, a, e)
	}
}

// kind groups types by how they are written and compared.
type kind uint8

const (
	kindNone kind = iota
	kindScalar
	kindString
	kindSequence
	kindSet
	kindMapping
)

// kindOf classifies a value. Null and unknown values are scalars: they are written on one line whatever
// their type.
func kindOf(v cty.Value) kind {
	if v == cty.NilVal {
		return kindNone
	}
	ty := v.Type()
	switch {
	case v.IsNull() || !v.IsKnown():
		return kindScalar
	case ty == cty.String:
		return kindString
	case ty.IsListType() || ty.IsTupleType():
		return kindSequence
	case ty.IsSetType():
		return kindSet
	case ty.IsMapType() || ty.IsObjectType():
		return kindMapping
	default:
		return kindScalar
	}
}

// scalar returns the node of a value that fits on one line. Two nulls are equal whatever their types.
func scalar(b, a cty.Value, e effect) *node {
	n := &node{effect: e}
	var l leaf
	if exists(b) {
		l.before = scalarText(b)
	}
	if exists(a) {
		l.after = scalarText(a)
	}
	if e == same && !(b.IsNull() && a.IsNull()) && !b.RawEquals(a) {
		n.effect = changed
	}
	n.body = l
	return n
}

// scalarText returns the text of a value that fits on one line.
func scalarText(v cty.Value) string {
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return unknownText
	case v.IsNull():
		return "null"
	case ty == cty.String:
		return strconv.Quote(v.AsString())
	case ty == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return strconv.FormatBool(v.True())
	default:
		return "(" + ty.FriendlyName() + ")"
	}
}

// elements returns the elements of a list, set or tuple; nil if there is none, or none is known. The value
// must have no marks of its own.
func elements(v cty.Value) []cty.Value {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return nil
	}
	return v.AsValueSlice()
}

// sequence matches the elements of lists by their longest common subsequence. Between matches, objects at
// the same position are compared with each other, so that a changed attribute doesn't replace the whole
// object.
func (d differ) sequence(b, a cty.Value, f flavour, why *paths, e effect) *node {
	eb, ea := elements(b), elements(a)
	body := sequence{context: true}
	add := func(b, a cty.Value, index int) {
		body.items = append(body.items, d.value(b, a, f, why.index(index)))
	}
	i, j := 0, 0
	for _, gap := range matchElements(eb, ea) {
		for i < gap.Start {
			add(eb[i], ea[j], j)
			i, j = i+1, j+1
		}
		for i < gap.End || j < gap.ReplEnd {
			moreB, moreA := i < gap.End, j < gap.ReplEnd
			objB, objA := moreB && isObject(eb[i]), moreA && isObject(ea[j])
			switch {
			case objB && objA:
				add(eb[i], ea[j], j)
				i, j = i+1, j+1
			case moreB && !(objB && moreA):
				add(eb[i], cty.NilVal, i)
				i++
			default:
				add(cty.NilVal, ea[j], j)
				j++
			}
		}
	}
	for i < len(eb) && j < len(ea) {
		add(eb[i], ea[j], j)
		i, j = i+1, j+1
	}
	return finish(&body, e)
}

// finish returns the node of a sequence. Its effect is e unless it exists on both sides and an element of it
// changes.
func finish(s *sequence, e effect) *node {
	if e == same && slices.ContainsFunc(s.items, func(n *node) bool { return n.effect != same }) {
		e = changed
	}
	return &node{effect: e, body: *s}
}

// matchElements returns the differences between two lists. The search trades the shortest answer for a cost
// that stays proportional to the length.
func matchElements(b, a []cty.Value) []lcs.Diff {
	if len(b) == 0 && len(a) == 0 {
		return nil
	}
	if len(b) == 0 || len(a) == 0 {
		return []lcs.Diff{{End: len(b), ReplEnd: len(a)}}
	}
	return lcs.DiffLines(fingerprints(b), fingerprints(a))
}

// isObject reports whether an element is an object whose attributes can be compared with another object's.
func isObject(v cty.Value) bool {
	v, _ = v.Unmark()
	return v.Type().IsObjectType() && v.IsKnown() && !v.IsNull()
}

// set shows elements as added or removed: without an identity, an element cannot change.
func (d differ) set(b, a cty.Value, f flavour, e effect) *node {
	body := sequence{}
	for _, m := range matchSet(elements(b), elements(a)) {
		body.items = append(body.items, d.value(m.before, m.after, f, nil))
	}
	return finish(&body, e)
}

// mapping compares maps and objects by key. Attributes of typed objects that are null on both sides are
// left out.
func (d differ) mapping(b, a cty.Value, f flavour, why *paths, e effect) *node {
	vb, va := entries(b), entries(a)
	isMap := exists(a) && a.Type().IsMapType() || !exists(a) && b.Type().IsMapType()
	body := mapping{noun: "attribute", align: true}
	if isMap && f == typed {
		body.noun, body.nulls = "element", e == same
	}
	for _, k := range unionKeys(vb, va) {
		eb, ea := vb[k], va[k]
		// In an object with a schema, null is an attribute that is not set; elsewhere it is a value.
		if f == typed && !isMap && why.key(k).status() == "" {
			eb, ea = orAbsent(eb), orAbsent(ea)
			if !exists(eb) && !exists(ea) {
				continue
			}
		}
		body.items = append(body.items, named{name: keyText(k, isMap && f == typed), node: d.value(eb, ea, f, why.key(k))})
	}
	if e == same {
		e = summarise(body.items)
	}
	return &node{effect: e, body: body}
}

// keyText returns a key as it is written before the equals sign.
func keyText(k string, quoted bool) string {
	if quoted || !hclsyntax.ValidIdentifier(k) {
		return strconv.Quote(k)
	}
	return k
}

// entries returns the items of a map or object by key, as elements does for lists.
func entries(v cty.Value) map[string]cty.Value {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return nil
	}
	if v.Type().IsObjectType() {
		return schema.AttributesOf(v)
	}
	return v.AsValueMap()
}

// unionKeys returns the keys of either map, sorted.
func unionKeys(b, a map[string]cty.Value) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(b)), maps.Keys(a))
	slices.Sort(keys)
	return slices.Compact(keys)
}
