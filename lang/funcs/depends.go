package funcs

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/value"
)

// dependencyMarks returns the marks of the values that the success or failure of an expression can depend on.
//
// A mere reference succeeds or fails by its containers alone, whatever the value at its end is. Everything
// that works on a value may depend on all of it. Only the parts that an expression refers to are walked, so
// that an index into a large collection costs the same as one into a small one.
func dependencyMarks(closure *customdecode.ExpressionClosure) cty.ValueMarks {
	d := dependencies{ctx: closure.EvalContext, marks: make(cty.ValueMarks)}
	d.visit(closure.Expression, false)
	return d.marks
}

type dependencies struct {
	ctx   *hcl.EvalContext
	marks cty.ValueMarks
}

func (d *dependencies) add(marks cty.ValueMarks) {
	for m := range marks {
		d.marks[m] = struct{}{}
	}
}

func (d *dependencies) addDeep(v cty.Value) {
	if value.IsMarked(v) {
		_, marks := v.UnmarkDeep()
		d.add(marks)
	}
}

// visit collects the marks that expr depends on; used says whether something works on its value.
func (d *dependencies) visit(expr hcl.Expression, used bool) {
	expr = hcl.UnwrapExpression(expr)
	switch e := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		d.traversal(e.Traversal, used)
	case *hclsyntax.RelativeTraversalExpr:
		d.relative(e, used)
	case *hclsyntax.IndexExpr:
		d.index(e, used)
	case *hclsyntax.ParenthesesExpr:
		d.visit(e.Expression, used)
	case *hclsyntax.TemplateWrapExpr:
		d.visit(e.Wrapped, used)
	case *hclsyntax.ConditionalExpr:
		d.visit(e.Condition, true)
		d.visit(e.TrueResult, used)
		d.visit(e.FalseResult, used)
	case *hclsyntax.FunctionCallExpr:
		for _, arg := range e.Args {
			d.visit(arg, true)
		}
		if name := strings.TrimPrefix(e.Name, CorePrefix); name == "sensitive" {
			d.marks[value.Sensitive] = struct{}{}
		}
	case *hclsyntax.BinaryOpExpr:
		d.visit(e.LHS, true)
		d.visit(e.RHS, true)
	case *hclsyntax.UnaryOpExpr:
		d.visit(e.Val, true)
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			d.visit(part, true)
		}
	case *hclsyntax.TupleConsExpr:
		for _, item := range e.Exprs {
			d.visit(item, used)
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			d.visit(item.KeyExpr, true)
			d.visit(item.ValueExpr, used)
		}
	case *hclsyntax.LiteralValueExpr:
		d.addDeep(e.Val)
	default:
		// The rest, such as for expressions and splats, iterate over what they refer to.
		for _, t := range expr.Variables() {
			d.traversal(t, true)
		}
	}
}

// relative handles a traversal of what another expression returns.
func (d *dependencies) relative(e *hclsyntax.RelativeTraversalExpr, used bool) {
	if !reference(e.Source) {
		d.visit(e.Source, true)
		return
	}
	d.visit(e.Source, false)
	if v, diags := e.Source.Value(d.ctx); !diags.HasErrors() {
		d.steps(v, e.Traversal, used)
	}
}

// index collects the marks that the outcome of an index expression depends on. If both parts are plain
// references, only the collection itself and the chosen element count, and not the other elements.
func (d *dependencies) index(e *hclsyntax.IndexExpr, used bool) {
	d.visit(e.Key, true)
	if !reference(e.Collection) || !reference(e.Key) {
		d.visit(e.Collection, true)
		return
	}
	d.visit(e.Collection, false)
	coll, diags := e.Collection.Value(d.ctx)
	if diags.HasErrors() {
		return
	}
	d.add(coll.Marks())
	key, diags := e.Key.Value(d.ctx)
	if diags.HasErrors() || !used {
		return
	}
	if v, diags := hcl.Index(coll, key, nil); !diags.HasErrors() {
		d.addDeep(v)
	}
}

// reference reports whether an expression only looks things up. Others are never evaluated a second time
// here: they may be calls of providers, or further calls of can and try, whose cost would multiply.
func reference(expr hcl.Expression) bool {
	switch e := hcl.UnwrapExpression(expr).(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.RelativeTraversalExpr:
		return reference(e.Source)
	case *hclsyntax.IndexExpr:
		return reference(e.Collection) && reference(e.Key)
	case *hclsyntax.ParenthesesExpr:
		return reference(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return reference(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			if !reference(part) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// traversal adds what a reference within an expression reads: the marks on the way to the part that it refers
// to and, if used is set, those within that part.
func (d *dependencies) traversal(t hcl.Traversal, used bool) {
	if t.IsRelative() {
		return
	}
	for ctx := d.ctx; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[t.RootName()]; ok {
			d.steps(v, t[1:], used)
			return
		}
	}
}

// steps follows a traversal as far as it goes, collecting the containers' own marks.
func (d *dependencies) steps(v cty.Value, t hcl.Traversal, used bool) {
	for _, step := range t {
		d.add(v.Marks())
		next, diags := step.TraversalStep(v)
		if diags.HasErrors() {
			return
		}
		v = next
	}
	if used {
		d.addDeep(v)
	}
}
