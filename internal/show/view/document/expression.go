package document

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/typearg"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// jsonExpression is the value of a constant expression, or the references of any other. Policy checks follow
// the references to learn the dependencies of a block.
type jsonExpression struct {
	ConstantValue json.RawMessage `json:"constant_value,omitempty"`
	References    []string        `json:"references,omitempty"`
}

// expressionJSON encodes an expression, nil for none. An expression is constant if it evaluates without
// variables and functions. A reference is followed by its prefixes, the longest first: a.b.c, then a.b.
func expressionJSON(expr hcl.Expression) *jsonExpression {
	if expr == nil {
		return nil
	}
	out := &jsonExpression{}
	variables := typearg.Variables(expr)
	if len(variables) == 0 {
		if v, diags := expr.Value(nil); !diags.HasErrors() && v.IsWhollyKnown() {
			out.ConstantValue = valueJSON(v)
		}
	}
	for _, t := range variables {
		for _, prefix := range lang.Prefixes(t) {
			out.References = append(out.References, diag.Reference(prefix))
		}
	}
	out.References = append(out.References, lang.ProviderFunctions(expr)...)
	return out
}

// tellingJSON is expressionJSON, but returns nil for an expression without constant value and references.
func tellingJSON(expr hcl.Expression) *jsonExpression {
	if e := expressionJSON(expr); e != nil && (e.ConstantValue != nil || e.References != nil) {
		return e
	}
	return nil
}

func traversalsJSON(list []hcl.Traversal) []string {
	var out []string
	for _, t := range list {
		out = append(out, diag.Reference(t))
	}
	return out
}

// bodyJSON encodes the expressions of a block: one expression per attribute, an object for a block type that
// occurs at most once, arrays or objects by label for other block types. It returns nil for an empty block.
func bodyJSON(body hcl.Body, b *schema.Block) map[string]any {
	if body == nil || b == nil {
		return nil
	}
	content, _, _ := body.PartialContent(bodySchema(b)) // validation has reported the rest
	if content == nil {
		return nil
	}
	out := map[string]any{}
	for name, attr := range content.Attributes {
		out[name] = expressionJSON(attr.Expr)
	}
	for _, block := range content.Blocks {
		nb := b.Blocks[block.Type]
		if nb == nil {
			continue
		}
		inner := bodyJSON(block.Body, &nb.Block)
		if inner == nil {
			inner = map[string]any{}
		}
		switch nb.Nesting {
		case schema.Single, schema.Group:
			out[block.Type] = inner
		case schema.Map:
			m, _ := out[block.Type].(map[string]any)
			if m == nil {
				m = map[string]any{}
				out[block.Type] = m
			}
			m[block.Labels[0]] = inner
		default:
			list, _ := out[block.Type].([]any)
			out[block.Type] = append(list, inner)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// bodySchema returns the HCL schema that reads a body as its provider schema describes it. Nothing is
// required: the document shows the body as written, and validation has reported missing arguments.
func bodySchema(b *schema.Block) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for name := range b.Attributes {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	for name, nb := range b.Blocks {
		header := hcl.BlockHeaderSchema{Type: name}
		if nb.Nesting == schema.Map {
			header.LabelNames = []string{"key"}
		}
		s.Blocks = append(s.Blocks, header)
	}
	return s
}
