package diag

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Reference returns a reference as written, for example `a.b["k"][0].c`. Keys are part of addresses and not
// secret, but marked keys are omitted as a precaution.
func Reference(t hcl.Traversal) string {
	var sb strings.Builder
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			sb.WriteString(step.Name)
		case hcl.TraverseAttr:
			sb.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			sb.WriteString(indexText(step.Key))
		case hcl.TraverseSplat:
			sb.WriteString("[*]")
		}
	}
	return sb.String()
}

func indexText(key cty.Value) string {
	if key.IsMarked() || !key.IsKnown() || key.IsNull() {
		return "[…]"
	}
	switch key.Type() {
	case cty.String:
		return "[" + strconv.Quote(key.AsString()) + "]"
	case cty.Number:
		return "[" + key.AsBigFloat().Text('f', -1) + "]"
	default:
		return "[…]"
	}
}
