package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
)

// checkFingerprint reports an argument of fingerprint that is not a reference to a whole value. The
// fingerprints of the parts of a secret would give it away part by part.
func (w *indexWalker) checkFingerprint(call *hclsyntax.FunctionCallExpr) {
	if len(call.Args) != 1 || w.refersToWhole(call.Args[0]) && !call.ExpandFinal {
		return
	}
	d := diag.Errorf("Invalid argument of fingerprint", "The argument must be a reference to a whole value, such as ephemeral.vault_kv_secret_v2.app.data[\"password\"] or var.token: fingerprints of the parts of a secret, one for each character for instance, would give it away. To take the fingerprint of something that is made of a secret, put it into a local value and refer to that.")
	d[0].Subject = call.Args[0].Range().Ptr()
	w.c.diags = append(w.c.diags, d...)
}

// refersToWhole reports whether an expression is a reference, and not to the variable of a loop.
func (w *indexWalker) refersToWhole(e hcl.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return !slices.Contains(w.names, e.Traversal.RootName()) && !w.c.inScope(e.Traversal.RootName())
	case *hclsyntax.IndexExpr:
		return w.refersToWhole(e.Collection)
	case *hclsyntax.RelativeTraversalExpr:
		return w.refersToWhole(e.Source)
	case *hclsyntax.ParenthesesExpr:
		return w.refersToWhole(e.Expression)
	}
	return false
}
