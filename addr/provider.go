package addr

import (
	"fmt"
	"strings"

	registry "github.com/opentofu/registry-address/v2"
)

// Provider is the source address of a provider. It is comparable.
type Provider = registry.Provider

// DefaultHost is the registry host of source addresses that name none.
const DefaultHost = registry.DefaultProviderRegistryHost

// BuiltinProvider is the provider that is part of the program: terraform_data and terraform_remote_state.
var BuiltinProvider = registry.NewProvider(registry.TransitionalBuiltInProviderHost, registry.BuiltInProviderNamespace, "terraform")

// DefaultProvider returns the provider that a local name stands for when required_providers doesn't say: hashicorp/NAME,
// or the built-in provider for "terraform".
func DefaultProvider(name string) Provider {
	if name == "terraform" {
		return BuiltinProvider
	}
	return registry.NewProvider(DefaultHost, "hashicorp", name)
}

// ParseProvider parses a source address such as "hashicorp/random" or "example.com/ns/type".
func ParseProvider(s string) (Provider, error) {
	p, err := registry.ParseProviderSource(s)
	if err != nil {
		return Provider{}, err
	}
	if !p.HasKnownNamespace() {
		p.Namespace = "hashicorp"
	}
	return p, nil
}

// ProviderConfig names a provider configuration in a module instance: a provider block, or the implied empty one of the root module.
type ProviderConfig struct {
	Module   ModuleInstance
	Provider Provider
	Alias    string
	Key      Key // of a provider block with for_each; NoKey otherwise
}

// String returns the form used in the state file, for example
// `module.a.provider["registry.opentofu.org/hashicorp/random"].alias["k"]`.
func (p ProviderConfig) String() string {
	s := join(p.Module.String(), fmt.Sprintf("provider[%q]", p.Provider.String()))
	if p.Alias != "" {
		s += "." + p.Alias
	}
	return s + p.Key.String()
}

// ParseProviderConfig parses the form written by ProviderConfig.String. Old state files have the module path without keys.
func ParseProviderConfig(s string) (ProviderConfig, error) {
	bad := func(why string) (ProviderConfig, error) {
		return ProviderConfig{}, fmt.Errorf("invalid provider configuration address %q: %s", s, why)
	}
	i := strings.LastIndex(s, "provider[")
	if i < 0 {
		return parseLegacyProviderConfig(s)
	}
	pc := ProviderConfig{}
	if i > 0 {
		m, err := ParseModuleInstance(strings.TrimSuffix(s[:i], "."))
		if err != nil {
			return bad(err.Error())
		}
		pc.Module = m
	}
	rest := s[i+len("provider["):]
	source, after, ok := strings.Cut(strings.TrimPrefix(rest, `"`), `"]`)
	if !ok {
		return bad("the source address must be quoted in brackets")
	}
	p, err := ParseProvider(source)
	if err != nil {
		return bad(err.Error())
	}
	pc.Provider = p
	if after == "" {
		return pc, nil
	}
	if after[0] == '.' {
		after = after[1:]
		j := strings.IndexByte(after, '[')
		if j < 0 {
			pc.Alias = after
			return pc, nil
		}
		pc.Alias, after = after[:j], after[j:]
	}
	key, err := parseKeyText(after)
	if err != nil {
		return bad(err.Error())
	}
	pc.Key = key
	return pc, nil
}

// parseLegacyProviderConfig accepts the form of state files before provider source addresses: "provider.aws" and "module.a.provider.aws.alias".
func parseLegacyProviderConfig(s string) (ProviderConfig, error) {
	i := strings.LastIndex(s, "provider.")
	if i < 0 || (i > 0 && s[i-1] != '.') {
		return ProviderConfig{}, fmt.Errorf("invalid provider configuration address %q", s)
	}
	pc := ProviderConfig{}
	if i > 0 {
		m, err := ParseModuleInstance(s[:i-1])
		if err != nil {
			return pc, err
		}
		pc.Module = m
	}
	name, alias, _ := strings.Cut(s[i+len("provider."):], ".")
	pc.Provider, pc.Alias = DefaultProvider(name), alias
	return pc, nil
}
