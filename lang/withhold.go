package lang

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/value"
)

// WithholdKeys takes the detail out of errors about arguments of functions that are secret and have keys: where one does not have the type of the
// parameter, HCL names the keys that lead to what does not fit. What functions say themselves is their own affair. It changes the list and returns it.
func WithholdKeys(diags diag.List) diag.List {
	for i, d := range diags {
		call, ok := d.Extra.(hclsyntax.FunctionCallDiagExtra)
		if !ok || call.FunctionCallError() != nil || d.Expression == nil || d.EvalContext == nil {
			continue
		}
		v, hd := d.Expression.Value(d.EvalContext)
		if hd.HasErrors() {
			continue // the error is not about the value of an argument
		}
		if word, secret := value.RedactedDeep(v); secret && value.HasKeys(v.Type()) {
			diags[i].Detail = "An argument does not have the type of its parameter, in itself or in one of its elements. The details are withheld because they could reveal a part of a value: " + word + "."
		}
	}
	return diags
}
