package funcs

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// unpredictable names the functions that may be unknown although they have no arguments.
var unpredictable = map[string]bool{"plantimestamp": true, "timestamp": true, "uuid": true}

// ReadsUnknown reports whether an expression refers to something that is not known in full, or would not be
// with other ephemeral values. It is for expressions that have failed, or have not been evaluated.
func ReadsUnknown(expr hcl.Expression, ctx *hcl.EvalContext) bool {
	if slices.ContainsFunc(expr.Variables(), func(t hcl.Traversal) bool { return !settledAt(ctx, t) }) {
		return true
	}
	native, ok := expr.(hclsyntax.Expression)
	if !ok {
		return false
	}
	found := false
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		e, ok := n.(hcl.Expression)
		if !ok || found {
			return nil
		}
		if call, ok := hcl.UnwrapExpression(e).(*hclsyntax.FunctionCallExpr); ok && unpredictable[strings.TrimPrefix(call.Name, CorePrefix)] {
			v, diags := call.Value(ctx)
			found = !v.IsKnown() && !diags.HasErrors()
		}
		return nil
	})
	return found
}

// settledAt reports whether the object that a traversal refers to is settled. It looks once for each
// traversal and value: a loop asks in every round.
func settledAt(ctx *hcl.EvalContext, t hcl.Traversal) bool {
	if t.IsRelative() {
		return true
	}
	for ; ctx != nil; ctx = ctx.Parent() {
		v, ok := ctx.Variables[t.RootName()]
		if !ok {
			continue
		}
		found := findingsOf(ctx)
		settled, known := found.settled[&t[0]]
		if !known {
			settled = settledBelow(v, t[1:])
		}
		if found.settled != nil {
			found.settled[&t[0]] = settled
		}
		return settled
	}
	return true
}

// settledBelow follows a traversal as far as it goes.
func settledBelow(v cty.Value, t hcl.Traversal) bool {
	for _, step := range t {
		if value.Has(v, value.EphemeralKnown) {
			return false
		}
		next, diags := step.TraversalStep(v)
		if diags.HasErrors() {
			return true
		}
		v = next
	}
	return value.Settled(v)
}
