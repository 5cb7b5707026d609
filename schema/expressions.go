package schema

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// IteratorExpr is an expression inside dynamic blocks. The names in Iterators refer to what the blocks
// iterate over and not to anything in the surrounding scope; Variables leaves them out.
type IteratorExpr struct {
	hcl.Expression
	Iterators []string
}

// Variables returns the traversals that need values from outside of the dynamic blocks.
func (e IteratorExpr) Variables() []hcl.Traversal {
	return slices.DeleteFunc(slices.Clone(e.Expression.Variables()), func(t hcl.Traversal) bool {
		return slices.Contains(e.Iterators, t.RootName())
	})
}

// UnwrapExpression lets hcl.UnwrapExpression find the expression of the source text.
func (e IteratorExpr) UnwrapExpression() hcl.Expression { return e.Expression }

// Variables returns the references that Decode would need values for, including those of dynamic blocks.
// Content that does not fit the schema is passed over: Decode reports it.
func (b *Block) Variables(body hcl.Body) []hcl.Traversal {
	var variables []hcl.Traversal
	for _, expr := range b.Expressions(body) {
		variables = append(variables, expr.Variables()...)
	}
	return variables
}

// Expressions returns all expressions of a body that has not been expanded: of attributes, at any depth of
// nesting, and the for_each and labels arguments of dynamic blocks. Expressions inside dynamic blocks are
// IteratorExpr. Attributes come in the order of their names, before blocks, which come in source order.
func (b *Block) Expressions(body hcl.Body) []hcl.Expression {
	w := exprWalker{}
	w.body(b, body, nil)
	return w.found
}

type exprWalker struct{ found []hcl.Expression }

func (w *exprWalker) add(expr hcl.Expression, iterators []string) {
	if len(iterators) > 0 {
		expr = IteratorExpr{Expression: expr, Iterators: iterators}
	}
	w.found = append(w.found, expr)
}

func (w *exprWalker) body(b *Block, body hcl.Body, iterators []string) {
	content, _, _ := body.PartialContent(b.looseSchema())
	if content == nil {
		return
	}
	for _, name := range b.known().attrNames {
		if attr := content.Attributes[name]; attr != nil {
			w.add(attr.Expr, iterators)
		}
	}
	for _, block := range content.Blocks {
		if inner := b.inner(block.Type); inner != nil {
			w.body(inner, block.Body, iterators)
		} else if block.Type == "dynamic" && len(block.Labels) == 1 {
			w.dynamic(b, block, iterators)
		}
	}
}

// inner returns the content of the blocks with the given name, also of those that stand for an attribute.
func (b *Block) inner(name string) *Block {
	if nested := b.Blocks[name]; nested != nil {
		return &nested.Block
	}
	return b.attrsAsBlocks()[name]
}

// looseSchema selects everything that could matter and requires nothing.
func (b *Block) looseSchema() *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range b.known().attrNames {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	for name := range b.attrsAsBlocks() {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: name})
	}
	for _, name := range b.known().blockNames {
		header := hcl.BlockHeaderSchema{Type: name}
		if b.Blocks[name].Nesting == Map {
			header.LabelNames = mapLabels
		}
		schema.Blocks = append(schema.Blocks, header)
	}
	if b.Blocks["dynamic"] == nil {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}})
	}
	return schema
}

var dynamicSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "iterator"}, {Name: "labels"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "content"}},
}

func (w *exprWalker) dynamic(b *Block, block *hcl.Block, iterators []string) {
	content, _, _ := block.Body.PartialContent(dynamicSchema)
	if content == nil {
		return
	}
	iterator := block.Labels[0]
	if attr := content.Attributes["iterator"]; attr != nil {
		if traversal, diags := hcl.AbsTraversalForExpr(attr.Expr); !diags.HasErrors() {
			iterator = traversal.RootName()
		}
	}
	if attr := content.Attributes["for_each"]; attr != nil {
		w.add(attr.Expr, iterators)
	}
	iterators = append(slices.Clip(iterators), iterator)
	if attr := content.Attributes["labels"]; attr != nil {
		w.add(attr.Expr, iterators)
	}
	inner := b.inner(block.Labels[0])
	if inner == nil {
		return
	}
	for _, each := range content.Blocks {
		w.body(inner, each.Body, iterators)
	}
}
