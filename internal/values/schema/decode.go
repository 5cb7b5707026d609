package schema

import (
	"cmp"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/unify"
)

// Decode evaluates the body in ctx and returns an object of the block's type. It expands dynamic blocks and
// accepts blocks in place of attributes with collections of objects. Marks of evaluated values are kept;
// marks of a dynamic block's for_each are put on all that it generates. With errors, the value still conforms
// to the type, with unknown values where nothing better is known. Generated blocks are taken from the budget
// in ctx, if it has one, so that nested dynamic blocks can't exhaust the memory.
func (b *Block) Decode(body hcl.Body, ctx *hcl.EvalContext) (cty.Value, diag.List) {
	view := configBody{Body: dynblock.Expand(body, ctx), block: b, lost: map[string]cty.ValueMarks{}, budget: bounds.BudgetOf(ctx)}
	v, diags := hcldec.Decode(view, b.Spec(), ctx)
	if len(view.lost) > 0 && isOpen(v) {
		values := v.AsValueMap()
		for name, marks := range view.lost {
			values[name] = values[name].WithMarks(marks)
		}
		v = cty.ObjectVal(values)
	}
	if diags.HasErrors() && (v == cty.NilVal || len(v.Type().TestConformance(b.Type())) > 0) {
		v = cty.UnknownVal(b.Type())
	}
	return v, diag.FromHCL(diags)
}

// configBody is a view of a body in which an attribute with a list or set of objects may also be written as a
// sequence of blocks, as providers from before such attributes had a syntax of their own expect. If the body
// has dynamic blocks it must have been expanded first. The view also keeps the marks of generated blocks on
// everything inside them.
type configBody struct {
	hcl.Body
	block *Block
	marks cty.ValueMarks
	// lost collects, by the name of the outermost block type, the marks of blocks that are unknown in number:
	// hcldec drops them together with the blocks. It is nil if they are not needed again.
	lost map[string]cty.ValueMarks
	root string // the outermost block type around the body, "" at the top
	// budget limits the blocks that dynamic blocks generate.
	budget *bounds.Budget
}

var (
	_ hcldec.UnknownBody = configBody{}
	_ hcldec.MarkedBody  = configBody{}
)

// marksOf returns the marks that a body puts on everything in it; nil for none.
func marksOf(body hcl.Body) cty.ValueMarks {
	if marked, ok := body.(hcldec.MarkedBody); ok {
		return marked.BodyValueMarks()
	}
	return nil
}

// isUnknown reports whether it is not known how often a body occurs.
func isUnknown(body hcl.Body) bool {
	unknown, ok := body.(hcldec.UnknownBody)
	return ok && unknown.Unknown()
}

// Unknown reports whether the body belongs to a dynamic block whose for_each is unknown.
func (c configBody) Unknown() bool { return isUnknown(c.Body) }

// BodyValueMarks returns the marks that everything in the body inherits.
func (c configBody) BodyValueMarks() cty.ValueMarks { return c.marks }

// Content implements hcl.Body.
func (c configBody) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	schema, asBlocks := c.adjust(schema)
	content, diags := c.Body.Content(schema)
	explainDynamic(diags, schema)
	moreDiags := c.fixUp(content, asBlocks)
	return content, append(diags, moreDiags...)
}

// PartialContent implements hcl.Body.
func (c configBody) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	schema, asBlocks := c.adjust(schema)
	content, rest, diags := c.Body.PartialContent(schema)
	moreDiags := c.fixUp(content, asBlocks)
	rest = configBody{Body: rest, block: c.block, marks: c.marks, lost: c.lost, root: c.root, budget: c.budget}
	return content, rest, append(diags, moreDiags...)
}

// adjust asks for blocks instead of attributes where only blocks can be there, and returns the attributes
// that it did so for. An attribute that is written as an attribute stays one.
func (c configBody) adjust(schema *hcl.BodySchema) (*hcl.BodySchema, map[string]hcl.AttributeSchema) {
	candidates := c.block.attrsAsBlocks()
	if len(candidates) == 0 {
		return schema, nil
	}
	attrs, diags := c.Body.JustAttributes()
	if _, generates := attrs["dynamic"]; !diags.HasErrors() && !generates {
		return schema, nil // no blocks at all
	}
	var asBlocks map[string]hcl.AttributeSchema
	adjusted := &hcl.BodySchema{Blocks: schema.Blocks}
	for _, attr := range schema.Attributes {
		if candidates[attr.Name] == nil || attrs[attr.Name] != nil {
			adjusted.Attributes = append(adjusted.Attributes, attr)
			continue
		}
		if asBlocks == nil {
			asBlocks = map[string]hcl.AttributeSchema{}
			adjusted.Blocks = append([]hcl.BlockHeaderSchema(nil), schema.Blocks...)
		}
		asBlocks[attr.Name] = attr
		adjusted.Blocks = append(adjusted.Blocks, hcl.BlockHeaderSchema{Type: attr.Name})
	}
	return adjusted, asBlocks
}

// fixUp turns blocks that stand for attributes into attributes and wraps the bodies of all others.
func (c configBody) fixUp(content *hcl.BodyContent, asBlocks map[string]hcl.AttributeSchema) hcl.Diagnostics {
	if content == nil {
		return nil
	}
	if n := len(content.Blocks); n > 0 && !c.budget.Spend(n+len(content.Attributes), generated{content}) {
		content.Blocks = nil
	}
	for name, attr := range content.Attributes {
		if a := c.block.Attributes[name]; a != nil && !a.configType().IsPrimitiveType() {
			fitted := *attr
			fitted.Expr = fittedExpr{attr.Expr, a.configType()}
			content.Attributes[name] = &fitted
		}
	}
	if len(c.marks) > 0 {
		attrs := make(hcl.Attributes, len(content.Attributes))
		for name, attr := range content.Attributes {
			marked := *attr
			marked.Expr = markedExpr{attr.Expr, c.marks}
			attrs[name] = &marked
		}
		content.Attributes = attrs
	}
	blocks := make(hcl.Blocks, 0, len(content.Blocks))
	elements := make(map[string]hcl.Blocks, len(asBlocks))
	for _, block := range content.Blocks {
		if _, ok := asBlocks[block.Type]; ok {
			elements[block.Type] = append(elements[block.Type], c.wrap(block, c.block.attrsAsBlocks()[block.Type]))
		} else if nested := c.block.Blocks[block.Type]; nested != nil {
			blocks = append(blocks, c.wrap(block, &nested.Block))
		} else {
			blocks = append(blocks, block)
		}
	}
	content.Blocks = blocks
	return c.addElements(content, asBlocks, elements)
}

// addElements turns blocks that were written for an attribute into an attribute whose expression evaluates
// the blocks. Some older providers have attributes that users write as blocks.
func (c configBody) addElements(
	content *hcl.BodyContent, asBlocks map[string]hcl.AttributeSchema, elements map[string]hcl.Blocks,
) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for name, attr := range asBlocks {
		blocks := elements[name]
		switch {
		case len(blocks) > 0:
			if content.Attributes == nil {
				content.Attributes = hcl.Attributes{}
			}
			content.Attributes[name] = &hcl.Attribute{
				Name: name, Range: blocks[0].DefRange, NameRange: blocks[0].TypeRange,
				Expr: elementsExpr{element: c.block.attrsAsBlocks()[name], attr: c.block.Attributes[name], blocks: blocks},
			}
		case attr.Required:
			diags = append(diags, diag.MissingArgument(name, c.MissingItemRange()))
		}
	}
	return diags
}

// wrap gives a nested block a view of its own, with the marks of all blocks around it.
func (c configBody) wrap(block *hcl.Block, content *Block) *hcl.Block {
	inner := configBody{Body: block.Body, block: content, lost: c.lost, root: c.root, budget: c.budget}
	inner.marks = union(c.marks, marksOf(block.Body))
	inner.root = cmp.Or(inner.root, block.Type)
	if len(inner.marks) > 0 && inner.lost != nil && inner.Unknown() {
		inner.lost[inner.root] = union(inner.lost[inner.root], inner.marks)
	}
	wrapped := *block
	wrapped.Body = inner
	return &wrapped
}

// generated is the content of a body as the maker of its blocks.
type generated struct{ *hcl.BodyContent }

// Range implements bounds.Maker.
func (g generated) Range() hcl.Range { return g.Blocks[0].DefRange }

// union returns the marks of both. Its result may be one of the arguments and must not be changed.
func union(a, b cty.ValueMarks) cty.ValueMarks {
	if len(a) == 0 {
		return b
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// markedExpr puts marks on the results of an expression.
type markedExpr struct {
	hcl.Expression
	marks cty.ValueMarks
}

// Value implements hcl.Expression.
func (e markedExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Expression.Value(ctx)
	return v.WithMarks(e.marks), diags
}

// UnwrapExpression lets hcl.UnwrapExpression find the expression of the source text.
func (e markedExpr) UnwrapExpression() hcl.Expression { return e.Expression }

// fittedExpr converts results of an expression to the type that they are for, where they fit it, so that
// decoding need not.
type fittedExpr struct {
	hcl.Expression
	ty cty.Type
}

// Value implements hcl.Expression.
func (e fittedExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Expression.Value(ctx)
	if !diags.HasErrors() && v != cty.NilVal {
		if fitted, ok := unify.Converted(v, e.ty); ok {
			v = fitted
		}
	}
	return v, diags
}

// UnwrapExpression lets hcl.UnwrapExpression find the expression of the source text.
func (e fittedExpr) UnwrapExpression() hcl.Expression { return e.Expression }
