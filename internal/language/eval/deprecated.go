package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// warnDeprecated warns of a value from deprecated outputs if the expressions refer to these outputs
// directly, and not where the value is passed on. It is called while planning, when everything is evaluated
// and values are known.
func (r *Run) warnDeprecated(m *blocks.Module, v cty.Value, exprs []*lang.Expr, at func(cty.Path) *hcl.Range) {
	if r.opt.Phase != Planning || !r.cfg.Deprecates {
		return
	}
	from := m.DeprecatedOutputs(exprs)
	if len(from) == 0 || !value.IsMarked(v) {
		return
	}
	_, marked := v.UnmarkDeepWithPaths()
	for _, pm := range marked {
		for _, d := range deprecations(pm.Marks) {
			o, ok := from[d.By]
			if !ok {
				continue
			}
			r.Report(diag.List{{
				Severity: diag.Warning, Summary: "Value derived from a deprecated source", Subject: at(pm.Path), Extra: o.Deprecation,
				Detail: "This value comes from " + o.Name + ", which is deprecated: " + d.Message,
			}})
		}
	}
}

// deprecations returns the marks of deprecated outputs, ordered by address.
func deprecations(marks cty.ValueMarks) []value.Deprecated {
	var out []value.Deprecated
	for m := range maps.Keys(marks) {
		if d, ok := m.(value.Deprecated); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b value.Deprecated) int { return strings.Compare(a.By, b.By) })
	return out
}

// rangeInBody returns a function that returns the source range of a path in a body.
func rangeInBody(body hcl.Body) func(cty.Path) *hcl.Range {
	return func(path cty.Path) *hcl.Range {
		return diag.List{{Path: path}}.InConfigBody(body)[0].Subject
	}
}

// warnRootVariable warns of a value for a deprecated variable of the root module.
func (v *Value) warnRootVariable() {
	b := v.block.Variable
	if b.Deprecated == "" || v.module.run.opt.Phase != Planning {
		return
	}
	v.module.run.Report(diag.List{{
		Severity: diag.Warning, Summary: "Deprecated variable used from the root module", Subject: b.Range.Ptr(),
		Detail: "A value is given to var." + b.Name + ", which is deprecated: " + b.Deprecated,
	}})
}
