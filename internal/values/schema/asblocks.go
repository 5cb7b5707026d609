package schema

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
)

// attrsAsBlocks returns, for each attribute that may also be written as blocks, the block that describes
// one element. Only lists and sets of objects qualify: the SDK that providers used before protocol 6 could
// declare blocks that way, and configurations were written for it.
//
//	ingress { port = 80 }
//	ingress { port = 443 }  # as  ingress = [{ port = 80 }, { port = 443 }]
func (b *Block) attrsAsBlocks() map[string]*Block {
	return b.derived.asBlocks.get(func() map[string]*Block {
		var candidates map[string]*Block
		for name, attr := range b.Attributes {
			if attr.Nested != nil || attr.Type == cty.NilType || !(attr.Type.IsListType() || attr.Type.IsSetType()) {
				continue
			}
			element := attr.Type.ElementType()
			if !element.IsObjectType() || len(element.AttributeTypes()) == 0 {
				continue
			}
			if candidates == nil {
				candidates = map[string]*Block{}
			}
			candidates[name] = blockOf(element)
		}
		return candidates
	})
}

// blockOf describes an object type as a block in which everything is optional.
func blockOf(object cty.Type) *Block {
	block := &Block{Attributes: map[string]*Attribute{}}
	for name, typ := range object.AttributeTypes() {
		block.Attributes[name] = &Attribute{Type: typ, Optional: true}
	}
	return block
}

// elementsExpr is the expression of an attribute that was written as blocks.
type elementsExpr struct {
	element *Block
	attr    *Attribute
	blocks  hcl.Blocks // their bodies have been wrapped for element
}

// Value implements hcl.Expression.
func (e elementsExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	elements := make([]cty.Value, 0, len(e.blocks))
	for _, block := range e.blocks {
		v, moreDiags := hcldec.Decode(block.Body, e.element.Spec(), ctx)
		diags = append(diags, moreDiags...)
		if isUnknown(block.Body) {
			return cty.UnknownVal(e.attr.ValueType()).WithMarks(marksOf(block.Body)), diags
		}
		elements = append(elements, v.WithMarks(marksOf(block.Body)))
	}
	if diags.HasErrors() {
		return cty.UnknownVal(e.attr.ValueType()), diags
	}
	// The elements may differ in type where the schema leaves a type open: the conversion to the attribute's
	// type decides.
	return cty.TupleVal(elements), diags
}

// Variables implements hcl.Expression.
func (e elementsExpr) Variables() []hcl.Traversal {
	var variables []hcl.Traversal
	for _, block := range e.blocks {
		variables = append(variables, hcldec.Variables(block.Body, e.element.Spec())...)
	}
	return variables
}

// Range implements hcl.Expression. It is the range of the first block: blocks need not stand side by side.
func (e elementsExpr) Range() hcl.Range { return e.blocks[0].DefRange }

// StartRange implements hcl.Expression.
func (e elementsExpr) StartRange() hcl.Range { return e.blocks[0].DefRange }
