package funcs

import (
	"reflect"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// findings are the marks that the outcome of expressions depends on, as far as they have been asked for in
// one context. An expression within many others is asked about by each of them, and looked at once.
type findings struct {
	ctx   *hcl.EvalContext
	marks map[finding]cty.ValueMarks
	// values are the values of collections that loops went through, so that none is evaluated again.
	values map[hcl.Expression]cty.Value
	// settled says whether the object that a traversal to a variable of the context refers to is settled.
	settled map[*hcl.Traverser]bool
}

// Remember keeps the value of an expression in ctx for callers that ask which values the success of another
// one depended on.
func Remember(ctx *hcl.EvalContext, expr hcl.Expression, v cty.Value) {
	if f := findingsOf(ctx); f.values != nil {
		f.values[hcl.UnwrapExpression(expr)] = v
	}
}

// finding names an expression, whose value is used in a way.
type finding struct {
	expr hcl.Expression
	of   use
}

// findingsName is the variable with the findings of a context. It is not an identifier, so no source text can
// refer to it.
const findingsName = "(findings)"

var findingsType = cty.Capsule("findings", reflect.TypeFor[findings]())

// findingsOf returns the findings of a context. They stay with it if the context belongs to one evaluation,
// as those with a budget do.
func findingsOf(ctx *hcl.EvalContext) *findings {
	if ctx == nil {
		return &findings{}
	}
	if v, ok := ctx.Variables[findingsName]; ok && !v.IsMarked() {
		if f := v.EncapsulatedValue().(*findings); f.ctx == ctx {
			return f
		}
	}
	f := &findings{ctx: ctx, marks: map[finding]cty.ValueMarks{}, values: map[hcl.Expression]cty.Value{}, settled: map[*hcl.Traverser]bool{}}
	if ctx.Variables != nil && bounds.BudgetOf(ctx) != nil {
		ctx.Variables[findingsName] = cty.CapsuleVal(findingsType, f)
	}
	return f
}

// of returns the marks for an expression in a context, which visit looks for if they are not known.
func (f *findings) of(ctx *hcl.EvalContext, expr hcl.Expression, of use, visit func(*dependencies, hcl.Expression, use)) cty.ValueMarks {
	if f.ctx != ctx {
		f = findingsOf(ctx)
	}
	if marks, ok := f.marks[finding{expr, of}]; ok {
		return marks
	}
	d := &dependencies{ctx: ctx, marks: cty.ValueMarks{}, found: f}
	visit(d, expr, of)
	if f.marks != nil {
		f.marks[finding{expr, of}] = d.marks
	}
	return d.marks
}
