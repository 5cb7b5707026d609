package schema

import (
	"github.com/hashicorp/hcl/v2"
)

// Written is the content of a body before dynamic blocks are expanded.
type Written struct {
	Attributes []*hcl.Attribute // in the order of their names
	Blocks     []WrittenBlock   // in source order
}

// WrittenBlock is a nested block, or a dynamic block in place of several.
type WrittenBlock struct {
	Type    string
	Labels  []string
	Content *Block
	Nesting Nesting  // NestingInvalid for a block in place of an attribute
	Body    hcl.Body // nil for a dynamic block
	Dynamic *Dynamic // nil for a block without repetition
}

// Written returns the content of a body. It returns false if the body has anything that the schema lacks,
// of which Decode reports the details.
func (b *Block) Written(body hcl.Body) (w Written, fits bool) {
	content, diags := body.Content(b.looseSchema())
	if diags.HasErrors() {
		return Written{}, false
	}
	for _, name := range b.known().attrNames {
		if attr := content.Attributes[name]; attr != nil {
			w.Attributes = append(w.Attributes, attr)
		}
	}
	for _, block := range content.Blocks {
		out := WrittenBlock{Type: block.Type, Labels: block.Labels, Body: block.Body}
		if out.Content = b.inner(block.Type); out.Content == nil {
			d, ok := AsDynamic(block)
			if !ok || !wellFormed(block.Body) {
				return Written{}, false
			}
			out.Type, out.Labels, out.Body, out.Dynamic = d.Type, nil, nil, &d
			if out.Content = b.inner(d.Type); out.Content == nil {
				return Written{}, false
			}
		}
		if nested := b.Blocks[out.Type]; nested != nil {
			out.Nesting = nested.Nesting
		}
		w.Blocks = append(w.Blocks, out)
	}
	return w, true
}

// wellFormed reports whether the body of a dynamic block has the arguments of such a block, and nothing
// else.
func wellFormed(body hcl.Body) bool {
	content, diags := body.Content(dynamicSchema)
	if diags.HasErrors() {
		return false
	}
	iterator := content.Attributes["iterator"]
	if iterator == nil {
		return true
	}
	_, diags = hcl.AbsTraversalForExpr(iterator.Expr)
	return !diags.HasErrors()
}
