package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
)

// overlay is a body whose arguments and nested blocks are replaced by the ones in an override file: argument
// by argument, and all nested blocks of a type at once. Blocks of the types in deep are overlaid too. It
// works on bodies rather than on decoded blocks, because the arguments of providers and resources have no
// schema here yet.
//
// Required arguments are looked for in the merged content: the override file alone never has them all.
type overlay struct {
	base, over hcl.Body
	deep       []string
}

// Content implements hcl.Body.
func (o overlay) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	relaxed := diag.Optional(schema)
	base, diags := o.base.Content(relaxed)
	over, overDiags := o.over.Content(relaxed)
	content := o.merge(base, over)
	diags = append(diags, overDiags...)
	return content, append(diags, o.missing(schema, content)...)
}

// PartialContent implements hcl.Body.
func (o overlay) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	relaxed := diag.Optional(schema)
	base, baseRest, diags := o.base.PartialContent(relaxed)
	over, overRest, overDiags := o.over.PartialContent(relaxed)
	content := o.merge(base, over)
	diags = append(diags, overDiags...)
	return content, overlay{base: baseRest, over: overRest}, append(diags, o.missing(schema, content)...)
}

// JustAttributes implements hcl.Body.
func (o overlay) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	base, diags := o.base.JustAttributes()
	over, overDiags := o.over.JustAttributes()
	merged := hcl.Attributes{}
	maps.Copy(merged, base)
	maps.Copy(merged, over)
	return merged, append(diags, overDiags...)
}

// MissingItemRange implements hcl.Body.
func (o overlay) MissingItemRange() hcl.Range { return o.base.MissingItemRange() }

// missing reports the required arguments that neither body has.
func (o overlay) missing(schema *hcl.BodySchema, content *hcl.BodyContent) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, a := range schema.Attributes {
		if a.Required && content.Attributes[a.Name] == nil {
			diags = append(diags, diag.MissingArgument(a.Name, o.MissingItemRange()))
		}
	}
	return diags
}

// merge combines the contents of the two bodies. Blocks of the override file come last, except overlaid ones,
// which keep the place of the base block.
func (o overlay) merge(base, over *hcl.BodyContent) *hcl.BodyContent {
	out := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: o.MissingItemRange()}
	for _, c := range []*hcl.BodyContent{base, over} {
		maps.Copy(out.Attributes, c.Attributes)
	}
	replaced := map[string]bool{}
	deep := map[string]*hcl.Block{}
	for _, b := range over.Blocks {
		if slices.Contains(o.deep, b.Type) && deep[b.Type] == nil {
			deep[b.Type] = b
			continue
		}
		replaced[blockKind(b)] = true
	}
	used := map[string]bool{}
	for _, b := range base.Blocks {
		if d := deep[b.Type]; d != nil && !used[b.Type] {
			merged := *b
			merged.Body = overlay{base: b.Body, over: d.Body}
			used[b.Type] = true
			out.Blocks = append(out.Blocks, &merged)
		} else if !replaced[blockKind(b)] {
			out.Blocks = append(out.Blocks, b)
		}
	}
	for _, b := range over.Blocks {
		if deep[b.Type] != b || !used[b.Type] {
			out.Blocks = append(out.Blocks, b)
		}
	}
	return out
}

// blockKind returns the block type that b represents: for a dynamic block, the type of the generated blocks.
// So a dynamic block replaces written blocks of that type, and the reverse.
func blockKind(b *hcl.Block) string {
	if b.Type == "dynamic" && len(b.Labels) == 1 {
		return b.Labels[0]
	}
	return b.Type
}
