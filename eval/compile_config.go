package eval

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
)

// EachResource calls f for every compiled resource block of the tree.
func (c *Config) EachResource(f func(*ResourceBlock)) {
	for _, m := range c.modules {
		for _, b := range m.resources {
			f(b)
		}
	}
}

// DeclaresType reports whether a type is that of the objects of a resource block, or the one that a variable declares, so that whoever knows the
// configuration and its providers knows all of it.
func (c *Config) DeclaresType(ty cty.Type) bool {
	for _, m := range c.modules {
		for _, b := range m.resources {
			if b.Schema.Block.Type().Equals(ty) {
				return true
			}
		}
		for _, v := range m.cfg.Variables {
			if v.Type.Equals(ty) {
				return true
			}
		}
	}
	return false
}

// NullsEphemeral reports whether ephemeralasnull is called anywhere in the configuration, so that outputs may need ephemeral values.
func (c *Config) NullsEphemeral() bool { return c.nullsEphemeral }

// HasConditions reports whether the block declares preconditions or postconditions.
func (b *ResourceBlock) HasConditions() bool { return len(b.pre)+len(b.post) > 0 }

// holds reports whether depends_on, of the block or of a module around it, names something ephemeral.
func (b *ResourceBlock) holds() bool { return !b.held.empty() }

func (b *moduleBlock) hasConditions() bool {
	for _, r := range b.resources {
		if r.HasConditions() {
			return true
		}
	}
	for _, group := range []map[string]*valueBlock{b.variables, b.outputs} {
		for _, v := range group {
			if len(v.conds) > 0 {
				return true
			}
		}
	}
	for _, c := range b.calls {
		if c.child != nil && c.child.hasConditions() {
			return true
		}
	}
	return false
}

var valuePrefix = [...]string{variableValue: "var.", localValue: "local.", outputValue: "output."}

// localName returns the address of the value within its module.
func (v *valueBlock) localName() string { return valuePrefix[v.kind] + v.name }

// localName returns the name by which m knows a provider.
func (m *moduleBlock) localName(p addr.Provider, like string) string {
	if m.cfg.ProviderFor(like) == p {
		return like
	}
	for _, name := range slices.Sorted(maps.Keys(m.cfg.Required)) {
		if m.cfg.Required[name].Source == p {
			return name
		}
	}
	return p.Type
}

// providerBlockFor follows a provider reference to the block that it means, whatever the instances of modules are; nil if there is none.
func (m *moduleBlock) providerBlockFor(ref config.ProviderRef) *providerBlock {
	if passed := m.cfg.Passed(ref); passed != nil {
		return m.parent.providerBlockFor(*passed)
	}
	b := m.providers[ref.String()]
	if b != nil || ref.Alias != "" || m.parent == nil {
		return b
	}
	return m.parent.providerBlockFor(config.ProviderRef{Name: m.parent.localName(m.cfg.ProviderFor(ref.Name), ref.Name)})
}
