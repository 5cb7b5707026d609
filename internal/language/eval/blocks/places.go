package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Place is an expression that may have produced a part of a decoded body.
type Place struct {
	Path cty.Path // of the part that it gives, as far as it is known, without the keys of elements of sets
	Expr hcl.Expression
	Each bool // it is the for_each of a dynamic block, through whose iterator a value may have come
}

// Places returns the expressions that may have produced the value at path of body, which was decoded to v:
// expressions of attributes and, after these, the for_each of the dynamic blocks around them. v must have no
// marks. If path ends at blocks, the result has all expressions in them.
func Places(body hcl.Body, path cty.Path, v cty.Value) []Place {
	found := placesIn(body, path, v, nil)
	slices.SortStableFunc(found, func(a, b Place) int {
		switch {
		case a.Each == b.Each:
			return 0
		case a.Each:
			return 1
		default:
			return -1
		}
	})
	return found
}

// placesIn is Places with at, the path from the outermost body to this one. A step that names an attribute
// ends the search; a step that names blocks narrows it to the blocks that may have produced the element, by
// comparing their number with the elements of v.
func placesIn(body hcl.Body, path cty.Path, v cty.Value, at cty.Path) []Place {
	if len(path) == 0 {
		return allExprs(body, at)
	}
	step, ok := path[0].(cty.GetAttrStep)
	if !ok {
		return nil
	}
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: step.Name}},
		Blocks:     []hcl.BlockHeaderSchema{schema.DynamicHeader, {Type: step.Name}},
	})
	at = append(slices.Clip(at), step)
	if attr := content.Attributes[step.Name]; attr != nil {
		return []Place{{Path: slices.Concat(at, path[1:]), Expr: descendPath(attr.Expr, path[1:])}}
	}
	var elements cty.Value
	if v != cty.NilVal && v.IsKnown() && !v.IsNull() && v.Type().IsObjectType() && v.Type().HasAttribute(step.Name) {
		elements = v.GetAttr(step.Name)
	}
	rest := path[1:]
	index, inner := -1, cty.NilVal
	if len(rest) > 0 {
		if i, ok := rest[0].(cty.IndexStep); ok {
			at, rest = append(at, i), rest[1:]
			index, inner = position(elements, i.Key)
		}
	}
	var out []Place
	for _, block := range candidates(content.Blocks, step.Name, index, elements) {
		out = append(out, blockPlaces(block, rest, inner, at)...)
	}
	return out
}

// blockPlaces looks into a block or, for a dynamic one, into its content and at its for_each.
func blockPlaces(block *hcl.Block, rest cty.Path, v cty.Value, at cty.Path) []Place {
	dynamic, ok := schema.AsDynamic(block)
	if !ok {
		return placesIn(block.Body, rest, v, at)
	}
	var out []Place
	for _, content := range dynamic.Contents {
		out = append(out, placesIn(content, rest, v, at)...)
	}
	if dynamic.ForEach != nil {
		out = append(out, Place{Path: slices.Concat(at, rest), Expr: dynamic.ForEach, Each: true})
	}
	return out
}

// allExprs returns all expressions in a body, whatever their names.
func allExprs(body hcl.Body, at cty.Path) []Place {
	var out []Place
	attrs, _ := body.JustAttributes() // diagnostics about blocks do not matter here
	for _, attr := range diag.InOrder(attrs) {
		out = append(out, Place{Path: append(slices.Clip(at), cty.GetAttrStep{Name: attr.Name}), Expr: attr.Expr})
	}
	return out
}

// position returns the place of an element in a list and the element; -1 if it has none.
func position(elements, key cty.Value) (int, cty.Value) {
	if key.IsMarked() || !key.IsKnown() || key.IsNull() || key.Type() != cty.Number {
		return -1, cty.NilVal
	}
	n, _ := key.AsBigFloat().Int64()
	if elements == cty.NilVal || !elements.IsKnown() || elements.IsNull() || !elements.CanIterateElements() || !elements.HasIndex(key).True() {
		return int(n), cty.NilVal
	}
	return int(n), elements.Index(key)
}

// candidates returns the blocks that may have given the element at index. How many elements a dynamic block
// gives is not known, but each other block gives one.
func candidates(blocks hcl.Blocks, name string, index int, elements cty.Value) []*hcl.Block {
	own := slices.DeleteFunc(slices.Clone(blocks), func(b *hcl.Block) bool { return b.Type != name && b.Labels[0] != name })
	if index < 0 {
		return own
	}
	total := -1
	if elements != cty.NilVal && elements.IsKnown() && !elements.IsNull() && elements.CanIterateElements() {
		total = elements.LengthInt()
	}
	plain, dynamic := 0, 0 // numbers of blocks
	for _, b := range own {
		if b.Type != name {
			dynamic++
		} else {
			plain++
		}
	}
	var out []*hcl.Block
	plainBefore, dynamicBefore := 0, 0
	for _, b := range own {
		first, last := plainBefore, -1
		if b.Type != name {
			if dynamicBefore++; total >= 0 {
				last = total - 1 - (plain - plainBefore)
			}
		} else {
			plainBefore++
			if total >= 0 {
				last = total - 1 - (plain - plainBefore)
			}
			if dynamicBefore == 0 {
				last = first
			} else if dynamicBefore == dynamic && last >= 0 {
				first = last
			}
		}
		if index >= first && (last < 0 || index <= last) {
			out = append(out, b)
		}
	}
	return out
}

// descendPath follows a path into an expression as far as it is written out there.
func descendPath(e hcl.Expression, path cty.Path) hcl.Expression {
	for _, step := range path {
		var key cty.Value
		switch step := step.(type) {
		case cty.GetAttrStep:
			key = cty.StringVal(step.Name)
		case cty.IndexStep:
			key = step.Key
		}
		next := lang.Element(e, key)
		if next == nil {
			return e
		}
		e = next
	}
	return e
}
