package document

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/constraint"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// configWriter builds the document of a configuration. Provider configurations are collected in one table
// for the whole tree; resources refer to it by key.
type configWriter struct {
	schemas   ConfigSchemas // nil if unknown
	modes     []addr.Mode   // of the resources in the document
	bare      bool          // declarations alone, without expressions and called modules
	providers map[string]jsonProviderConfig
	used      map[*config.Module]map[string]bool // see usedIn
}

// The document of a plan leaves out ephemeral resources (E81); the document of a configuration alone has
// them.
var (
	lastingModes = []addr.Mode{addr.Managed, addr.Data}
	allModes     = []addr.Mode{addr.Managed, addr.Data, addr.Ephemeral}
)

// jsonProviderConfig is a provider configuration: one that a provider block declares, or the empty one of a
// provider that is used without a block.
type jsonProviderConfig struct {
	Name              string         `json:"name"` // the local name in its module
	FullName          string         `json:"full_name"`
	Alias             string         `json:"alias,omitempty"`
	VersionConstraint string         `json:"version_constraint,omitempty"`
	ModuleAddress     string         `json:"module_address,omitempty"`
	Expressions       map[string]any `json:"expressions,omitempty"`
}

// enterProviders enters a module's provider configurations into the table: its provider blocks, and the
// configurations that its default references lead to, if they have no block. The caller enters the parent
// module first, so that inherited configurations are in the table, with their expressions.
func (w *configWriter) enterProviders(m *config.Module) {
	for _, p := range m.Providers {
		pc := providerConfig(m, p.Ref())
		if w.schemas != nil {
			if s := w.schemas.Provider(m.ProviderFor(p.Name)); s != nil {
				pc.Expressions = bodyJSON(p.Body, s.Block)
			}
		}
		w.providers[configKey(m, p.Ref())] = pc
	}
	inDocument := func(ref config.ProviderRef, mode addr.Mode) bool {
		return ref.Alias == "" && slices.Contains(w.modes, mode)
	}
	for name := range localNames(m, inDocument) {
		holder, resolved := w.resolve(m, config.ProviderRef{Name: name})
		key := configKey(holder, resolved)
		if _, known := w.providers[key]; !known {
			w.providers[key] = providerConfig(holder, resolved)
		}
	}
}

// providerConfig returns a provider configuration of module m without expressions.
func providerConfig(m *config.Module, ref config.ProviderRef) jsonProviderConfig {
	return jsonProviderConfig{
		Name: ref.Name, FullName: m.ProviderFor(ref.Name).String(), Alias: ref.Alias, ModuleAddress: m.Path.String(),
		VersionConstraint: constraint.Normal(versionConstraints(m, ref.Name)...),
	}
}

// versionConstraints returns the version constraints that a module has for a provider, from its
// required_providers entry and its provider blocks.
func versionConstraints(m *config.Module, name string) []string {
	var out []string
	if r := m.Required[name]; r != nil {
		out = append(out, r.Version.Text)
	}
	for _, p := range m.Providers {
		if p.Name == name {
			out = append(out, p.Version.Text)
		}
	}
	return out
}

// configKey returns the key of a provider configuration of module m in the table: NAME or NAME.ALIAS, after
// the module's address and a colon unless m is the root module.
func configKey(m *config.Module, ref config.ProviderRef) string {
	if m.Path.IsRoot() {
		return ref.String()
	}
	return m.Path.String() + ":" + ref.String()
}

// providerKey returns the key of the provider configuration that module m means by a reference.
func (w *configWriter) providerKey(m *config.Module, ref config.ProviderRef) string {
	holder, resolved := w.resolve(m, ref)
	return configKey(holder, resolved)
}

// resolve returns the module that has a provider configuration and its name there. It climbs the module
// calls: through explicitly passed configurations, and by inheritance for default ones. A default
// configuration that no module above uses belongs to the module that refers to it.
func (w *configWriter) resolve(m *config.Module, ref config.ProviderRef) (*config.Module, config.ProviderRef) {
	for m.Parent != nil && m.Providers[ref.String()] == nil {
		if passed := m.Passed(ref); passed != nil {
			ref = config.ProviderRef{Name: passed.Name, Alias: passed.Alias}
		} else {
			name, ok := w.inherited(m, ref)
			if !ok {
				return m, ref
			}
			ref = config.ProviderRef{Name: name}
		}
		m = m.Parent
	}
	return m, ref
}

// inherited returns the local name that the parent of m has for a default configuration; ok is false for
// other configurations, and if the parent does not use the provider.
func (w *configWriter) inherited(m *config.Module, ref config.ProviderRef) (name string, ok bool) {
	if ref.Alias != "" || m.Call == nil {
		return "", false
	}
	source := m.ProviderFor(ref.Name)
	if m.Parent.ProviderFor(ref.Name) == source && w.usedIn(m.Parent)[ref.Name] {
		return ref.Name, true
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parent.Required)) {
		if m.Parent.Required[name].Source == source {
			return name, true
		}
	}
	return "", false
}

// usedIn returns the local names of the providers that a module itself requires, configures or uses. It is
// computed once for each module, since every resource of a called module asks.
func (w *configWriter) usedIn(m *config.Module) map[string]bool {
	used, known := w.used[m]
	if !known {
		used = localNames(m, func(config.ProviderRef, addr.Mode) bool { return true })
		w.used[m] = used
	}
	return used
}

// localNames returns the local names of the providers that a module requires or configures, and of those that
// its resources refer to in a way that counts.
func localNames(m *config.Module, counts func(config.ProviderRef, addr.Mode) bool) map[string]bool {
	names := map[string]bool{}
	for name := range m.Required {
		names[name] = true
	}
	for _, p := range m.Providers {
		names[p.Name] = true
	}
	for a, r := range m.Resources {
		if ref := r.ProviderRef(); counts(ref, a.Mode) {
			names[ref.Name] = true
		}
	}
	return names
}
