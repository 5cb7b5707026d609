package lang

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/schema"
)

// CompileBody finds the references of every expression in a body that a schema describes, dynamic blocks included. Arguments that the
// schema doesn't know are passed over: decoding reports them.
func CompileBody(body hcl.Body, block *schema.Block) ([]*Expr, diag.List) {
	w := bodyWalker{}
	w.block(body, block, nil)
	return w.exprs, w.diags
}

type bodyWalker struct {
	exprs []*Expr
	diags diag.List
}

func (w *bodyWalker) expr(e hcl.Expression, scope []string) {
	x, diags := Compile(e, scope...)
	w.diags = append(w.diags, diags...)
	if x != nil && (len(x.Refs) > 0 || len(x.Functions) > 0) {
		w.exprs = append(w.exprs, x)
	}
}

// block walks one body. scope holds the iterators of the dynamic blocks around it.
func (w *bodyWalker) block(body hcl.Body, block *schema.Block, scope []string) {
	body = schema.FixUpAttrsAsBlocks(body, block)
	want := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "dynamic", LabelNames: []string{"type"}}}}
	for name := range block.Attributes {
		want.Attributes = append(want.Attributes, hcl.AttributeSchema{Name: name})
	}
	for name, nested := range block.Blocks {
		header := hcl.BlockHeaderSchema{Type: name}
		if nested.Nesting == schema.Map {
			header.LabelNames = []string{"key"}
		}
		want.Blocks = append(want.Blocks, header)
	}
	content, _, _ := body.PartialContent(want)
	if content == nil {
		return
	}
	for _, attr := range content.Attributes {
		w.expr(attr.Expr, scope)
	}
	for _, b := range content.Blocks {
		if b.Type == "dynamic" {
			if nested := block.Blocks[b.Labels[0]]; nested != nil {
				w.dynamic(b, &nested.Block, scope)
			}
			continue
		}
		w.block(b.Body, &block.Blocks[b.Type].Block, scope)
	}
}

var dynamicSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "iterator"}, {Name: "labels"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "content"}},
}

func (w *bodyWalker) dynamic(b *hcl.Block, nested *schema.Block, scope []string) {
	content, _, _ := b.Body.PartialContent(dynamicSchema)
	if content == nil {
		return
	}
	iterator := b.Labels[0]
	if attr := content.Attributes["iterator"]; attr != nil {
		if name := hcl.ExprAsKeyword(attr.Expr); name != "" {
			iterator = name
		}
	}
	if attr := content.Attributes["for_each"]; attr != nil {
		w.expr(attr.Expr, scope)
	}
	inner := append(append([]string(nil), scope...), iterator)
	if attr := content.Attributes["labels"]; attr != nil {
		w.expr(attr.Expr, inner)
	}
	for _, c := range content.Blocks {
		w.block(c.Body, nested, inner)
	}
}
