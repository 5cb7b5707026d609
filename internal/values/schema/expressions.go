package schema

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// BodyExpr is an expression in a body, as it is written there.
type BodyExpr struct {
	hcl.Expression
	// Argument is the name of the outermost argument or block type that the expression is in: dynamic blocks
	// count as blocks of the type that they generate.
	Argument string
	// Iterators are the names of the current elements of the dynamic blocks around the expression, from
	// outside to inside. They refer to nothing in the surrounding scope.
	Iterators []string
}

// Expressions returns all expressions of a body that has not been expanded: of attributes, at any depth of
// nesting, and the for_each and labels arguments of dynamic blocks. Attributes come in the order of their
// names, before blocks, which come in source order. Content that does not fit the schema is passed over:
// Decode reports it. References are found in them.
func (b *Block) Expressions(body hcl.Body) []BodyExpr {
	w := exprWalker{}
	w.body(b, body, BodyExpr{})
	return w.found
}

// exprWalker collects expressions. The BodyExpr that its methods take describes the surroundings of the ones
// they add.
type exprWalker struct{ found []BodyExpr }

// add adds an expression. name is the name of its argument, unless it is inside of a block.
func (w *exprWalker) add(expr hcl.Expression, around BodyExpr, name string) {
	around.Expression, around.Argument = expr, cmp.Or(around.Argument, name)
	w.found = append(w.found, around)
}

// body adds the expressions of a body that b describes.
func (w *exprWalker) body(b *Block, body hcl.Body, around BodyExpr) {
	content, _, _ := body.PartialContent(b.looseSchema())
	if content == nil {
		return
	}
	for _, name := range b.known().attrNames {
		if attr := content.Attributes[name]; attr != nil {
			w.add(attr.Expr, around, name)
		}
	}
	for _, block := range content.Blocks {
		inside := around
		if inner := b.inner(block.Type); inner != nil {
			inside.Argument = cmp.Or(around.Argument, block.Type)
			w.body(inner, block.Body, inside)
		} else if dynamic, ok := AsDynamic(block); ok {
			w.dynamic(b.inner(dynamic.Type), dynamic, around)
		}
	}
}

// dynamic adds the expressions of a dynamic block. Its for_each is evaluated outside, without the iterator.
// b is nil for blocks that the schema lacks.
func (w *exprWalker) dynamic(b *Block, block Dynamic, around BodyExpr) {
	inside := BodyExpr{Argument: cmp.Or(around.Argument, block.Type), Iterators: append(slices.Clip(around.Iterators), block.Iterator)}
	if block.ForEach != nil {
		w.add(block.ForEach, around, block.Type)
	}
	if block.Labels != nil {
		w.add(block.Labels, inside, block.Type)
	}
	if b == nil {
		return
	}
	for _, body := range block.Contents {
		w.body(b, body, inside)
	}
}

// inner returns the content of the blocks with the given name, which may be in place of an attribute.
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
	if b.Blocks[DynamicHeader.Type] == nil {
		schema.Blocks = append(schema.Blocks, DynamicHeader)
	}
	return schema
}

// Dynamic is a dynamic block as it is written: it generates blocks of a type.
//
//	dynamic "setting" {
//	  for_each = var.settings
//	  iterator = s            # "setting" by default
//	  content { name = s.key }
//	}
type Dynamic struct {
	Type            string
	ForEach, Labels hcl.Expression // nil if missing
	Iterator        string         // the name of the current element
	Contents        []hcl.Body     // one, unless there is a mistake, which Decode reports
}

// DynamicHeader selects dynamic blocks, for AsDynamic.
var DynamicHeader = hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}}

var dynamicSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "iterator"}, {Name: "labels"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "content"}},
}

// AsDynamic interprets a block that DynamicHeader has selected. It returns false for any other.
func AsDynamic(block *hcl.Block) (Dynamic, bool) {
	if block.Type != DynamicHeader.Type || len(block.Labels) != len(DynamicHeader.LabelNames) {
		return Dynamic{}, false
	}
	d := Dynamic{Type: block.Labels[0], Iterator: block.Labels[0]}
	content, _, _ := block.Body.PartialContent(dynamicSchema)
	if content == nil {
		return d, true
	}
	for name, attr := range content.Attributes {
		switch name {
		case "for_each":
			d.ForEach = attr.Expr
		case "labels":
			d.Labels = attr.Expr
		case "iterator":
			if t, diags := hcl.AbsTraversalForExpr(attr.Expr); !diags.HasErrors() {
				d.Iterator = t.RootName()
			}
		}
	}
	for _, inner := range content.Blocks {
		d.Contents = append(d.Contents, inner.Body)
	}
	return d, true
}
