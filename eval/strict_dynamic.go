package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/value"
)

// generated is an expression inside dynamic blocks. HCL takes the marks off what the blocks iterate over and puts them on what an expression gives; what is
// reported about an element does not know that it is secret.
type generated struct {
	hcl.Expression
	iterators []string
	forEach   []hcl.Expression
}

func newGenerated(e hcl.Expression, x *lang.Expr) *generated {
	g := &generated{Expression: e, iterators: x.Iterators, forEach: make([]hcl.Expression, len(x.ForEach))}
	for i, each := range x.ForEach {
		if each != nil {
			g.forEach[i] = strict(each)
		}
	}
	return g
}

// UnwrapExpression lets hcl.UnwrapExpression find the expression of the source text.
func (g *generated) UnwrapExpression() hcl.Expression { return g.Expression }

// Value implements hcl.Expression. After an error it evaluates once more, with the iterators marked like what they iterate over, so that the elements are
// hidden from the error.
func (g *generated) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := g.Expression.Value(ctx)
	if !diags.HasErrors() {
		return v, diags
	}
	hidden, marks := ctx.NewChild(), cty.ValueMarks{}
	hidden.Variables = map[string]cty.Value{}
	for i, name := range g.iterators {
		if g.forEach[i] == nil {
			continue
		}
		if coll, more := g.forEach[i].Value(ctx); !more.HasErrors() {
			for m := range coll.Marks() {
				marks[m] = struct{}{}
			}
		}
		if it, ok := lookUp(ctx, name); ok {
			if _, secret := value.Redacted(marks); secret {
				hidden.Variables[name] = marked(it, marks)
			}
		}
	}
	if len(hidden.Variables) == 0 {
		return v, diags
	}
	_, diags = g.Expression.Value(hidden)
	return v, diags
}

func lookUp(ctx *hcl.EvalContext, name string) (cty.Value, bool) {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[name]; ok {
			return v, true
		}
	}
	return cty.NilVal, false
}

// marked puts marks on the key and the value of an iterator.
func marked(it cty.Value, marks cty.ValueMarks) cty.Value {
	if !it.Type().IsObjectType() || it.IsMarked() || !it.IsKnown() || it.IsNull() {
		return it.WithMarks(marks)
	}
	attrs := it.AsValueMap()
	for name, v := range attrs {
		attrs[name] = v.WithMarks(marks)
	}
	return cty.ObjectVal(attrs)
}
