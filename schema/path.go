package schema

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// PathString renders a path the way it would be written in the language, such as network[0].tags["name"]. Keys that
// are no plain strings or numbers, such as those of elements of sets of objects, are shown as [...]: they are values and could be secret.
// Paths made by this package never lead into sets.
func PathString(p cty.Path) string {
	var sb strings.Builder
	for i, step := range p {
		switch step := step.(type) {
		case cty.GetAttrStep:
			if i > 0 {
				sb.WriteByte('.')
			}
			sb.WriteString(step.Name)
		case cty.IndexStep:
			sb.WriteString("[" + keyString(step.Key) + "]")
		}
	}
	return sb.String()
}

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

// child returns p with one more step, in memory of its own.
func child(p cty.Path, step cty.PathStep) cty.Path {
	return append(p[:len(p):len(p)], step)
}

func childAttr(p cty.Path, name string) cty.Path { return child(p, cty.GetAttrStep{Name: name}) }
