package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	registry "github.com/opentofu/registry-address/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

var (
	moduleSchema          = schema("source version count for_each depends_on providers", "lifecycle", "locals")
	moduleLifecycleSchema = schema("enabled")
)

// newModule returns an empty module with all its maps, so that decoding can add to them without a check.
func newModule(path addr.Module, dir string) *Module {
	return &Module{
		Path: path, Dir: dir,
		Children: map[string]*Module{}, Required: map[string]*RequiredProvider{}, ProviderMeta: map[string]*ProviderMeta{},
		Providers: map[string]*Provider{}, Variables: map[string]*Variable{}, Locals: map[string]*Local{}, Outputs: map[string]*Output{},
		Resources: map[addr.Resource]*Resource{}, Calls: map[string]*ModuleCall{}, Checks: map[string]*Check{},
	}
}

// ProviderFor returns the provider with a local name in m: according to required_providers, or the default
// for the name.
func (m *Module) ProviderFor(local string) addr.Provider {
	if rp := m.Required[local]; rp != nil {
		return rp.Source
	}
	return defaultProvider(local)
}

// Uses reports whether the module declares the use of a provider, by its local name: in required_providers
// or with a provider block.
func (m *Module) Uses(local string) bool {
	if m.Required[local] != nil {
		return true
	}
	for _, p := range m.Providers {
		if p.Name == local {
			return true
		}
	}
	return false
}

// defaultProvider is addr.DefaultProvider for any text. A resource type may start with a text that is
// invalid in a provider address, which is reported at the resource's declaration.
func defaultProvider(local string) addr.Provider {
	norm, err := registry.ParseProviderPart(local)
	if err != nil {
		return addr.Provider{Hostname: addr.DefaultHost, Namespace: addr.DefaultNamespace, Type: local}
	}
	return addr.DefaultProvider(norm)
}

// HasAlias reports whether m can use the configuration name.alias: because of its own provider block, or
// because its caller passes it or has to.
func (m *Module) HasAlias(ref ProviderRef) bool {
	if m.Providers[ref.String()] != nil || m.ExpectedAlias(ref) != nil {
		return true
	}
	return m.Required[ref.Name] == nil && m.Passed(ref) != nil
}

// ExpectedAlias returns the entry of configuration_aliases that requires m's caller to pass a
// configuration, or nil if there is none.
func (m *Module) ExpectedAlias(ref ProviderRef) *ProviderRef {
	rp := m.Required[ref.Name]
	if rp == nil {
		return nil
	}
	for i := range rp.Aliases {
		if rp.Aliases[i].Alias == ref.Alias {
			return &rp.Aliases[i]
		}
	}
	return nil
}

// Passed returns the configuration that the caller of m passes for ref, or nil if it passes none. It takes
// precedence over an empty provider block in m. The result is relative to the calling module.
func (m *Module) Passed(ref ProviderRef) *ProviderRef {
	if m.Call == nil {
		return nil
	}
	for i := range m.Call.Providers {
		if p := &m.Call.Providers[i]; p.InChild.Name == ref.Name && p.InChild.Alias == ref.Alias {
			return &p.InParent
		}
	}
	return nil
}

// Empty reports whether the block has no arguments. In a called module, this is an old way to declare that
// the caller should pass a configuration with that name.
func (p *Provider) Empty() bool {
	attrs, diags := p.Body.JustAttributes()
	return len(attrs) == 0 && !diags.HasErrors() && p.ForEach == nil && p.Version.Text == ""
}

// Local reports whether the call's source is a directory relative to the calling module's.
func (c *ModuleCall) Local() bool { return isLocalSource(c.Source) }

// isLocalSource reports whether a source begins with "./" or "../". Backslashes are accepted for
// configurations that were written on Windows.
func isLocalSource(s string) bool {
	return s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		strings.HasPrefix(s, `.\`) || strings.HasPrefix(s, `..\`)
}

// missingSource reports that a module call has no source, or has a misspelled one. rest is its body without
// meta-arguments. All other arguments of a module block are inputs, so the schema can't report a misspelled
// "source".
func (d *reader) missingSource(module string, body, rest hcl.Body) {
	attrs, _ := rest.JustAttributes()
	for _, attr := range inOrder(attrs) {
		if diag.Nearest(attr.Name, []string{"source"}) != "" {
			d.errorAt(attr.NameRange, "Unsupported argument", "An argument named %q is not expected here. Did you mean \"source\"?", attr.Name)
			return
		}
	}
	d.errorAt(body.MissingItemRange(), "Missing required argument", "The argument \"source\" is required, but no definition was found. It tells where module %q comes from.", module)
}

// moduleCall decodes a module block. Arguments that are not meta-arguments are inputs; they are compared
// with the module's variables once that module was read.
func (d *decoder) moduleCall(block *hcl.Block) {
	c := &ModuleCall{Name: block.Labels[0], Range: block.DefRange, SrcRange: block.DefRange}
	if !d.name(block, 0, "module instance name") {
		return
	}
	content, rest := d.partial(block.Body, moduleSchema)
	if attr := content.Attributes["source"]; attr != nil {
		d.moduleSource(c, attr)
	} else {
		d.missingSource(c.Name, block.Body, rest)
	}
	if attr := content.Attributes["version"]; attr != nil {
		if _, ok := constant(attr.Expr); ok {
			c.Version = d.constraint(attr)
		} else {
			c.versionExpr = attr.Expr
		}
		if c.SourceSet && c.Local() {
			d.diags = append(d.diags, versionOfLocal(attr.NameRange, c.Source)...)
		} else {
			c.versionRange = &attr.NameRange
		}
	}
	d.repetition(&c.Repeat, content)
	if b := d.single(content, "lifecycle", "lifecycle block"); b != nil {
		if attr := d.content(b.Body, moduleLifecycleSchema).Attributes["enabled"]; attr != nil {
			c.Repeat.Enabled = attr.Expr
		}
	}
	d.conflicts(c.Repeat)
	for _, b := range content.Blocks.OfType("locals") {
		d.errorAt(b.TypeRange, "Reserved block type name in module block", "The block type name \"locals\" is reserved for use in a future version.")
	}
	c.DependsOn = d.dependsOn(content)
	if attr := content.Attributes["providers"]; attr != nil {
		c.Providers = d.passedProviders(attr)
	}
	c.Inputs = d.attributes(rest)
	d.m.Calls[c.Name] = c
}

// moduleSource decodes a source. One with references is kept as an expression until Loader.Resolve.
func (d *decoder) moduleSource(c *ModuleCall, attr *hcl.Attribute) {
	c.SrcRange = attr.Expr.Range()
	if _, ok := constant(attr.Expr); !ok {
		c.sourceExpr = attr.Expr
		return
	}
	v := d.static(attr, cty.String)
	if v == cty.NilVal {
		return
	}
	if strings.TrimSpace(v.AsString()) == "" {
		d.diags = append(d.diags, emptySource(c.SrcRange)...)
		return
	}
	c.Source, c.SourceSet = v.AsString(), true
}

// passedProviders decodes a providers argument: a map from names in the called module to names in the
// caller. Neither side is evaluated.
func (d *reader) passedProviders(attr *hcl.Attribute) []PassedProvider {
	pairs, diags := hcl.ExprMap(attr.Expr)
	if !d.hcl(diags) {
		return nil
	}
	var out []PassedProvider
	seen := map[string]hcl.Range{}
	for _, p := range pairs {
		child, parent := d.providerRef(p.Key), d.providerRef(p.Value)
		if child == nil || parent == nil {
			continue
		}
		if child.KeyExpr != nil {
			d.errorAt(child.Range, "Invalid provider configuration reference",
				"The name of a provider configuration inside the module can't have an instance key. A module is given single instances: put the key on the right-hand side.")
			continue
		}
		if first, dup := seen[child.String()]; dup {
			d.errorAt(child.Range, "Duplicate provider address",
				"%s already gets a configuration at %s. Remove one of the two entries.", child, diag.Place(first))
			continue
		}
		seen[child.String()] = child.Range
		out = append(out, PassedProvider{InChild: *child, InParent: *parent})
	}
	return out
}
