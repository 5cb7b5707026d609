package addr

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	registry "github.com/opentofu/registry-address/v2"
)

// Provider is the source address of a provider. It is comparable.
type Provider = registry.Provider

// DefaultHost is the registry host of source addresses that name none.
const DefaultHost = registry.DefaultProviderRegistryHost

// TerraformHost is Terraform's default host, which its states have in the addresses of providers.
const TerraformHost = "registry.terraform.io"

// DefaultNamespace is the namespace of source addresses that name none.
const DefaultNamespace = "hashicorp"

// BuiltinProvider is the provider that is part of the program: terraform_data and terraform_remote_state.
var BuiltinProvider = registry.NewProvider(registry.TransitionalBuiltInProviderHost, registry.BuiltInProviderNamespace, "terraform")

// DefaultProvider returns the provider that a local name stands for when required_providers doesn't say:
// hashicorp/NAME, or the built-in provider for "terraform". A name that no provider can have gives an address
// that no registry knows.
func DefaultProvider(name string) Provider {
	if name == "terraform" {
		return BuiltinProvider
	}
	part, err := registry.ParseProviderPart(name)
	if err != nil {
		part = name
	}
	return Provider{Hostname: DefaultHost, Namespace: DefaultNamespace, Type: part}
}

// ParseProvider parses a source address such as "hashicorp/random" or "example.com/ns/type".
func ParseProvider(s string) (Provider, error) {
	p, err := registry.ParseProviderSource(s)
	if err != nil {
		return Provider{}, err
	}
	if !p.HasKnownNamespace() {
		p.Namespace = DefaultNamespace
	}
	return p, nil
}

// ProviderConfig names a provider configuration: a provider block, or the implied empty one of the root
// module.
type ProviderConfig struct {
	Module   ModuleInstance // without keys: the instances of a module share the configurations that it has of its own
	Provider Provider
	Alias    string
	Key      Key // of a provider block with for_each; NoKey otherwise
}

// String returns the form used in the state file, for example
// `module.a.provider["registry.opentofu.org/hashicorp/random"].alias["k"]`.
func (p ProviderConfig) String() string {
	s := p.Module.Join(fmt.Sprintf("provider[%q]", p.Provider.String()))
	if p.Alias != "" {
		s += "." + p.Alias
	}
	return s + p.Key.String()
}

// ParseProviderConfig parses the form written by ProviderConfig.String. Old state files have the module path
// without keys, and still older ones name providers without a source address: "provider.aws" and
// "module.a.provider.aws.alias".
func ParseProviderConfig(s string) (ProviderConfig, error) {
	bad := func(why any) (ProviderConfig, error) {
		return ProviderConfig{}, fmt.Errorf("invalid provider configuration address %q: %v", s, why)
	}
	t, err := ParseTraversal(s)
	if err != nil {
		return ProviderConfig{}, err
	}
	pc := ProviderConfig{}
	if pc.Module, t, err = SplitModule(t); err != nil {
		return bad(err)
	}
	if len(t) < 2 || StepName(t[0]) != "provider" {
		return bad(`it must have the form provider["SOURCE"]`)
	}
	legacy := StepName(t[1])
	switch legacy {
	case "":
		pc.Provider, err = providerFromStep(t[1])
	case BuiltinProvider.Type:
		pc.Provider = BuiltinProvider
	default:
		pc.Provider, err = ParseProvider(legacy)
	}
	if err != nil {
		return bad(err)
	}
	if t = t[2:]; len(t) > 0 && StepName(t[0]) != "" {
		pc.Alias, t = StepName(t[0]), t[1:]
	}
	if len(t) > 0 && pc.Alias != "" && legacy == "" {
		if idx, ok := t[0].(hcl.TraverseIndex); ok {
			if pc.Key, err = KeyFromValue(idx.Key); err != nil {
				return bad(err)
			}
			t = t[1:]
		}
	}
	if len(t) > 0 {
		return bad("unexpected text at the end")
	}
	return pc, nil
}

func providerFromStep(step hcl.Traverser) (Provider, error) {
	idx, ok := step.(hcl.TraverseIndex)
	if !ok || idx.Key.Type() != cty.String {
		return Provider{}, fmt.Errorf("the source address must be quoted in brackets")
	}
	return ParseProvider(idx.Key.AsString())
}
