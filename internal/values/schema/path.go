package schema

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// PathString renders a path the way it would be written in the language, such as network[0].tags["name"].
// Keys that are not plain strings or numbers are shown as [...]. A path that leads into a set has an element
// for its key, which could be secret: render it with PathIn.
func PathString(p cty.Path) string { return renderPath(p, func(int, cty.Value) bool { return true }) }

// PathIn is PathString for a path in a value of a type. Elements of sets, which paths have as keys, are
// shown as [...]. Use it wherever the path may come from a value rather than from a schema.
func PathIn(ty cty.Type, p cty.Path) string {
	inSet := make([]bool, len(p))
	for i, step := range p {
		inSet[i] = ty.IsSetType()
		ty = StepType(ty, step)
	}
	return renderPath(p, func(i int, _ cty.Value) bool { return !inSet[i] })
}

// PathWithoutKeys is PathString without keys that may be secret: it shows only the indices of lists.
func PathWithoutKeys(p cty.Path) string {
	return renderPath(p, func(_ int, key cty.Value) bool { return key.Type() == cty.Number })
}

// StepType returns the type that a step leads to, or the dynamic type if there is none.
func StepType(ty cty.Type, step cty.PathStep) cty.Type {
	switch step := step.(type) {
	case cty.GetAttrStep:
		if ty.IsObjectType() && ty.HasAttribute(step.Name) {
			return ty.AttributeType(step.Name)
		}
	case cty.IndexStep:
		if ty.IsCollectionType() {
			return ty.ElementType()
		}
		if ty.IsTupleType() && step.Key.Type() == cty.Number && step.Key.IsKnown() && !step.Key.IsNull() {
			if i, _ := step.Key.AsBigFloat().Int64(); i >= 0 && int(i) < ty.Length() {
				return ty.TupleElementType(int(i))
			}
		}
	}
	return cty.DynamicPseudoType
}

// renderPath renders the keys of those steps that show allows.
func renderPath(p cty.Path, show func(i int, key cty.Value) bool) string {
	var sb strings.Builder
	for i, step := range p {
		switch step := step.(type) {
		case cty.GetAttrStep:
			if i > 0 {
				sb.WriteByte('.')
			}
			sb.WriteString(step.Name)
		case cty.IndexStep:
			text := "..."
			if step.Key != cty.NilVal && show(i, step.Key) {
				text = keyString(step.Key)
			}
			sb.WriteString("[" + text + "]")
		}
	}
	return sb.String()
}

// keyString renders a key; cty.NilVal and keys that are not plain as "...".
func keyString(key cty.Value) string {
	if key == cty.NilVal || key.IsMarked() || !key.IsKnown() || key.IsNull() {
		return "..."
	}
	switch key.Type() {
	case cty.String:
		return strconv.Quote(key.AsString())
	case cty.Number:
		return key.AsBigFloat().Text('f', -1)
	default:
		return "..."
	}
}
