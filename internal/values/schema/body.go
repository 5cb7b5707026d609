package schema

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
)

// Body is a body that a block describes, to be decoded any number of times: once for each instance. If it
// consists of arguments only, as most do, it is matched with the block once. A Body is immutable and safe for
// concurrent use.
type Body struct {
	hcl.Body
	block *Block
	plain *plainBody // nil if there are blocks in the body, or mistakes
}

// plainBody is a body without blocks.
type plainBody struct {
	args  []argument
	unset map[string]cty.Value // of everything that the body does not set
}

// argument is an expression and the type that its result is converted to.
type argument struct {
	name string
	expr hcl.Expression
	ty   cty.Type
}

// Bind returns the body with its block.
func (b *Block) Bind(body hcl.Body) *Body { return &Body{Body: body, block: b, plain: b.plain(body)} }

// plain returns the content of a body that has neither blocks nor mistakes, and may have none; nil for any
// other. A body with mistakes takes the long way every time, which finds the words for them.
func (b *Block) plain(body hcl.Body) *plainBody {
	content, _, diags := body.PartialContent(b.looseSchema())
	if len(diags) > 0 || len(content.Blocks) > 0 {
		return nil
	}
	if _, diags := body.Content(hcldec.ImpliedSchema(b.Spec())); len(diags) > 0 {
		return nil
	}
	p := &plainBody{unset: make(map[string]cty.Value, len(b.known().names))}
	for _, name := range b.known().blockNames {
		if b.Blocks[name].MinItems > 0 {
			return nil
		}
		p.unset[name] = b.Blocks[name].empty()
	}
	for _, name := range b.known().attrNames {
		a, set := b.Attributes[name], content.Attributes[name]
		want := a.configType()
		switch {
		case set == nil:
			p.unset[name] = cty.NullVal(a.ValueType())
		case !want.Equals(a.ValueType()): // optional attributes of objects, which the decoder fills in
			return nil
		case want.IsPrimitiveType():
			p.args = append(p.args, argument{name, set.Expr, want})
		default:
			p.args = append(p.args, argument{name, fittedExpr{set.Expr, want}, want})
		}
	}
	return p
}

// Type returns the type of the decoded object.
func (b *Body) Type() cty.Type { return b.block.Type() }

// Decode evaluates the body in ctx; see Block.Decode.
func (b *Body) Decode(ctx *hcl.EvalContext) (cty.Value, diag.List) {
	if b.plain == nil {
		return b.block.Decode(b.Body, ctx)
	}
	results, values, ok := b.plain.evaluate(ctx)
	if !ok {
		return b.block.Decode(evaluatedBody{b.Body, results}, ctx)
	}
	return cty.ObjectVal(values), nil
}

// evaluate evaluates the arguments, each once: functions may call providers. It returns the results, and the
// values that they are converted to; ok is false if there is anything to report, which the decoder does.
func (p *plainBody) evaluate(ctx *hcl.EvalContext) (results []evaluatedExpr, values map[string]cty.Value, ok bool) {
	values, ok = maps.Clone(p.unset), true
	results = make([]evaluatedExpr, len(p.args))
	for i, a := range p.args {
		v, diags := a.expr.Value(ctx)
		results[i] = evaluatedExpr{Expression: a.expr, name: a.name, v: v, diags: diags}
		if ok = ok && len(diags) == 0; !ok {
			continue
		}
		converted, err := convert.Convert(v, a.ty)
		values[a.name], ok = converted, err == nil
	}
	return results, values, ok
}

// evaluatedBody is a body whose arguments have been evaluated. If a result does not fit its argument, the
// decoder must report it with all its context, but evaluating the argument a second time could call a
// provider's function twice.
type evaluatedBody struct {
	hcl.Body
	results []evaluatedExpr
}

// Content implements hcl.Body.
func (b evaluatedBody) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, diags := b.Body.Content(schema)
	return b.replaced(content), diags
}

// PartialContent implements hcl.Body.
func (b evaluatedBody) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content, rest, diags := b.Body.PartialContent(schema)
	return b.replaced(content), rest, diags
}

// replaced returns the content with the results in place of the expressions.
func (b evaluatedBody) replaced(content *hcl.BodyContent) *hcl.BodyContent {
	out := *content
	out.Attributes = maps.Clone(content.Attributes)
	for i := range b.results {
		if attr := out.Attributes[b.results[i].name]; attr != nil {
			known := *attr
			known.Expr = &b.results[i]
			out.Attributes[attr.Name] = &known
		}
	}
	return &out
}

// evaluatedExpr is an expression that has been evaluated.
type evaluatedExpr struct {
	hcl.Expression
	name  string // of the argument
	v     cty.Value
	diags hcl.Diagnostics
}

// Value implements hcl.Expression.
func (e *evaluatedExpr) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) { return e.v, e.diags }

// UnwrapExpression lets hcl.UnwrapExpression find the expression of the source text.
func (e *evaluatedExpr) UnwrapExpression() hcl.Expression { return e.Expression }
