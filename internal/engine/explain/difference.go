package explain

import (
	"maps"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// maxDifferences bounds the parts of an object that an answer goes into.
const maxDifferences = 20

// maxValue is the length up to which a value is in an answer, in bytes.
const maxValue = 60

// difference is a part of an object that a change changes. The texts are empty if the values are secret, long
// or no single values.
type difference struct {
	path          cty.Path
	before, after string
	secret        bool
	unknown       bool                // it is known only after apply
	withheld      plan.WithheldStatus // "" if the value is in the plan
}

// withheldTexts say how a value that is kept out of the plan differs, behind the name of the attribute.
var withheldTexts = map[plan.WithheldStatus]string{
	plan.WithheldNew:          "gets a value (it is kept out of the state)",
	plan.WithheldChanged:      "changes (its value is kept out of the state)",
	plan.WithheldUnknown:      "changes to a value that is known after apply (it is kept out of the state)",
	plan.WithheldIncomparable: "has a value that cannot be compared with the one of before: the state has no fingerprint of it",
	plan.WithheldRemoved:      "has no value any more",
	plan.WithheldStored:       "has the same value, which the apply takes out of the state",
	plan.WithheldReleased:     "has the same value, which the apply puts into the state",
	plan.WithheldAssumed:      "has a value that counts as the one of before because of -assume-unchanged",
	plan.WithheldVersion:      "has the same value with another version",
	plan.WithheldImported:     "has the value that the imported object has (it is kept out of the state)",
}

// text returns a sentence about a difference. verb says how it came about.
func (d difference) text(verb string) string {
	text := schema.PathString(d.path) + " " + verb
	switch {
	case d.withheld != "":
		return schema.PathString(d.path) + " " + withheldTexts[d.withheld]
	case d.secret:
		return text + " (sensitive)"
	case d.unknown && d.before != "":
		return text + " from " + d.before + " to a value that is known after apply"
	case d.unknown:
		return text + " to a value that is known after apply"
	case d.before != "" && d.after != "":
		return text + " from " + d.before + " to " + d.after
	}
	return text
}

// differences returns the parts of an object that differ between the sides of a change: those within the
// subject, if it is about an attribute. A change whose values cannot be decoded has none.
func (e *Explainer) differences(c *plan.Change, s subject) []difference {
	before, after, err := c.Sides()
	if err != nil || before == cty.NilVal || after == cty.NilVal {
		return nil
	}
	b := e.block(c.Addr)
	if b == nil {
		return nil // its sensitive parts are not known
	}
	w := &comparison{only: s.path}
	w.compare(markSensitive(b, before), markSensitive(b, after), nil, false)
	for _, withheld := range c.Withheld {
		if withheldTexts[withheld.Status] != "" && overlap(withheld.Path, s.path) {
			w.found = append(w.found, difference{path: withheld.Path, withheld: withheld.Status})
		}
	}
	return w.found
}

// markSensitive marks the attributes that are sensitive by the schema.
func markSensitive(b *blocks.Resource, v cty.Value) cty.Value {
	plain, _ := v.UnmarkDeep()
	if plain.IsNull() || !b.Schema.Block.HasSensitive() {
		return v
	}
	return value.MarkPaths(v, b.Schema.Block.SensitivePaths(plain), value.Sensitive)
}

// comparison finds the smallest parts in which two values differ.
type comparison struct {
	only  cty.Path
	found []difference
}

// compare adds the differences between two values at path. It descends as far as both have the same
// structure, and takes the rest as one difference: an index says nothing once elements have moved. A
// secret is not descended into, because its keys are secret too.
func (w *comparison) compare(b, a cty.Value, path cty.Path, secret bool) {
	if len(w.found) == maxDifferences || !overlap(path, w.only) {
		return
	}
	b, bs := value.Unmark(b)
	a, as := value.Unmark(a)
	secret = secret || bs || as
	if !a.IsKnown() {
		w.found = append(w.found, difference{path: path, before: brief(b, secret), secret: secret, unknown: true})
		return
	}
	if !secret && b.IsKnown() && !b.IsNull() && !a.IsNull() { // the keys of a secret are secret
		if b.Type().IsObjectType() && a.Type().IsObjectType() {
			for _, name := range slices.Sorted(maps.Keys(a.Type().AttributeTypes())) {
				if b.Type().HasAttribute(name) {
					w.compare(b.GetAttr(name), a.GetAttr(name), append(path[:len(path):len(path)], cty.GetAttrStep{Name: name}), secret)
				}
			}
			return
		}
		if sameElements(b, a) {
			for it := a.ElementIterator(); it.Next(); {
				k, v := it.Element()
				w.compare(b.Index(k), v, append(path[:len(path):len(path)], cty.IndexStep{Key: k}), secret)
			}
			return
		}
	}
	plainB, _ := b.UnmarkDeep()
	plainA, _ := a.UnmarkDeep()
	if !plainA.RawEquals(plainB) {
		secret = secret || value.Contains(b, value.Sensitive) || value.Contains(a, value.Sensitive)
		w.found = append(w.found, difference{path: path, before: brief(b, secret), after: brief(a, secret), secret: secret, unknown: !plainA.IsWhollyKnown()})
	}
}

// sameElements reports whether two lists or maps have the same keys.
func sameElements(b, a cty.Value) bool {
	ty := a.Type()
	if !(ty.IsListType() || ty.IsMapType() || ty.IsTupleType()) || !ty.Equals(b.Type()) || a.LengthInt() != b.LengthInt() {
		return false
	}
	for it := a.ElementIterator(); it.Next(); {
		if k, _ := it.Element(); !b.HasIndex(k).True() {
			return false
		}
	}
	return true
}

// overlap reports whether one path leads into or to the other.
func overlap(p, q cty.Path) bool {
	n := min(len(p), len(q))
	return p[:n].Equals(q[:n])
}

// brief returns a short value as it would be written, "" for any other and for a secret.
func brief(v cty.Value, secret bool) string {
	if secret || v == cty.NilVal || v.IsMarked() || !v.IsKnown() {
		return ""
	}
	text := ""
	switch {
	case v.IsNull():
		return "null"
	case v.Type() == cty.String:
		text = strconv.Quote(v.AsString())
	case v.Type() == cty.Number:
		text = v.AsBigFloat().Text('f', -1)
	case v.Type() == cty.Bool:
		text = strconv.FormatBool(v.True())
	}
	if len(text) > maxValue {
		return ""
	}
	return text
}

// whyChanged explains an update or replacement by the attributes that change.
func (e *Explainer) whyChanged(c *plan.Change, b *blocks.Resource, s subject) []Point {
	if b == nil {
		return nil
	}
	planned := cty.NilVal
	if _, after, err := c.Sides(); err == nil && after != cty.NilVal {
		planned, _ = after.UnmarkDeep()
	}
	var out []Point
	forcing := 0
	for _, d := range e.differences(c, s) {
		forces := false
		for _, p := range c.RequiredReplace {
			forces = forces || overlap(p, d.path)
		}
		if d.unknown && !forces && e.computed(b, d.path) {
			continue // follows from the others
		}
		p := Point{Kind: "changes", Attribute: schema.PathString(d.path), Text: d.text("changes")}
		if forces {
			p.Kind, p.Text = string(plan.ReplaceCannotUpdate), p.Text+", which cannot be done in place"
			forcing++
		}
		p.Place, p.Chain = e.origin(b, planned, d.path)
		if forces { // differences that force a replacement come first
			out = append(out[:forcing-1], append([]Point{p}, out[forcing-1:]...)...)
			continue
		}
		out = append(out, p)
	}
	if len(out) == 0 && b.Schema.Block.InWriteOnly(s.path) {
		return []Point{{Kind: "hidden", Attribute: schema.PathString(s.path), Text: "no plan tells whether a write-only argument changes: it is sent whenever the object is created or updated"}}
	}
	if unknown := e.unknownPart(c, b, s); len(out) == 0 && len(s.path) > 0 && len(unknown) > 0 {
		return unknown
	}
	if len(out) == 0 && len(s.path) > 0 {
		return []Point{{Kind: "unchanged", Text: schema.PathString(s.path) + " does not change"}}
	}
	if len(out) == 0 && c.Reason == plan.NoReason {
		return []Point{{Kind: "hidden", Text: "nothing that the plan stores changes: the provider is sent write-only arguments, or decides by data of its own"}}
	}
	return out
}

// computed reports whether the configuration does not give an attribute, so that the provider decides it.
func (e *Explainer) computed(b *blocks.Resource, path cty.Path) bool {
	attr := b.Schema.Block.AttributeAt(path)
	return attr != nil && attr.Computed && len(blocks.Places(b.Config.Body, path, cty.NilVal)) == 0
}

// unknownPart explains why an attribute of an object that is created is not known yet.
func (e *Explainer) unknownPart(c *plan.Change, b *blocks.Resource, s subject) []Point {
	_, after, err := c.Sides()
	if b == nil || err != nil || after == cty.NilVal {
		return nil
	}
	plain, _ := after.UnmarkDeep()
	v, err := s.path.Apply(plain)
	if err != nil || v.IsKnown() {
		return nil
	}
	name := schema.PathString(s.path)
	if e.computed(b, s.path) {
		return []Point{{Kind: "computed", Attribute: name, Text: "the provider decides " + name + " during apply"}}
	}
	p := Point{Kind: "unknown", Attribute: name, Text: name + " is known only after what it comes from was applied"}
	p.Place, p.Chain = e.origin(b, plain, s.path)
	return []Point{p}
}

// origin returns the place of the expression that gives a part of an object, and the way of its value.
// planned is the object without marks.
func (e *Explainer) origin(b *blocks.Resource, planned cty.Value, path cty.Path) (*Place, []Hop) {
	places := blocks.Places(b.Config.Body, path, planned)
	if len(places) == 0 {
		return nil, nil
	}
	rng := places[0].Expr.Range()
	var hops []Hop
	blocks.Links(b, func(l blocks.Link) bool {
		if l.Purpose != blocks.ForArgument || l.Ref == nil || !rng.Overlaps(l.Range) {
			return true
		}
		hops = chain{}.follow(l)[0].hops
		return false
	})
	return placeOf(rng), hops
}

// named reports the name of the attribute that a path begins with, "" if it begins with something else.
func named(p cty.Path) string {
	if len(p) == 0 {
		return ""
	}
	step, _ := p[0].(cty.GetAttrStep)
	return step.Name
}
