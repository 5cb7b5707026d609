package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/lang"
)

// strictBody is a view of a body in which loose expressions are replaced by strict ones.
type strictBody struct {
	hcl.Body
	strict map[any]hcl.Expression // by identity
}

// identity is what an expression is known by: the JSON syntax makes its expressions anew each time, but always at the same place.
func identity(e hcl.Expression) any {
	if _, native := e.(hclsyntax.Expression); native {
		return e
	}
	return e.Range()
}

// strictView returns a strict view of a body with the given expressions; the body itself if they are strict as they are.
func strictView(body hcl.Body, exprs []*lang.Expr) hcl.Body {
	replaced := map[any]hcl.Expression{}
	for _, x := range exprs {
		s := strict(x.Expression)
		if s != x.Expression {
			replaced[identity(x.Expression)] = s
		}
	}
	if len(replaced) == 0 {
		return body
	}
	return strictBody{Body: body, strict: replaced}
}

// Content implements hcl.Body.
func (b strictBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, diags := b.Body.Content(s)
	return b.content(content), diags
}

// PartialContent implements hcl.Body.
func (b strictBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content, rest, diags := b.Body.PartialContent(s)
	return b.content(content), strictBody{Body: rest, strict: b.strict}, diags
}

// JustAttributes implements hcl.Body.
func (b strictBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	attrs, diags := b.Body.JustAttributes()
	return b.attributes(attrs), diags
}

func (b strictBody) content(in *hcl.BodyContent) *hcl.BodyContent {
	if in == nil {
		return nil
	}
	out := *in
	out.Attributes = b.attributes(in.Attributes)
	out.Blocks = slices.Clone(in.Blocks)
	for i, block := range in.Blocks {
		c := *block
		c.Body = strictBody{Body: block.Body, strict: b.strict}
		out.Blocks[i] = &c
	}
	return &out
}

func (b strictBody) attributes(in hcl.Attributes) hcl.Attributes {
	out := maps.Clone(in)
	for name, attr := range in {
		if s := b.strict[identity(attr.Expr)]; s != nil {
			c := *attr
			c.Expr = s
			out[name] = &c
		}
	}
	return out
}
