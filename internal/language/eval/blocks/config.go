package blocks

import (
	"cmp"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// EachResource calls f for every compiled resource block of the tree.
func (c *Config) EachResource(f func(*Resource)) {
	for _, m := range c.Modules {
		for _, b := range m.Resources {
			f(b)
		}
	}
}

// TriggersActions reports whether a resource triggers actions.
func (c *Config) TriggersActions() (found bool) {
	c.EachResource(func(b *Resource) { found = found || len(b.ActionTriggers) > 0 })
	return found
}

// DeclaresType reports whether a type is declared by a variable or belongs to the objects of a resource
// block, so that it reveals nothing beyond the configuration and its providers.
func (c *Config) DeclaresType(ty cty.Type) bool {
	for _, m := range c.Modules {
		for _, b := range m.Resources {
			if b.Schema.Block.Type().Equals(ty) {
				return true
			}
		}
		for _, v := range m.Config.Variables {
			if v.Type.Equals(ty) {
				return true
			}
		}
	}
	return false
}

// ClearsEphemeral reports whether ephemeralasnull or fingerprint is called in the configuration, so that
// outputs may need ephemeral values.
func (c *Config) ClearsEphemeral() bool { return c.clearsEphemeral }

// HasEphemerals reports whether the configuration declares ephemeral resources.
func (c *Config) HasEphemerals() bool { return c.hasEphemerals }

// HasConditions reports whether the block declares preconditions or postconditions.
func (b *Resource) HasConditions() bool { return len(b.Preconditions)+len(b.Postconditions) > 0 }

// HoldsOpen reports whether depends_on, of the block or of a module around it, names something ephemeral.
func (b *Resource) HoldsOpen() bool { return !b.dependsOnOpens.Empty() }

// AsCheckWarnings returns the diagnostics of an operation on the block. For a block nested in a check, all of
// them are warnings.
func (b *Resource) AsCheckWarnings(diags diag.List) diag.List {
	if b.Config.Check == nil {
		return diags
	}
	diags = slices.Clone(diags).AsWarnings()
	for i := range diags {
		if diags[i].Extra == nil {
			diags[i].Extra = diag.CheckWarning{}
		}
	}
	return diags
}

// HasConditions reports whether conditions are declared in the module or below it.
func (b *Module) HasConditions() bool {
	for _, r := range b.Resources {
		if r.HasConditions() {
			return true
		}
	}
	for _, group := range []map[string]*Value{b.Variables, b.Outputs} {
		for _, v := range group {
			if len(v.Conditions) > 0 {
				return true
			}
		}
	}
	for _, c := range b.Calls {
		if c.Child != nil && c.Child.HasConditions() {
			return true
		}
	}
	return false
}

var valuePrefix = [...]string{VariableValue: "var.", LocalValue: "local.", OutputValue: "output."}

// LocalName returns the address of the value within its module.
func (v *Value) LocalName() string { return valuePrefix[v.Kind] + v.Name }

// LocalName returns the name by which the module knows a provider. Of several, it is one that has a
// configuration here, which is the one that child modules inherit, otherwise the first.
func (m *Module) LocalName(p addr.Provider) string {
	var names []string
	for name, r := range m.Config.Required {
		if r.Source == p {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	first := ""
	for _, name := range names {
		ref := config.ProviderRef{Name: name}
		if m.Providers[ref.String()] != nil || m.Config.Passed(ref) != nil {
			return name
		}
		first = cmp.Or(first, name)
	}
	return cmp.Or(first, p.Type)
}

// Uses reports whether a resource, data or ephemeral block of the configuration belongs to the provider
// block.
func (c *Config) Uses(p *Provider) bool {
	for _, m := range c.Modules {
		for _, r := range m.Resources {
			if m.ProviderFor(r.Config.ProviderRef()) == p {
				return true
			}
		}
	}
	return false
}

// ProviderFor follows a provider reference to the block that it means, whatever the instances of modules are;
// nil if there is none.
func (m *Module) ProviderFor(ref config.ProviderRef) *Provider {
	p, _ := followProvider(m, ref, func(*Module, *lang.Expr) bool { return true })
	return p
}

// followProvider is ProviderFor of m. It calls key with each instance key that a call on the way passes, and
// the module that it is evaluated in, and returns false as soon as key does.
func followProvider(m *Module, ref config.ProviderRef, key func(*Module, *lang.Expr) bool) (p *Provider, more bool) {
	if passed := m.Config.Passed(ref); passed != nil {
		if x := m.call().ProviderKeys[ref.String()]; x != nil && !key(m.Parent, x) {
			return nil, false
		}
		return followProvider(m.Parent, *passed, key)
	}
	b := m.Providers[ref.String()]
	if b != nil || ref.Alias != "" || m.Parent == nil {
		return b, true
	}
	return followProvider(m.Parent, config.ProviderRef{Name: m.Parent.LocalName(m.Config.ProviderFor(ref.Name))}, key)
}
