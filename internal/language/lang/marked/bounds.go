package marked

import (
	"errors"
	"fmt"
	"iter"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// arithmetic is an operation whose result is a number within bounds. Repeated squaring doubles the digits
// of a number each time, and printing one of a billion digits takes minutes.
type arithmetic struct{ *hclsyntax.BinaryOpExpr }

// Value implements hcl.Expression.
func (a arithmetic) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	lhs, rhs := evaluated(a.LHS, ctx), evaluated(a.RHS, ctx)
	whole := *a.BinaryOpExpr
	whole.LHS, whole.RHS = lhs, rhs
	v, diags := whole.Value(ctx)
	err := bounds.CheckValue(v)
	if bare, _ := v.Unmark(); bounds.Infinite(bare) || diags.HasErrors() {
		if unprintable(lhs.v) || unprintable(rhs.v) {
			err, diags = bounds.ErrNumber, nil
		}
	}
	if err != nil {
		return cty.UnknownVal(cty.Number), append(diags, outOfBounds(a, err)...)
	}
	return value.MarkTypes(v, cty.Number), diags
}

// unprintable reports whether an operand is a text for a number that is out of range. The library would make
// it infinite.
func unprintable(v cty.Value) bool {
	bare, _, ok := plain(v)
	return ok && bare.Type() == cty.String && !bounds.Printable(bare.AsString())
}

// UnwrapExpression returns the expression of the source text.
func (a arithmetic) UnwrapExpression() hcl.Expression { return a.BinaryOpExpr }

// fitsText reports whether strings are together short enough for one string.
func fitsText(parts iter.Seq2[cty.Value, cty.Value]) bool {
	total := 0
	for _, v := range parts {
		if bare, _, ok := plain(v); ok && bare.Type() == cty.String {
			total += len(bare.AsString())
		}
	}
	return total <= bounds.MaxText
}

// outOfBounds returns the error of an expression whose result exceeds a bound. It does not show the result.
func outOfBounds(e hclsyntax.Expression, err error) hcl.Diagnostics {
	d := &hcl.Diagnostic{
		Severity: hcl.DiagError, Subject: e.Range().Ptr(),
		Summary: "Result too long", Detail: fmt.Sprintf("Strings made by templates and functions may have up to %d MiB.", bounds.MaxText>>20),
	}
	if errors.Is(err, bounds.ErrNumber) {
		d.Summary = "Number out of range"
		d.Detail = fmt.Sprintf("Numbers may have up to %d digits on either side of the decimal point.", bounds.MaxDigits)
	}
	return hcl.Diagnostics{d}
}
