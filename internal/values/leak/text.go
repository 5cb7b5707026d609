package leak

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// text is a text or number in a value.
type text struct {
	text                 string
	key                  bool // of a map, or the name of an attribute that no schema has
	name                 bool // of an attribute that a schema has
	ephemeral, sensitive bool // marked so, itself or something that it is in
}

// isValue reports whether a text may be a secret by where it stands: names in a schema are not, and keys are
// if they are not words.
func (t text) isValue() bool { return !t.name && (!t.key || !isWord(t.text)) }

// Texts calls f for every known text and number in v, and every key of a map and name of an attribute, until
// f returns false. It returns false if f did.
func Texts(v cty.Value, f func(string) bool) bool {
	return each(v, cty.DynamicPseudoType, func(t text) bool { return f(t.text) })
}

// each calls f for every known text and number in v, map keys and names of attributes included, until f
// returns false. It returns false if f did. ty is the type that v was declared with: it tells which names are
// part of the value.
func each(v cty.Value, ty cty.Type, f func(text) bool) bool {
	return eachIn(v, ty, text{}, f)
}

// eachIn calls f for each text and number in a value, with the marks of everything around it. It ends, and
// returns false, as soon as f does.
func eachIn(v cty.Value, ty cty.Type, in text, f func(text) bool) bool {
	if v.IsMarked() {
		in.ephemeral = in.ephemeral || value.Has(v, value.Ephemeral)
		in.sensitive = in.sensitive || value.Has(v, value.Sensitive)
		v, _ = v.Unmark()
	}
	if !v.IsKnown() || v.IsNull() {
		return true
	}
	switch has := v.Type(); {
	case has == cty.String:
		in.text = v.AsString()
		return f(in)
	case has == cty.Number:
		in.text = Number(v)
		return f(in)
	case !v.CanIterateElements():
		return true
	default:
		return eachElement(v, ty, in, f)
	}
}

// eachElement is each for the elements, keys and names of a collection or structure.
func eachElement(v cty.Value, ty cty.Type, in text, f func(text) bool) bool {
	keyed := v.Type().IsMapType() || v.Type().IsObjectType()
	declared := ty.IsObjectType()
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if keyed {
			name := in
			name.text, name.key, name.name = k.AsString(), !declared, declared
			if !f(name) {
				return false
			}
		}
		if !eachIn(e, within(ty, k), in, f) {
			return false
		}
	}
	return true
}

// within returns the declared type of an element, by its key. It is dynamic if ty does not tell.
func within(ty cty.Type, key cty.Value) cty.Type {
	switch {
	case ty.IsCollectionType():
		return ty.ElementType()
	case ty.IsObjectType() && key.Type() == cty.String && ty.HasAttribute(key.AsString()):
		return ty.AttributeType(key.AsString())
	case ty.IsTupleType() && key.Type() == cty.Number:
		if i, _ := key.AsBigFloat().Int64(); i < int64(ty.Length()) {
			return ty.TupleElementType(int(i))
		}
	}
	return cty.DynamicPseudoType
}

// maxExponent bounds the numbers that are written out, by their binary exponent.
const maxExponent = 512

// Number returns a known number as documents show it; "" if it has too few digits to be found, or far too
// many.
func Number(v cty.Value) string {
	n := v.AsBigFloat()
	if exp := n.MantExp(nil); n.IsInf() || exp < 20 && n.IsInt() || exp > maxExponent || exp < -maxExponent {
		return ""
	}
	return n.Text('f', -1)
}

// isSecret reports whether a text is long and varied enough to be recognized.
func isSecret(s string) bool {
	if len(s) < MinLength {
		return false
	}
	var seen [256]bool
	kinds := 0
	for i := range len(s) {
		if !seen[s[i]] {
			if seen[s[i]] = true; kinds+1 >= minKinds {
				return true
			}
			kinds++
		}
	}
	return false
}

// isWord reports whether a text consists of letters, hyphens, underscores, spaces and dots only, as names do.
func isWord(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .") == ""
}
