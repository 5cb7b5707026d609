package blockhash

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// leaving says which arguments of a body are left out of its hash. That there is an argument is hashed
// anyway.
type leaving struct {
	block     *schema.Block   // its write-only arguments; nil for none
	patterns  schema.Patterns // ephemeral attributes
	versions  []*lang.Expr    // of these, nil for none
	ephemeral *blocks.Module  // of a provider configuration, whose ephemeral parts are left out; nil for other blocks
}

// body writes a body as its schema describes it. at is the path from the outermost body. A body that does
// not fit has no hash, so that it is validated again.
func (f *filler) body(b *schema.Block, body hcl.Body, leave leaving, at cty.Path) {
	written, fits := b.Written(body)
	f.world = f.world || !fits
	f.number(len(written.Attributes))
	for _, attr := range written.Attributes {
		f.text(attr.Name)
		f.argument(attr.Expr, b.Attributes[attr.Name], leave, append(slices.Clip(at), cty.GetAttrStep{Name: attr.Name}))
	}
	// The order of blocks of one type matters, the order of types doesn't.
	slices.SortStableFunc(written.Blocks, func(a, b schema.WrittenBlock) int { return strings.Compare(a.Type, b.Type) })
	f.number(len(written.Blocks))
	position := 0
	for i := range written.Blocks {
		block := &written.Blocks[i]
		if i > 0 && written.Blocks[i-1].Type != block.Type {
			position = 0
		}
		if block.Dynamic != nil {
			position = unknown
		}
		f.block(block, leave, at, position)
		if position != unknown {
			position++
		}
	}
}

// unknown is the position of a block that is generated, or that comes after such blocks.
const unknown = -1

func (f *filler) block(block *schema.WrittenBlock, leave leaving, at cty.Path, position int) {
	at = append(slices.Clip(at), cty.GetAttrStep{Name: block.Type})
	f.text(block.Type)
	f.number(len(block.Labels))
	for _, label := range block.Labels {
		f.text(label)
	}
	switch {
	case block.Nesting == schema.Single || block.Nesting == schema.Group:
	case position == unknown:
		at = append(at, schema.EveryElement)
	case block.Nesting == schema.Map:
		at = append(at, cty.IndexStep{Key: cty.StringVal(block.Labels[0])})
	default:
		at = append(at, cty.IndexStep{Key: cty.NumberIntVal(int64(position))})
	}
	d := block.Dynamic
	f.flag(d != nil)
	if d == nil {
		f.body(block.Content, block.Body, leave, at)
		return
	}
	f.text(d.Iterator)
	f.flag(d.ForEach != nil)
	f.flag(d.Labels != nil)
	for _, e := range []hcl.Expression{d.ForEach, d.Labels} {
		if e != nil {
			f.expression(e)
		}
	}
	f.number(len(d.Contents))
	for _, content := range d.Contents {
		f.body(block.Content, content, leave, at)
	}
}

// argument writes the expression of an argument, but for parts that are left out.
func (f *filler) argument(e hcl.Expression, a *schema.Attribute, leave leaving, at cty.Path) {
	o := omitter{f: f, leave: leave, parts: map[hclsyntax.Expression]struct{}{}}
	all := o.omits(e, a, at)
	f.flag(all)
	if all {
		f.leftOut = append(f.leftOut, e.Range())
		return
	}
	for part := range o.parts {
		f.leftOut = append(f.leftOut, part.Range())
	}
	f.syntax(e, o.parts)
}

// omitter finds the parts of an expression that are left out.
type omitter struct {
	f     *filler
	leave leaving
	parts map[hclsyntax.Expression]struct{}
}

// omits reports whether all of an expression is left out, and adds the parts of it that are. a describes
// the expression; nil if the schema does not.
func (o *omitter) omits(e hcl.Expression, a *schema.Attribute, at cty.Path) bool {
	leave := &o.leave
	certain := leave.block != nil && leave.block.InWriteOnly(at) || leave.ephemeral != nil && blocks.WhollyEphemeral(leave.ephemeral, e)
	for i, p := range leave.patterns {
		this, maybe := leadsTo(p, at)
		certain = certain || this
		if maybe && leave.versions[i] == nil {
			o.f.world = true // the value has to be opened to be compared
		}
	}
	if !certain && leave.reachesInto(a, at) {
		o.inside(e, a, at)
	}
	return certain
}

// reachesInto reports whether parts of an argument may be left out.
func (l *leaving) reachesInto(a *schema.Attribute, at cty.Path) bool {
	return l.ephemeral != nil || a != nil && a.Nested != nil || slices.ContainsFunc(l.patterns, func(p cty.Path) bool { return isBelow(p, at) })
}

// isBelow reports whether a pattern may name a part of the value at a path.
func isBelow(pattern, at cty.Path) bool {
	if len(pattern) <= len(at) {
		return false
	}
	_, maybe := leadsTo(pattern[:len(at)], at)
	return maybe
}

// leadsTo reports whether a path leads to or into a value that a pattern names: certainly, or maybe if the
// position of an element is not known.
func leadsTo(pattern, path cty.Path) (certain, maybe bool) {
	if len(pattern) > len(path) {
		return false, false
	}
	certain = true
	for i, step := range pattern {
		switch p := step.(type) {
		case cty.GetAttrStep:
			if path[i] != step {
				return false, false
			}
		case cty.IndexStep:
			at, ok := path[i].(cty.IndexStep)
			if !ok || p.Key.IsKnown() && at.Key.IsKnown() && !p.Key.RawEquals(at.Key) {
				return false, false
			}
			if p.Key.IsKnown() && !at.Key.IsKnown() {
				certain = false
			}
		}
	}
	return certain, true
}

// inside adds the parts of a written-out object or tuple that are left out. Of any other expression, the
// whole is hashed.
func (o *omitter) inside(e hcl.Expression, a *schema.Attribute, at cty.Path) {
	add := func(e hclsyntax.Expression, a *schema.Attribute, step cty.PathStep) {
		if o.omits(e, a, append(slices.Clip(at), step)) {
			o.parts[e] = struct{}{}
		}
	}
	written := true
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		o.inside(e.Expression, a, at)
	case *hclsyntax.TupleConsExpr:
		for i, elem := range e.Exprs {
			add(elem, element(a), cty.IndexStep{Key: cty.NumberIntVal(int64(i))})
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			name, diags := item.KeyExpr.Value(nil)
			if diags.HasErrors() || !name.IsKnown() || name.IsNull() || name.Type() != cty.String {
				written = false
				continue
			}
			inner, step := member(a, o.leave.patterns, at, name.AsString())
			add(item.ValueExpr, inner, step)
		}
	default:
		written = false
	}
	if !written && slices.ContainsFunc(o.leave.patterns, func(p cty.Path) bool { return isBelow(p, at) && o.leave.version(p) == nil }) {
		o.f.world = true
	}
}

// version returns the version of an ephemeral attribute.
func (l *leaving) version(pattern cty.Path) *lang.Expr {
	return l.versions[slices.IndexFunc(l.patterns, pattern.Equals)]
}

// element returns the attribute that describes the elements of a collection of objects.
func element(a *schema.Attribute) *schema.Attribute {
	if a == nil || a.Nested == nil {
		return nil
	}
	return &schema.Attribute{Nested: &schema.Object{Attributes: a.Nested.Attributes, Nesting: schema.Single}}
}

// member returns the attribute that describes a member of an object or map, and the step that leads there.
func member(a *schema.Attribute, patterns schema.Patterns, at cty.Path, name string) (*schema.Attribute, cty.PathStep) {
	key := cty.IndexStep{Key: cty.StringVal(name)}
	if a != nil && a.Nested != nil {
		if a.Nested.Nesting == schema.Map {
			return element(a), key
		}
		return a.Nested.Attributes[name], cty.GetAttrStep{Name: name}
	}
	for _, p := range patterns {
		if isBelow(p, at) {
			if _, keyed := p[len(at)].(cty.IndexStep); keyed {
				return nil, key
			}
		}
	}
	return nil, cty.GetAttrStep{Name: name}
}

// compareStart orders ranges by where they start.
func compareStart(a, b hcl.Range) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), cmp.Compare(a.Start.Byte, b.Start.Byte))
}
