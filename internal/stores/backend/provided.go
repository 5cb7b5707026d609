package backend

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// ProviderArgument is the name, in the configuration of a state store, of the configuration of its provider.
const ProviderArgument = "provider"

// Provided describes a state store of a provider. Nothing is known of its arguments but their schema: each
// may say where states are, and any may be secret.
type Provided struct {
	Type     string // of the state store
	Provider string // the source address
	Version  string // of the provider; "" if it has none
	// Store is the schema of the arguments, and Config is the schema of the provider's configuration.
	Store, Config *schema.Block
	// Validate has the provider validate a configuration, which has no marks and may have unknown values.
	// Diagnostics name attributes in Path, in theirs as the configuration of the provider has them.
	Validate func(ctx context.Context, store, config cty.Value) (ours, theirs diag.List)
	// Connect returns the service of a configuration, which has no marks.
	Connect func(ctx context.Context, store, config cty.Value, env Env) (remote.Service, error)

	// loose is Store without required arguments: the command line may give them. whole is Store with the
	// block of the provider.
	loose, whole *schema.Block
}

// OfProvider returns the kind that is a state store of a provider. It fails if the block would have
// no room for the configuration of the provider.
func OfProvider(p Provided) (*Kind, error) {
	if p.Store.Attributes[ProviderArgument] != nil || p.Store.Blocks[ProviderArgument] != nil {
		return nil, fmt.Errorf("the state store %q of provider %s has an argument %q, where the configuration of the provider is. This is a bug in the provider: report it to its developers", p.Type, p.Provider, ProviderArgument)
	}
	blocks := map[string]*schema.NestedBlock{ProviderArgument: {Block: copyOf(p.Config), Nesting: schema.Single}}
	maps.Copy(blocks, p.Store.Blocks)
	p.loose = &schema.Block{Attributes: map[string]*schema.Attribute{}, Blocks: p.Store.Blocks}
	for name, a := range p.Store.Attributes {
		one := *a
		if one.Required {
			one.Required, one.Optional = false, true
		}
		p.loose.Attributes[name] = &one
	}
	p.whole = &schema.Block{Attributes: p.Store.Attributes, Blocks: blocks}
	return &Kind{
		Name: p.name(), Block: p.whole, Provided: &p,
		service: Service{Connect: func(ctx context.Context, cfg Config, env Env) (remote.Service, error) {
			store, config := p.parts(cfg.Value)
			return p.Connect(ctx, store, config, env)
		}},
	}, nil
}

// copyOf returns a block with the same content, for use as a part of another one.
func copyOf(b *schema.Block) schema.Block {
	return schema.Block{Attributes: b.Attributes, Blocks: b.Blocks}
}

// parts returns the configurations of the store and of the provider.
func (p *Provided) parts(cfg cty.Value) (store, config cty.Value) {
	values := cfg.AsValueMap()
	if config = values[ProviderArgument]; config.IsNull() {
		config = p.Config.Empty()
	}
	delete(values, ProviderArgument)
	return cty.ObjectVal(values), config
}

// Accepts has the provider validate a configuration, which is written in two bodies.
func (p *Provided) Accepts(ctx context.Context, cfg cty.Value, store, provider hcl.Body) diag.List {
	plain, _ := cfg.UnmarkDeep()
	own, config := p.parts(plain)
	ours, theirs := p.Validate(ctx, own, config)
	return append(ours.InConfigBody(store), theirs.InConfigBody(provider)...)
}

// AcceptsShape is Accepts for bodies that were checked, with values that may be unknown. Arguments that the
// command line may give are unknown too.
func (p *Provided) AcceptsShape(ctx context.Context, store, provider hcl.Body) diag.List {
	v, diags := p.loose.Decode(store, nil)
	config, ds := p.Config.Decode(provider, nil)
	if diags = append(diags, ds...); diags.HasErrors() {
		return nil
	}
	values := valuesOf(v)
	for name, a := range p.Store.Attributes {
		if a.Required && values[name].IsNull() {
			values[name] = cty.UnknownVal(a.ValueType())
		}
	}
	values[ProviderArgument] = config
	return p.Accepts(ctx, cty.ObjectVal(values), store, provider)
}

// name is the name of the kind, which no backend has.
func (p *Provided) name() string { return "state_store." + p.Type }

// String names the state store within a sentence.
func (p *Provided) String() string { return fmt.Sprintf("state store %q", p.Type) }

// Same reports whether two kinds are the same backend, or the same state store of the same provider.
func Same(a, b *Kind) bool {
	if a.Provided == nil || b.Provided == nil {
		return a.Name == b.Name && a.Provided == b.Provided
	}
	return a.Name == b.Name && a.Provided.Provider == b.Provided.Provider
}

// DecodeProvider evaluates the configuration of the provider of a state store.
func (p *Provided) DecodeProvider(body hcl.Body) (cty.Value, diag.List) {
	return p.decodeProvider(body, false)
}

func (p *Provided) decodeProvider(body hcl.Body, unknown bool) (cty.Value, diag.List) {
	v, diags := p.Config.Decode(body, nil)
	return v, append(diags, p.wholly(body, v, unknown || diags.HasErrors())...)
}

// CheckProvider is Check for the configuration of the provider.
func (p *Provided) CheckProvider(body hcl.Body) diag.List {
	_, diags := p.decodeProvider(body, true)
	return diags
}

// decode returns the values of the arguments in the body of a state store that are set. They may be
// unknown only if that is allowed.
func (p *Provided) decode(body hcl.Body, unknown bool) (map[string]cty.Value, diag.List) {
	v, diags := p.loose.Decode(body, nil)
	diags = append(diags, p.wholly(body, v, unknown || diags.HasErrors())...)
	if diags.HasErrors() {
		return map[string]cty.Value{}, diags
	}
	values, empty := valuesOf(v), p.loose.Empty().AsValueMap()
	maps.DeleteFunc(values, func(name string, v cty.Value) bool { return v.RawEquals(empty[name]) })
	return values, append(diags, p.loose.DeprecatedUses(v).InConfigBody(body)...)
}

// valuesOf returns the attributes of an object, in a map that can be changed also if there are none.
func valuesOf(v cty.Value) map[string]cty.Value {
	if values := v.AsValueMap(); values != nil {
		return values
	}
	return map[string]cty.Value{}
}

// wholly returns an error unless a value is known, or may be unknown.
func (p *Provided) wholly(body hcl.Body, v cty.Value, unknown bool) diag.List {
	if unknown || v.IsWhollyKnown() {
		return nil
	}
	return diag.At(body.MissingItemRange(), "Invalid configuration of a state store", "A value in the configuration of the %s is not known before the state is read.", p)
}

// secretPaths returns the paths of the parts of a configuration that must not be written to a file in clear:
// those that the schema calls sensitive, and those whose values come from something sensitive or ephemeral.
func (p *Provided) secretPaths(cfg cty.Value) []cty.Path {
	plain, marked := cfg.UnmarkDeepWithPaths()
	paths := append(p.whole.SensitivePaths(plain), p.whole.WriteOnlyPaths(plain)...)
	for _, m := range marked {
		_, sensitive := m.Marks[value.Sensitive]
		_, ephemeral := m.Marks[value.Ephemeral]
		if sensitive || ephemeral {
			paths = append(paths, m.Path)
		}
	}
	return paths
}

// public returns the configuration without marks and with null for its secret parts.
func (p *Provided) public(cfg cty.Value) cty.Value {
	plain, _ := cfg.UnmarkDeep()
	return withoutCredentials(p.whole.NullAt(plain, p.secretPaths(cfg)))
}

// isSecret reports whether an argument has a secret part that is not null.
func (p *Provided) isSecret(cfg cty.Value, name string) bool {
	plain, _ := cfg.UnmarkDeep()
	return slices.ContainsFunc(p.secretPaths(cfg), func(path cty.Path) bool {
		step, ok := path[0].(cty.GetAttrStep)
		part, err := path.Apply(plain)
		return ok && step.Name == name && (err != nil || !part.IsNull())
	})
}

// credentials returns the texts in the secret parts of a configuration.
func (p *Provided) credentials(cfg cty.Value) []string {
	plain, _ := cfg.UnmarkDeep()
	out := credentialsIn(plain)
	for _, path := range p.secretPaths(cfg) {
		if part, err := path.Apply(plain); err == nil {
			leak.Texts(part, func(text string) bool {
				out = append(out, text)
				return true
			})
		}
	}
	return out
}

// PublicOf reports whether public is the public part of a value: the same but for parts that are null.
func PublicOf(public, whole cty.Value) bool {
	if public.IsNull() || public.RawEquals(whole) {
		return true
	}
	if whole.IsNull() || !public.CanIterateElements() || !whole.CanIterateElements() || public.Type().IsSetType() || public.LengthInt() != whole.LengthInt() {
		return false
	}
	for it, other := public.ElementIterator(), whole.ElementIterator(); it.Next() && other.Next(); {
		key, a := it.Element()
		otherKey, b := other.Element()
		if !key.RawEquals(otherKey) || !PublicOf(a, b) {
			return false
		}
	}
	return true
}

// placeOf says for a message which state store a configuration is of, with its public arguments.
func (p *Provided) placeOf(cfg cty.Value) string {
	open := p.public(cfg).AsValueMap()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(open)) {
		switch v := open[name]; {
		case v.IsNull() || !v.IsKnown():
		case v.Type() == cty.String:
			parts = append(parts, fmt.Sprintf("%s = %q", name, v.AsString()))
		case v.Type() == cty.Number:
			parts = append(parts, name+" = "+v.AsBigFloat().Text('f', -1))
		case v.Type() == cty.Bool:
			parts = append(parts, fmt.Sprintf("%s = %t", name, v.True()))
		}
	}
	if len(parts) == 0 {
		return "the " + p.String()
	}
	return fmt.Sprintf("the %s (%s)", p, strings.Join(parts, ", "))
}

// identity returns a text that is the same for the same provider and public arguments.
func (p *Provided) identity(cfg cty.Value) string {
	return fmt.Sprintf("%s %#v", p.Provider, p.public(cfg))
}

// env returns the environment in which a state store is opened: the journals of each configuration
// have a directory of their own, since messages may name several by the same words.
func (p *Provided) env(cfg cty.Value, env Env) Env {
	env.Place = p.placeOf(cfg)
	sum := sha256.Sum256([]byte(p.name() + " " + p.identity(cfg)))
	env.JournalDir = filepath.Join(env.JournalDir, fmt.Sprintf("%x", sum[:8]))
	return env
}
