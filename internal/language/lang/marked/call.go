package marked

import (
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// shortcuts evaluate calls of functions that need one element of a collection or none, or that only collect
// elements. A function call searches all elements of its arguments for marks, so n calls with a collection of
// n elements take quadratic time, and looks at each several times. A shortcut returns false for all but the
// plain cases, which leaves the call, and its errors, to the function.
var shortcuts = map[string]func(args []cty.Value) (cty.Value, bool){
	"element": plainElement,
	"flatten": plainFlatten,
	"length":  plainLength,
	"lookup":  plainLookup,
	"merge":   plainMerge,

	"setintersection": setShortcut(math.MaxInt, inAll),
	"setsubtract":     setShortcut(2, inNone),
	"setunion":        setShortcut(math.MaxInt, nil),
}

// shortcut returns the shortcut for a call, or nil.
func shortcut(call *hclsyntax.FunctionCallExpr) func([]cty.Value) (cty.Value, bool) {
	if call.ExpandFinal {
		return nil
	}
	return shortcuts[strings.TrimPrefix(call.Name, "core::")]
}

// called is a call of a function that has a shortcut, which is tried first, or that takes collections, to
// which the arguments are converted in linear time.
type called struct{ *hclsyntax.FunctionCallExpr }

// UnwrapExpression returns the expression of the source text.
func (c called) UnwrapExpression() hcl.Expression { return c.FunctionCallExpr }

// Value implements hcl.Expression.
func (c called) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	args, values, given := make([]hclsyntax.Expression, len(c.Args)), make([]cty.Value, len(c.Args)), make([]*evaluatedExpr, len(c.Args))
	var diags hcl.Diagnostics
	budget := bounds.BudgetOf(ctx)
	left := budget.Left()
	splat := c.elementOfSplat(ctx)
	if splat != nil {
		if v, ok := splat.plain(ctx); ok {
			return v, nil
		}
	}
	for i, arg := range c.Args {
		e := splat.argument(i, arg, ctx)
		args[i], values[i], given[i] = e, e.v, e
		diags = append(diags, e.diags...)
	}
	if n := collected(strings.TrimPrefix(c.Name, "core::"), values); n > bounds.MaxMade/2 && !budget.Room(n, c.FunctionCallExpr) {
		return cty.DynamicVal, nil
	}
	if short := shortcut(c.FunctionCallExpr); short != nil && !diags.HasErrors() {
		if v, ok := short(values); ok {
			v, diags = spend(ctx, c.FunctionCallExpr, v, diags, funcs.Makes(c.Name))
			budget.Discard(left, v)
			return v, diags
		}
	}
	if v, ok := c.callFitting(ctx, given); ok {
		return spend(ctx, c.FunctionCallExpr, v, diags, funcs.Makes(c.Name))
	}
	whole := *c.FunctionCallExpr
	whole.Args = args
	v, more := making{&whole}.Value(ctx)
	budget.Discard(left, v)
	return v, more
}

// elementOfSplat is a call of element with a splat, such as element(a[*].id, count.index), which needs one
// element only.
type elementOfSplat struct {
	*hclsyntax.SplatExpr
	source, index *evaluatedExpr
}

// elementOfSplat evaluates the operands of a call of element with a splat. It returns nil for other calls.
func (c called) elementOfSplat(ctx *hcl.EvalContext) *elementOfSplat {
	if strings.TrimPrefix(c.Name, "core::") != "element" || c.ExpandFinal || len(c.Args) != 2 {
		return nil
	}
	splat, ok := asSplat(c.Args[0])
	if !ok || !sameOfAll(splat) {
		return nil
	}
	return &elementOfSplat{SplatExpr: splat, source: evaluated(unsplatted(splat), ctx), index: evaluated(c.Args[1], ctx)}
}

// sameOfAll reports whether a splat takes one attribute of all instances of a resource or module. They have
// the same attributes, so evaluating one instance misses no error of the others.
func sameOfAll(splat *hclsyntax.SplatExpr) bool {
	source, ok := unsplatted(splat).(*hclsyntax.ScopeTraversalExpr)
	if !ok || !wholeBlock(source.Traversal) {
		return false
	}
	each, ok := splat.Each.(*hclsyntax.RelativeTraversalExpr)
	if !ok || len(each.Traversal) != 1 {
		return false
	}
	_, attribute := each.Traversal[0].(hcl.TraverseAttr)
	return attribute
}

// wholeBlock reports whether a traversal refers to a whole resource or module, rather than to a part of it.
func wholeBlock(t hcl.Traversal) bool {
	ref, diags := lang.ParseRef(t)
	whole := ref.Kind == lang.Resource || ref.Kind == lang.Module && ref.Output == ""
	return whole && ref.Index == nil && len(ref.Rest) == 0 && !diags.HasErrors()
}

// plain returns the value of the call if the element is one of a known list or tuple and there are no
// diagnostics.
func (s *elementOfSplat) plain(ctx *hcl.EvalContext) (cty.Value, bool) {
	if len(s.source.diags)+len(s.index.diags) > 0 {
		return cty.NilVal, false
	}
	elem, ok := plainElement([]cty.Value{s.source.v, s.index.v})
	if !ok {
		return cty.NilVal, false
	}
	v, diags := s.of(cty.TupleVal([]cty.Value{elem})).Value(ctx)
	if len(diags) > 0 {
		return cty.NilVal, false
	}
	return plainElement([]cty.Value{v, cty.Zero})
}

// of returns the splat with a value in place of its source.
func (s *elementOfSplat) of(v cty.Value) *hclsyntax.SplatExpr {
	whole := *s.SplatExpr
	whole.Source = &evaluatedExpr{Expression: unsplatted(s.SplatExpr), v: v, diags: s.source.diags}
	return &whole
}

// argument evaluates an argument of the call, unless it has been.
func (s *elementOfSplat) argument(i int, arg hclsyntax.Expression, ctx *hcl.EvalContext) *evaluatedExpr {
	switch {
	case s == nil:
		return evaluated(arg, ctx)
	case i == 0:
		return evaluated(s.of(s.source.v), ctx)
	default:
		return s.index
	}
}

// plain returns a value without its outermost marks, and reports whether it is known and not null.
func plain(v cty.Value) (cty.Value, cty.ValueMarks, bool) {
	v, marks := v.Unmark()
	return v, marks, v.IsKnown() && !v.IsNull()
}

// plainLength is the shortcut for length.
func plainLength(args []cty.Value) (cty.Value, bool) {
	if len(args) != 1 {
		return cty.NilVal, false
	}
	v, marks, ok := plain(args[0])
	if ty := v.Type(); !ok || !ty.IsListType() && !ty.IsMapType() && !ty.IsTupleType() && !ty.IsObjectType() {
		return cty.NilVal, false
	}
	return value.MarkTypes(cty.NumberIntVal(int64(v.LengthInt())).WithMarks(marks), cty.Number), true
}

// plainElement is the shortcut for element.
func plainElement(args []cty.Value) (cty.Value, bool) {
	if len(args) != 2 || args[1].IsMarked() || args[1].Type() != cty.Number {
		return cty.NilVal, false
	}
	v, marks, ok := plain(args[0])
	_, _, indexOK := plain(args[1])
	if ty := v.Type(); !ok || !indexOK || !ty.IsListType() && !ty.IsTupleType() || v.LengthInt() == 0 {
		return cty.NilVal, false
	}
	index, accuracy := args[1].AsBigFloat().Int64()
	if accuracy != big.Exact || index < 0 {
		return cty.NilVal, false
	}
	return v.Index(cty.NumberIntVal(index % int64(v.LengthInt()))).WithMarks(marks), true
}

// plainLookup is the shortcut for lookup.
func plainLookup(args []cty.Value) (cty.Value, bool) {
	v, ok := lookedUp(args)
	return value.MarkKnown(v, funcs.Decides("lookup", args)...), ok
}

// lookedUp returns the result of lookup in the plain cases.
func lookedUp(args []cty.Value) (cty.Value, bool) {
	if len(args) < 2 || len(args) > 3 || args[1].Type() != cty.String {
		return cty.NilVal, false
	}
	in, inMarks, ok := plain(args[0])
	key, keyMarks, keyOK := plain(args[1])
	ty := in.Type()
	if _, ephemeral := keyMarks[value.Ephemeral]; !ok || !keyOK || ephemeral && ty.IsObjectType() { // the type would tell the key
		return cty.NilVal, false
	}
	switch {
	case ty.IsObjectType() && ty.HasAttribute(key.AsString()):
		return in.GetAttr(key.AsString()).WithMarks(inMarks, keyMarks), true
	case ty.IsMapType() && in.HasIndex(key).True() && (len(args) == 2 || args[2].Type().Equals(ty.ElementType()) || untypedNull(args[2])):
		return in.Index(key).WithMarks(inMarks, keyMarks), true
	}
	if len(args) == 2 || args[2].IsMarked() || !args[2].IsKnown() || !args[2].Type().IsPrimitiveType() && !untypedNull(args[2]) {
		return cty.NilVal, false
	}
	switch { // the default, which has no parts
	case ty.IsObjectType():
		return args[2].WithMarks(inMarks, keyMarks), true
	case ty.IsMapType() && untypedNull(args[2]):
		return cty.NullVal(ty.ElementType()).WithMarks(inMarks, keyMarks), true
	case ty.IsMapType() && args[2].Type().Equals(ty.ElementType()):
		return args[2].WithMarks(inMarks, keyMarks), true
	}
	return cty.NilVal, false
}

// template is a template with interpolations. Whole numbers, the most frequent ones in texts, are formatted
// here: the library would search for the shortest decimal fraction that represents a number of 512 bits.
type template struct{ *hclsyntax.TemplateExpr }

// UnwrapExpression returns the expression of the source text.
func (t template) UnwrapExpression() hcl.Expression { return t.TemplateExpr }

// interpolates reports whether a template has a part that is not literal text.
func interpolates(t *hclsyntax.TemplateExpr) bool {
	return slices.ContainsFunc(t.Parts, func(part hclsyntax.Expression) bool {
		_, literal := part.(*hclsyntax.LiteralValueExpr)
		return !literal
	})
}

// Value implements hcl.Expression.
func (t template) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	whole := *t.TemplateExpr
	whole.Parts = slices.Clone(whole.Parts)
	for i, part := range whole.Parts {
		if _, literal := part.(*hclsyntax.LiteralValueExpr); literal {
			continue
		}
		e := evaluated(part, ctx)
		if v, marks, ok := plain(e.v); ok && v.Type() == cty.Number {
			if n, accuracy := v.AsBigFloat().Int64(); accuracy == big.Exact && n != 0 {
				e.v = cty.StringVal(strconv.FormatInt(n, 10)).WithMarks(marks)
			}
		}
		whole.Parts[i] = e
	}
	if !fitsText(partValues(whole.Parts)) {
		return cty.DynamicVal, outOfBounds(t, bounds.ErrText)
	}
	v, diags := whole.Value(ctx)
	return spend(ctx, t.TemplateExpr, value.MarkTypes(v, cty.String), diags, 1)
}

// partValues yields the values of the interpolated parts.
func partValues(parts []hclsyntax.Expression) iter.Seq2[cty.Value, cty.Value] {
	return func(yield func(_, v cty.Value) bool) {
		for _, part := range parts {
			if e, ok := part.(*evaluatedExpr); ok && !yield(cty.NilVal, e.v) {
				return
			}
		}
	}
}

// untypedNull reports whether v is null without a type.
func untypedNull(v cty.Value) bool {
	return v.Type() == cty.DynamicPseudoType && v.IsKnown() && v.IsNull()
}
