package leak

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/value"
)

// text is a text or number in a value.
type text struct {
	text                 string
	path                 cty.Path // of the value, or of the map whose key it is; valid during the call
	key                  bool     // of a map
	name                 bool     // of an attribute of an object
	ephemeral, sensitive bool     // marked so, itself or something that it is in
}

// isValue reports whether a text may be a secret by where it stands: the names of attributes are not, and
// keys of maps are if they are not words.
func (t text) isValue() bool { return !t.name && (!t.key || !isWord(t.text)) }

// Texts calls f for every known text and number in v, and every key of a map and name of an attribute, until
// f returns false. It returns false if f did.
func Texts(v cty.Value, f func(string) bool) bool {
	return each(v, nil, func(t text) bool { return f(t.text) })
}

// each calls f for every known text and number in v, map keys included, until f returns false.
func each(v cty.Value, path cty.Path, f func(text) bool) bool {
	return eachIn(v, path, text{}, f)
}

// eachIn calls f for each text and number in a value, with its path and the marks of everything around it.
// It ends, and returns false, as soon as f does.
func eachIn(v cty.Value, path cty.Path, in text, f func(text) bool) bool {
	if v.IsMarked() {
		in.ephemeral = in.ephemeral || value.Has(v, value.Ephemeral)
		in.sensitive = in.sensitive || value.Has(v, value.Sensitive)
		v, _ = v.Unmark()
	}
	if v == cty.NilVal || !v.IsKnown() || v.IsNull() {
		return true
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		in.text, in.path = v.AsString(), path
		return f(in)
	case ty == cty.Number:
		in.text, in.path = Number(v), path
		return f(in)
	case !v.CanIterateElements():
		return true
	default:
		return eachElement(v, path, in, f)
	}
}

// eachElement is each for the elements and keys of a collection or structure. The names of an object's
// attributes come too, since a provider chooses them where the type is dynamic.
func eachElement(v cty.Value, path cty.Path, in text, f func(text) bool) bool {
	keyed := v.Type().IsMapType() || v.Type().IsObjectType()
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		step := cty.PathStep(cty.IndexStep{Key: k})
		if keyed {
			name := in
			name.text, name.path, name.key, name.name = k.AsString(), path, v.Type().IsMapType(), v.Type().IsObjectType()
			if !f(name) {
				return false
			}
			if v.Type().IsObjectType() {
				step = cty.GetAttrStep{Name: k.AsString()}
			}
		}
		if !eachIn(e, append(path, step), in, f) {
			return false
		}
	}
	return true
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
