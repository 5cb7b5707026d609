package marked

import (
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// keepingBody is a body in which expressions are replaced by those that keep marks.
type keepingBody struct {
	hcl.Body
	replaced map[any]hcl.Expression // by identity
}

// identity returns the key of an expression in the table of replacements. The JSON syntax creates its
// expressions anew on each call, but always at the same place, so their ranges identify them.
func identity(e hcl.Expression) any {
	if _, native := e.(hclsyntax.Expression); native {
		return e
	}
	return e.Range()
}

// Body returns a body that yields, for each of exprs, the expression that keeps marks (see [Expression]).
// exprs are the body's own expressions, at any depth. It returns the body itself if they all keep marks as
// they are.
func Body(body hcl.Body, exprs iter.Seq[hcl.Expression]) hcl.Body {
	replaced := map[any]hcl.Expression{}
	for e := range exprs {
		if keeping := Expression(e); keeping != e {
			replaced[identity(e)] = keeping
		}
	}
	if len(replaced) == 0 {
		return body
	}
	return keepingBody{Body: body, replaced: replaced}
}

// Content implements hcl.Body.
func (b keepingBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, diags := b.Body.Content(s)
	return b.content(content), diags
}

// PartialContent implements hcl.Body.
func (b keepingBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content, rest, diags := b.Body.PartialContent(s)
	return b.content(content), keepingBody{Body: rest, replaced: b.replaced}, diags
}

// JustAttributes implements hcl.Body.
func (b keepingBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	attrs, diags := b.Body.JustAttributes()
	return b.attributes(attrs), diags
}

// content replaces the decoded expressions, and wraps the bodies of blocks.
func (b keepingBody) content(in *hcl.BodyContent) *hcl.BodyContent {
	if in == nil {
		return nil
	}
	out := *in
	out.Attributes = b.attributes(in.Attributes)
	out.Blocks = slices.Clone(in.Blocks)
	for i, block := range in.Blocks {
		c := *block
		c.Body = keepingBody{Body: block.Body, replaced: b.replaced}
		out.Blocks[i] = &c
	}
	return &out
}

// attributes returns a copy in which expressions are replaced. The original belongs to the parsed file.
func (b keepingBody) attributes(in hcl.Attributes) hcl.Attributes {
	out := maps.Clone(in)
	for name, attr := range in {
		if s := b.replaced[identity(attr.Expr)]; s != nil {
			c := *attr
			c.Expr = s
			out[name] = &c
		}
	}
	return out
}
