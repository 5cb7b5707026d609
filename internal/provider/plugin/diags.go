package plugin

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// longestText bounds each text of a provider that is shown to a person, in bytes. A message may be as large
// as a schema, and a terminal, a log and a report would repeat it.
const longestText = 64 << 10

// bounded returns a text with its end cut off if it is too long.
func bounded(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + fmt.Sprintf("\n\n(The provider's message has %d bytes; the rest is left out.)", len(text))
}

// diagnostics converts a provider's diagnostics. An unknown severity counts as an error.
func diagnostics(in []*tfplugin6.Diagnostic) diag.List {
	var l diag.List
	for _, d := range in {
		if d == nil {
			continue
		}
		out := diag.Diagnostic{Summary: bounded(d.Summary), Detail: bounded(d.Detail), Path: attributePath(d.Attribute)}
		if d.Severity == tfplugin6.Diagnostic_WARNING {
			out.Severity = diag.Warning
		}
		out.Summary = cmp.Or(out.Summary, "Provider reported a problem")
		l = append(l, out)
	}
	return l
}

// attributePath converts a path. If a step selects nothing, the whole path is dropped, since it would lead
// to a wrong place.
func attributePath(in *tfplugin6.AttributePath) cty.Path {
	var path cty.Path
	for _, step := range in.GetSteps() {
		switch s := step.GetSelector().(type) {
		case *tfplugin6.AttributePath_Step_AttributeName:
			path = path.GetAttr(s.AttributeName)
		case *tfplugin6.AttributePath_Step_ElementKeyString:
			path = path.IndexString(s.ElementKeyString)
		case *tfplugin6.AttributePath_Step_ElementKeyInt:
			path = path.Index(cty.NumberIntVal(s.ElementKeyInt))
		default:
			return nil
		}
	}
	return path
}
