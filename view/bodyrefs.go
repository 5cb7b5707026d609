package view

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/schema"
)

// bodyReferences lists what the arguments and blocks of a body refer to, with dynamic blocks as they are
// written.
func bodyReferences(body hcl.Body, b *schema.Block) []hcl.Traversal {
	return appendReferences(nil, body, b, nil)
}

// appendReferences leaves out what begins with one of the names in own, which are the iterators of dynamic
// blocks around the body.
func appendReferences(out []hcl.Traversal, body hcl.Body, b *schema.Block, own []string) []hcl.Traversal {
	if body == nil || b == nil {
		return out
	}
	s := bodySchema(b)
	s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}})
	content, _, _ := body.PartialContent(s)
	if content == nil {
		return out
	}
	add := func(expr hcl.Expression) {
		for _, t := range expr.Variables() {
			if !slices.Contains(own, t.RootName()) {
				out = append(out, t)
			}
		}
	}
	for _, name := range sortedNames(content.Attributes) {
		add(content.Attributes[name].Expr)
	}
	for _, block := range content.Blocks {
		if block.Type != "dynamic" {
			if nb := b.Blocks[block.Type]; nb != nil {
				out = appendReferences(out, block.Body, &nb.Block, own)
			}
			continue
		}
		nb := b.Blocks[block.Labels[0]]
		dynamic, _, _ := block.Body.PartialContent(dynamicSchema)
		if nb == nil || dynamic == nil {
			continue
		}
		iterator := block.Labels[0]
		for name, attr := range dynamic.Attributes {
			if name != "iterator" {
				add(attr.Expr)
			} else if word := hcl.ExprAsKeyword(attr.Expr); word != "" {
				iterator = word
			}
		}
		for _, inner := range dynamic.Blocks {
			out = appendReferences(out, inner.Body, &nb.Block, append(slices.Clone(own), iterator))
		}
	}
	return out
}

var dynamicSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "iterator"}, {Name: "labels"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "content"}},
}

func sortedNames(attrs hcl.Attributes) []string {
	names := make([]string, 0, len(attrs))
	for name := range attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
