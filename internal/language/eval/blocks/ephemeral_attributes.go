package blocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// ephemeralAttributes converts the paths of ephemeral_attributes to patterns, and reports paths that lead
// nowhere or to attributes that cannot be kept out of the state (E90).
func (c *compiler) ephemeralAttributes(b *Resource) {
	for _, named := range b.Config.Lifecycle.EphemeralAttributes {
		if diags := c.withhold(b, named, false); diags.HasErrors() {
			c.diags = append(c.diags, diags...)
		}
	}
}

// withhold has a block withhold an attribute, because of the block itself or of a policy.
func (c *compiler) withhold(b *Resource, named config.EphemeralAttribute, policy bool) diag.List {
	pattern, err := b.Schema.Block.Pattern(Path(named.Path))
	problem := ""
	if err != nil {
		problem = "The path leads nowhere: " + strings.TrimSuffix(err.Error(), ".")
		if !strings.HasSuffix(problem, "?") {
			problem += "."
		}
	} else {
		problem = b.cannotWithhold(pattern)
	}
	computed := problem == "" && !b.sets(pattern) && b.Schema.Block.ComputedAt(pattern)
	if computed && named.Version != nil {
		problem = "The provider computes the attribute \"" + schema.PatternString(pattern) + "\", so that it has no version. Name it in a list, or in a policy of the root module."
	}
	if problem != "" {
		return diag.At(named.Path.SourceRange(), "Invalid ephemeral_attributes element", "%s", problem)
	}
	if slices.ContainsFunc(b.Withheld, pattern.Equals) {
		return nil
	}
	b.Withheld = append(b.Withheld, pattern)
	if computed {
		b.Computed = append(b.Computed, pattern)
	}
	if policy {
		b.ByPolicy = append(b.ByPolicy, pattern)
	}
	b.Versions = append(b.Versions, c.expr(b.Module, named.Version, site{repeat: b.Repeat}))
	return nil
}

// ephemeralPolicies applies the ephemeral_attributes blocks of the root module to all resources. A mistake in
// one is reported once.
func (c *compiler) ephemeralPolicies(root *config.Module) {
	for _, p := range root.Ephemeral {
		found, within := false, addr.RootModule
		if p.Module != nil {
			to, _ := addr.TargetFromTraversal(p.Module) // package config has checked it
			if within = to.Module.Module(); c.cfg.Modules[within] == nil {
				c.diags = append(c.diags, diag.At(p.Module.SourceRange(), "No such module", "The configuration has no module at this address.")...)
				continue
			}
		}
		refused := map[hcl.Range]bool{}
		for _, m := range c.cfg.sorted() {
			if !isWithin(m, within) {
				continue
			}
			for _, r := range c.cfg.Modules[m].Config.Order {
				b := c.cfg.Modules[m].Resources[r.Addr]
				if b == nil || r.Addr.Mode != addr.Managed || r.Addr.Type != p.Type || p.Provider != nil && !c.hasProvider(b, p.Provider) {
					continue
				}
				found = true
				for _, named := range p.Names {
					if diags, at := c.withhold(b, named, true), named.Path.SourceRange(); diags.HasErrors() && !refused[at] {
						refused[at], c.diags = true, append(c.diags, diags...)
					}
				}
			}
		}
		if !found {
			c.diags = append(c.diags, diag.At(p.Range, "No resources of this type", "The configuration has no resource of the type %q that this block is about, so that it has no effect.", p.Type).AsWarnings()...)
		}
	}
}

// isWithin reports whether a module is another one, or below it.
func isWithin(m, outer addr.Module) bool {
	for ; m != outer; m, _ = m.Parent() {
		if m.IsRoot() {
			return false
		}
	}
	return true
}

// hasProvider reports whether a resource has a provider configuration of the root module.
func (c *compiler) hasProvider(b *Resource, ref *config.ProviderRef) bool {
	root := c.cfg.Modules[addr.RootModule]
	of, named := b.Module.ProviderFor(b.Config.ProviderRef()), root.ProviderFor(*ref)
	return of == named && (named != nil || b.Provider == root.Config.ProviderFor(ref.Name))
}

// MayBeEphemeral reports whether the argument at a path may have ephemeral values: it is write-only, or
// ephemeral_attributes names it.
func (b *Resource) MayBeEphemeral(path cty.Path) bool {
	return b.Schema.Block.InWriteOnly(path) || b.Withheld.Matches(path)
}

// WithholdHint says how to keep the argument at a path out of the state, as a paragraph;
// "" if that is not possible. With policy set, a policy of the root module is to do it.
func (b *Resource) WithholdHint(path cty.Path, policy bool) string {
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
	if policy {
		return fmt.Sprintf("To keep the value out of the state here too, add to the root module:\nephemeral_attributes %q { names = [%s] }\n\n", b.Config.Addr.Type, schema.PatternString(pattern))
	}
	return "To keep the value out of the state, add to the lifecycle block: ephemeral_attributes = [" + schema.PatternString(pattern) + "]\n\n"
}

// cannotWithhold says why the attribute of a pattern cannot be kept out of the state, "" if it can.
func (b *Resource) cannotWithhold(pattern cty.Path) string {
	name := schema.PatternString(pattern)
	switch {
	case b.Schema.Block.InWriteOnly(pattern):
		return "The attribute \"" + name + "\" is write-only, so that it is never stored. Remove it from the list."
	case b.Provider == addr.BuiltinProvider && (pattern[0] == cty.GetAttrStep{Name: "input"} || pattern[0] == cty.GetAttrStep{Name: "output"}):
		return "The attribute \"output\" repeats \"input\", so that the state would have the value anyway. Use \"input_wo\", which is write-only."
	case len(pattern) == 1 && pattern[0] == cty.GetAttrStep{Name: "id"} && !b.Schema.Block.Settable(pattern):
		return "Objects are found by the attribute \"id\", so that the state has to have it."
	}
	return ""
}

// sets reports whether the configuration sets an attribute or a value around it or in it.
func (b *Resource) sets(pattern cty.Path) bool {
	names := pathNames(pattern)
	return slices.ContainsFunc(Places(b.Config.Body, pattern[:1], cty.NilVal), func(p Place) bool {
		at := pathNames(p.Path)
		n := min(len(at), len(names))
		return !p.Each && slices.Equal(at[:n], names[:n])
	})
}

// pathNames returns the names of attributes and blocks in a path, without keys of elements.
func pathNames(path cty.Path) (names []string) {
	for _, step := range path {
		if attr, ok := step.(cty.GetAttrStep); ok {
			names = append(names, attr.Name)
		}
	}
	return names
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
