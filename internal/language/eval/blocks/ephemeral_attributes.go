package blocks

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// ephemeralAttributes converts the paths of ephemeral_attributes to patterns, and reports those that lead
// nowhere or to what cannot be kept out of the state (E90).
func (c *compiler) ephemeralAttributes(b *Resource) {
	for _, t := range b.Config.Lifecycle.EphemeralAttributes {
		pattern, err := b.Schema.Block.Pattern(Path(t))
		problem := ""
		if err != nil {
			problem = "The path leads nowhere: " + strings.TrimSuffix(err.Error(), ".")
			if !strings.HasSuffix(problem, "?") {
				problem += "."
			}
		} else {
			problem = b.cannotWithhold(pattern)
		}
		if problem != "" {
			c.diags = append(c.diags, diag.At(t.SourceRange(), "Invalid ephemeral_attributes element", "%s", problem)...)
			continue
		}
		b.Withheld = append(b.Withheld, pattern)
	}
}

// MayBeEphemeral reports whether the argument at a path may have ephemeral values: it is write-only, or
// ephemeral_attributes names it.
func (b *Resource) MayBeEphemeral(path cty.Path) bool {
	return b.Schema.Block.InWriteOnly(path) || b.Withheld.Matches(path)
}

// WithholdHint says how to keep the argument at a path out of the state, as a paragraph;
// "" if that is not possible.
func (b *Resource) WithholdHint(path cty.Path) string {
	if b.Config.Addr.Mode != addr.Managed || len(path) == 0 {
		return ""
	}
	every := slices.Clone(path)
	for i, step := range every {
		if index, ok := step.(cty.IndexStep); ok && index.Key.Type() == cty.Number {
			every[i] = schema.EveryElement
		}
	}
	pattern, err := b.Schema.Block.Pattern(every)
	if err != nil || b.cannotWithhold(pattern) != "" {
		return ""
	}
	return "To keep the value out of the state, add to the lifecycle block: ephemeral_attributes = [" + schema.PatternString(pattern) + "]\n\n"
}

// cannotWithhold says why the attribute of a pattern cannot be kept out of the state, "" if it can.
func (b *Resource) cannotWithhold(pattern cty.Path) string {
	a, name := b.Schema.Block.AttributeAt(pattern), schema.PatternString(pattern)
	for i := range pattern { // the attribute that the pattern leads into
		if at := b.Schema.Block.AttributeAt(pattern[:i+1]); at != nil {
			a = at
		}
	}
	switch {
	case b.Schema.Block.InWriteOnly(pattern):
		return "The attribute \"" + name + "\" is write-only, so that it is never stored. Remove it from the list."
	case a != nil && a.Computed && !a.Optional:
		return "The provider decides about the attribute \"" + name + "\". Only arguments that the configuration sets can be kept out of the state."
	}
	return ""
}

// Path converts a relative traversal to a path, with an unknown key where it stands for every element.
func Path(t hcl.Traversal) cty.Path {
	var path cty.Path
	for _, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			path = append(path, cty.GetAttrStep{Name: s.Name})
		case hcl.TraverseAttr:
			path = append(path, cty.GetAttrStep{Name: s.Name})
		case hcl.TraverseIndex:
			path = append(path, cty.IndexStep{Key: s.Key})
		case hcl.TraverseSplat:
			path = append(path, schema.EveryElement)
		}
	}
	return path
}
