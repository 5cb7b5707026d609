package plugin

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/tfplugin6"
)

// diagnostics converts a provider's diagnostics. An unknown severity counts as an error.
func diagnostics(in []*tfplugin6.Diagnostic) diag.List {
	var l diag.List
	for _, d := range in {
		if d == nil {
			continue
		}
		out := diag.Diagnostic{Summary: d.Summary, Detail: d.Detail, Path: attributePath(d.Attribute)}
		if d.Severity == tfplugin6.Diagnostic_WARNING {
			out.Severity = diag.Warning
		}
		if out.Summary == "" {
			out.Summary = "Provider reported a problem"
		}
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
