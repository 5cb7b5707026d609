package static

import (
	"cmp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Unmet evaluates the validation rules of a variable of the root module, and reports unmet rules as a run
// does. A rule that cannot be decided without a run is left to it, because it refers to a resource or to a
// variable without a value, and so are errors in the rules.
func (e *Evaluator) Unmet(root *config.Module, v *config.Variable) diag.List {
	var out diag.List
	for _, c := range v.Validations {
		met, ctx, diags := e.evalIn(root, c.Condition)
		met, _ = met.UnmarkDeep()
		met, err := convert.Convert(met, cty.Bool)
		if diags.HasErrors() || err != nil || met.IsNull() || !met.IsKnown() || met.True() {
			continue
		}
		out = append(out, diag.Diagnostic{
			Summary: "Invalid value for variable",
			Detail:  e.message(root, c.ErrorMessage) + "\n\nThis was checked by the validation rule at " + diag.Place(c.Range) + ".",
			Subject: v.Range.Ptr(), Context: c.Condition.Range().Ptr(), Expression: c.Condition, EvalContext: ctx,
			Parts: lang.ComparedParts(c.Condition, ctx), Extra: diag.Unmet{Object: "var." + v.Name},
		})
	}
	return out
}

// message returns the error message of a rule that is not met. One that is made from secrets is not shown.
func (e *Evaluator) message(m *config.Module, expr hcl.Expression) string {
	const none = "This condition was not met."
	v, diags := e.eval(m, expr)
	if diags.HasErrors() {
		return none
	}
	for _, secret := range []value.Mark{value.Ephemeral, value.Sensitive} {
		if value.Contains(v, secret) {
			return "The error message refers to " + string(secret) + " values, so it is not shown."
		}
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.String)
	if err != nil || v.IsNull() || !v.IsKnown() {
		return none
	}
	return cmp.Or(strings.TrimSpace(v.AsString()), none)
}
