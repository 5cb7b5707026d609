package state

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Shown returns the attributes of o, as JSON, that everyone may see who may see the state at all: without the
// parts that are sensitive by a mark or by the schema. It returns nil if the schema was not at hand when the
// object was made, and for a legacy object. Strings and numbers that databases do not accept are replaced.
func (o *Object) Shown() []byte {
	if o.attrs == nil || o.Hidden == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(o.attrs))
	d.UseNumber()
	var attrs map[string]any
	if err := d.Decode(&attrs); err != nil {
		return nil
	}
	for _, paths := range [][]cty.Path{o.Sensitive, o.Hidden} {
		for _, p := range paths {
			if len(p) == 0 {
				return nil
			}
			name := stepName(p[0])
			if v, is := attrs[name]; is && !hide(v, p[1:]) {
				delete(attrs, name)
			}
		}
	}
	out, err := json.Marshal(acceptable(attrs))
	if err != nil {
		return nil
	}
	return out
}

// Shown returns the value of an output as JSON; nil if it is sensitive or cannot be shown.
func (o *Output) Shown() []byte {
	v, err := o.Value.Live()
	if err != nil || v == cty.NilVal || o.Sensitive || value.Contains(v, value.Sensitive) || !v.IsWhollyKnown() {
		return nil
	}
	v, _ = v.UnmarkDeep()
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err != nil {
		return nil
	}
	if b, err = json.Marshal(acceptable(decoded)); err != nil {
		return nil
	}
	return b
}

// stepName returns the name of the member that a step of a path leads to; "" if it leads to none.
func stepName(s cty.PathStep) string {
	switch s := s.(type) {
	case cty.GetAttrStep:
		return s.Name
	case cty.IndexStep:
		if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
			return s.Key.AsString()
		}
	}
	return ""
}

// hide takes the part at a path out of a decoded value, or a larger one that it is in. It returns false if
// the value as a whole has to be taken out: the path ends here, or cannot be followed for certain.
func hide(v any, p cty.Path) bool {
	if len(p) == 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		_, hasType := v["type"]
		_, hasValue := v["value"]
		name := stepName(p[0])
		child, is := v[name]
		if !is || hasType && hasValue && len(v) == 2 { // it may be the form of a value whose type the schema leaves open
			return false
		}
		if !hide(child, p[1:]) {
			delete(v, name)
		}
		return true
	case []any:
		step, is := p[0].(cty.IndexStep)
		if !is || step.Key.Type() != cty.Number || !step.Key.IsKnown() || step.Key.IsNull() {
			return false
		}
		i, _ := step.Key.AsBigFloat().Int64()
		if i < 0 || i >= int64(len(v)) {
			return false
		}
		if !hide(v[i], p[1:]) {
			v[i] = nil
		}
		return true
	}
	return false
}

// longestNumber and largestExponent bound the numbers that are shown as such.
const longestNumber, largestExponent = 300, 300

// acceptable returns a decoded value without the texts and numbers that PostgreSQL has no room for. It may
// change v.
func acceptable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if clean := withoutNul(name); clean != name {
				delete(v, name)
				name = clean
			}
			v[name] = acceptable(child)
		}
	case []any:
		for i, child := range v {
			v[i] = acceptable(child)
		}
	case string:
		return withoutNul(v)
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		n, err := strconv.Atoi(exponent)
		if len(v) > longestNumber || exponent != "" && (err != nil || n > largestExponent || n < -largestExponent) {
			return v.String()
		}
	}
	return v
}

func withoutNul(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }
