package funcs

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// dependencyMarks returns the marks of the values that the success or failure of an expression can depend on.
//
// A mere reference succeeds or fails by its containers alone, whatever the value at its end is. Everything
// that works on a value may depend on all of it. Only the parts that an expression refers to are walked, so
// that an index into a large collection costs the same as one into a small one.
func dependencyMarks(closure *customdecode.ExpressionClosure) cty.ValueMarks {
	d := dependencies{ctx: closure.EvalContext, marks: make(cty.ValueMarks), found: findingsOf(closure.EvalContext)}
	d.visit(closure.Expression, unused)
	return d.marks
}

// EphemeralOutcome reports whether the success or failure of an expression can depend on an ephemeral value.
func EphemeralOutcome(expr hcl.Expression, ctx *hcl.EvalContext) bool {
	marks := dependencyMarks(&customdecode.ExpressionClosure{Expression: expr, EvalContext: ctx})
	_, ephemeral := marks[value.Ephemeral]
	return ephemeral
}

// use says which kind of operation works on the value of an expression, and so which part of it decides
// between success and failure.
type use int

const (
	unused  use = iota // nothing does
	whole              // something that depends on the value as a whole, such as whether it is null, but not on its parts
	shape              // something that depends on its type and its parts' types
	content            // something that depends on all of it
)

type dependencies struct {
	ctx   *hcl.EvalContext
	marks cty.ValueMarks
	found *findings
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

// addShape adds the marks that something depends on that looks at the type of a value only.
func (d *dependencies) addShape(v cty.Value) {
	d.add(v.Marks())
	if value.OpenType(v) {
		d.marks[value.Ephemeral] = struct{}{}
	}
}

// addUse adds the marks of a value that is used in a way.
func (d *dependencies) addUse(v cty.Value, of use) {
	switch of {
	case whole:
		d.add(v.Marks())
	case shape:
		d.addShape(v)
	case content:
		d.addDeep(v)
	}
}

// visit collects the marks that expr depends on, whose value is used in a way.
func (d *dependencies) visit(expr hcl.Expression, of use) {
	expr = hcl.UnwrapExpression(expr)
	switch e := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		d.traversal(e.Traversal, of)
	case *hclsyntax.ParenthesesExpr:
		d.visit(e.Expression, of)
	case *hclsyntax.TemplateWrapExpr:
		d.visit(e.Wrapped, of)
	case *hclsyntax.LiteralValueExpr:
		d.addUse(e.Val, of)
	default:
		d.add(d.found.of(d.ctx, expr, of, (*dependencies).visitComposite))
	}
}

// visitComposite is visit for expressions that have others as parts.
func (d *dependencies) visitComposite(expr hcl.Expression, of use) {
	switch e := expr.(type) {
	case *hclsyntax.RelativeTraversalExpr:
		d.relative(e, of)
	case *hclsyntax.IndexExpr:
		d.index(e, of)
	case *hclsyntax.ConditionalExpr:
		d.visit(e.Condition, content)
		d.visit(e.TrueResult, max(of, shape)) // their types must have one in common
		d.visit(e.FalseResult, max(of, shape))
	case *hclsyntax.FunctionCallExpr:
		d.call(e, of)
	case *hclsyntax.BinaryOpExpr:
		d.visit(e.LHS, content)
		d.visit(e.RHS, content)
	case *hclsyntax.UnaryOpExpr:
		d.visit(e.Val, content)
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			d.visit(part, content)
		}
	case *hclsyntax.TupleConsExpr:
		for _, item := range e.Exprs {
			d.visit(item, of)
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			d.visit(item.KeyExpr, content)
			d.visit(item.ValueExpr, of)
		}
	case *hclsyntax.ForExpr:
		d.loop(e, of)
	case *hclsyntax.SplatExpr:
		d.splat(e, of)
	default:
		d.visitRest(expr)
	}
}

// visitRest takes it that an expression works on everything that it refers to.
func (d *dependencies) visitRest(expr hcl.Expression) {
	for _, t := range expr.Variables() {
		d.traversal(t, content)
	}
}

// shapeOnly names the functions whose success depends on the types of their arguments, and on whether they
// are null, but not on their content.
var shapeOnly = map[string]bool{
	"concat": true, "flatten": true, "keys": true, "merge": true, "reverse": true, "tolist": true, "tomap": true, "toset": true, "values": true,
}

func (d *dependencies) call(e *hclsyntax.FunctionCallExpr, of use) {
	name := strings.TrimPrefix(e.Name, CorePrefix)
	if picks[name] && len(e.Args) > 1 && !e.ExpandFinal && reference(e.Args[0]) && reference(e.Args[1]) {
		d.pick(e, of)
		return
	}
	args := content
	switch {
	case e.ExpandFinal:
	case shapeOnly[name] && of <= shape:
		args = shape
	case name == "length":
		args = whole
	case name == "ephemeralasnull" || name == "fingerprint" || name == "issensitive": // succeed always, and their results are public
		args = unused
	case name == "sensitive" || name == "nonsensitive":
		args = of
	}
	for _, arg := range e.Args {
		d.visit(arg, args)
	}
	if name == "sensitive" {
		d.marks[value.Sensitive] = struct{}{}
	}
}

// pick handles a call of a function that looks one element up in a collection.
func (d *dependencies) pick(e *hclsyntax.FunctionCallExpr, of use) {
	d.visit(e.Args[0], whole)
	d.visit(e.Args[1], content)
	for _, otherwise := range e.Args[2:] {
		d.visit(otherwise, max(of, shape))
	}
	coll, diags := e.Args[0].Value(d.ctx)
	key, more := e.Args[1].Value(d.ctx)
	if of == unused || diags.HasErrors() || more.HasErrors() {
		return
	}
	coll, _ = coll.Unmark()
	key, _ = key.Unmark()
	if ty := coll.Type(); (ty.IsListType() || ty.IsTupleType()) && coll.IsKnown() && !coll.IsNull() && key.Type() == cty.Number && key.IsKnown() && !key.IsNull() {
		key = key.Modulo(cty.NumberIntVal(int64(max(coll.LengthInt(), 1)))) // element counts on from the beginning
	}
	if v, diags := hcl.Index(coll, key, nil); !diags.HasErrors() {
		d.addUse(v, of)
	}
}

// value returns the value of an expression that only looks things up, or has been evaluated before.
func (d *dependencies) value(expr hcl.Expression) (cty.Value, bool) {
	if v, ok := findingsOf(d.ctx).values[hcl.UnwrapExpression(expr)]; ok {
		return v, true
	}
	if !reference(expr) {
		return cty.NilVal, false
	}
	v, diags := expr.Value(d.ctx)
	return v, !diags.HasErrors()
}

// loop handles a for expression: its success depends on the collection itself, and on the use that its parts
// make of each element.
func (d *dependencies) loop(e *hclsyntax.ForExpr, of use) {
	coll, ok := d.value(e.CollExpr)
	if !ok {
		d.visitRest(e)
		return
	}
	d.visit(e.CollExpr, shape)
	if coll.IsMarked() || coll.IsNull() || !coll.IsKnown() || !coll.CanIterateElements() { // then the elements have the marks of the collection
		d.addDeep(coll)
		d.visitRest(e)
		return
	}
	outer := d.ctx
	defer func() { d.ctx = outer }()
	for key, elem := range coll.Elements() {
		d.ctx = outer.NewChild()
		d.ctx.Variables = map[string]cty.Value{e.ValVar: elem}
		if e.KeyVar != "" {
			d.ctx.Variables[e.KeyVar] = key
		}
		for _, part := range []hclsyntax.Expression{e.KeyExpr, e.CondExpr} {
			if part != nil {
				d.visit(part, content)
			}
		}
		d.visit(e.ValExpr, of)
	}
}

// splat handles a splat of one attribute, or of none.
func (d *dependencies) splat(e *hclsyntax.SplatExpr, of use) {
	var steps hcl.Traversal
	source, each := hcl.UnwrapExpression(e.Source), hcl.UnwrapExpression(e.Each)
	if t, ok := each.(*hclsyntax.RelativeTraversalExpr); ok {
		steps, each = t.Traversal, hcl.UnwrapExpression(t.Source)
	}
	v, ok := d.value(source)
	if _, plain := each.(*hclsyntax.AnonSymbolExpr); !plain || !ok {
		d.visitRest(e)
		return
	}
	d.visit(source, shape)
	if ty := v.Type(); v.IsMarked() || v.IsNull() || !v.IsKnown() || !ty.IsTupleType() && !ty.IsListType() && !ty.IsSetType() {
		d.addDeep(v)
		return
	}
	for _, elem := range v.Elements() {
		d.steps(elem, steps, of)
	}
}

// relative handles a traversal of another expression's result.
func (d *dependencies) relative(e *hclsyntax.RelativeTraversalExpr, of use) {
	if !reference(e.Source) {
		if of == unused && len(e.Traversal) == 1 {
			d.visit(e.Source, shape) // whether it has the attribute
		} else {
			d.visit(e.Source, content)
		}
		return
	}
	d.visit(e.Source, unused)
	if v, diags := e.Source.Value(d.ctx); !diags.HasErrors() {
		d.steps(v, e.Traversal, of)
	}
}

// index collects the marks that the outcome of an index expression depends on. If both parts are plain
// references, only the collection itself and the chosen element count, and not the other elements.
func (d *dependencies) index(e *hclsyntax.IndexExpr, of use) {
	d.visit(e.Key, content)
	if !reference(e.Collection) || !reference(e.Key) {
		d.visit(e.Collection, content)
		return
	}
	d.visit(e.Collection, unused)
	coll, diags := e.Collection.Value(d.ctx)
	if diags.HasErrors() {
		return
	}
	d.add(coll.Marks())
	key, diags := e.Key.Value(d.ctx)
	if diags.HasErrors() || of == unused {
		return
	}
	if v, diags := hcl.Index(coll, key, nil); !diags.HasErrors() {
		d.addUse(v, of)
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

// traversal adds the marks that a reference within an expression reads: on the way to the part that it refers
// to, and of that part the ones that its use depends on.
func (d *dependencies) traversal(t hcl.Traversal, of use) {
	if t.IsRelative() {
		return
	}
	for ctx := d.ctx; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[t.RootName()]; ok {
			d.steps(v, t[1:], of)
			return
		}
	}
}

// steps follows a traversal as far as it goes, collecting the containers' own marks.
func (d *dependencies) steps(v cty.Value, t hcl.Traversal, of use) {
	for _, step := range t {
		d.add(v.Marks())
		next, diags := step.TraversalStep(v)
		if diags.HasErrors() {
			return
		}
		v = next
	}
	d.addUse(v, of)
}
