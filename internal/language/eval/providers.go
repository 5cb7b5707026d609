package eval

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Present reports whether the provider block has this instance. It returns true if the instances are
// unknown.
func (p *ProviderObject) Present(t *future.Task) bool {
	if p.expander == nil || p.Addr.Key == addr.NoKey {
		return true
	}
	e := p.expander.expand(t, nil)
	return e.failed || e.generic || e.has(p.Addr.Key)
}

// Unkeyed reports whether the object has no key although its provider block has instances. An address
// without a key that was recorded in a state leads to such an object.
func (p *ProviderObject) Unkeyed() bool { return p.expander != nil && p.Addr.Key == addr.NoKey }

// EvalBody evaluates the configuration, which may carry marks.
func (p *ProviderObject) EvalBody(t *future.Task, o *Opened) (cty.Value, diag.List) {
	if p.block == nil {
		return p.evalImplied()
	}
	sc := p.scope(t, o)
	if p.Addr.Key == addr.AnyKey || p.expander != nil && p.expander.undecided(t) {
		return cty.UnknownVal(p.Type()), nil
	}
	if sc.each != nil && p.run.opt.Phase != Validating && !p.Present(t) {
		return cty.DynamicVal, diag.At(p.block.Config.Range, "Provider instance not present", "There is no instance %s of this provider block: its for_each has no such key.", p.Addr.Key).WithAddress(sc.address())
	}
	if sc.each != nil && p.expander.expand(t, nil).failed {
		return cty.UnknownVal(p.Type()), p.expander.expand(t, nil).why
	}
	v, diags := settle(t, o, func() (cty.Value, diag.List) { return p.run.decode(sc, p.block.View, p.block.Body) }, nil)
	return v, diags.WithAddress(p.Addr.String())
}

// evalImplied returns the configuration of a provider without a provider block.
func (p *ProviderObject) evalImplied() (cty.Value, diag.List) {
	v, diags := p.schema.Block.Decode(hcl.EmptyBody(), nil)
	for i := range diags {
		diags[i].Subject = nil
		diags[i].Detail += fmt.Sprintf(" The root module has no provider block for %s: add one, with the arguments that it requires.", p.Addr.Provider.ForDisplay())
	}
	return v, diags.WithAddress(p.Addr.String())
}

// users returns the addresses of the resource blocks that belong to the provider block.
func (p *ProviderObject) users() (out []string) {
	p.run.cfg.EachResource(func(r *blocks.Resource) {
		if !r.IsAction() && r.Module.ProviderFor(r.Config.ProviderRef()) == p.block {
			out = append(out, addr.ConfigResource{Module: r.Module.Config.Path, Resource: r.Config.Addr}.String())
		}
	})
	slices.Sort(out)
	return out
}

func (p *ProviderObject) scope(t *future.Task, o *Opened) *scope {
	sc := &scope{m: p.module, t: t, opened: o, of: p.Addr}
	if p.expander != nil {
		sc.each = &eachData{key: p.Addr.Key, of: p.expander}
	}
	return sc
}

// providerRef is a provider configuration found by following names up the module tree.
type providerRef struct {
	module *Module
	block  *blocks.Provider
	key    *lang.Expr // in keyScope
	scope  func(t *future.Task) *scope
}

// Provider returns the provider configuration of the instance, nil if there is none, which is reported. All
// instances of a resource object share it, unless an instance key chooses it.
func (in *Instance) Provider(t *future.Task) *ProviderObject {
	p, _ := providerOf(t, in)
	return p
}

// providerOf returns the provider configuration of an instance, and how it was found; no more than the
// former if the instances of the resource object share it.
func providerOf(t *future.Task, in *Instance) (*ProviderObject, providerRef) {
	if p := in.Resource.provider.Load(); p != nil {
		return p, providerRef{}
	}
	b := in.Resource.Block
	ref := b.Config.ProviderRef()
	found, diags := in.Resource.Module.findProvider(ref, b.ProviderKey, func(t *future.Task) *scope { return in.scope(t, nil) })
	if diags.HasErrors() {
		in.Run().Report(diags)
		return nil, found
	}
	p := in.Run().Providers.get(t, found, b.Provider, ref)
	if found.block == nil || found.block.ForEach == nil {
		in.Resource.provider.Store(p)
	}
	return p, found
}

// addProvider adds the provider configuration of an instance and the references of the key that chooses it,
// which may be in the providers argument of a module call.
func (r *reads) addProvider(t *future.Task, in *Instance) {
	p, found := providerOf(t, in)
	if found.key != nil {
		r.addExprs(found.scope(t), found.key)
	}
	if p != nil {
		r.providers = append(r.providers, p)
	}
}

// Providers has the provider configurations of a run. Its methods may be called concurrently.
type Providers struct {
	run *Run

	mu      sync.Mutex // protects objects
	objects map[addr.ProviderConfig]*ProviderObject
}

func newProviders(r *Run) *Providers {
	return &Providers{run: r, objects: map[addr.ProviderConfig]*ProviderObject{}}
}

// get returns the provider object for a reference that was followed to found, evaluating the instance
// key if the block has for_each. The key is stored in the state with each object, so it must be known and
// not ephemeral.
func (ps *Providers) get(t *future.Task, found providerRef, source addr.Provider, ref config.ProviderRef) *ProviderObject {
	pc := addr.ProviderConfig{Module: found.module.block.Config.Path.Instance(), Provider: source}
	if found.block == nil {
		return ps.object(pc, found)
	}
	pc.Alias = found.block.Config.Alias
	if found.block.ForEach == nil {
		return ps.object(pc, found)
	}
	if found.key == nil {
		if ps.run.opt.Phase == Validating {
			return ps.object(pc, found)
		}
		ps.run.Report(diag.At(ref.Range, "Provider instance key required", "The provider block %q has for_each, so a reference to it must choose an instance, like %s[each.key].", found.block.Config.Ref(), ref))
		return nil
	}
	v, diags := ps.run.eval(found.scope(t), found.key)
	if !diags.HasErrors() {
		diags = append(diags, found.module.block.RefuseEphemeral(v, found.key, "An ephemeral value cannot choose a provider instance: the choice is kept in the state.")...)
	}
	v, _ = v.Unmark()
	if !diags.HasErrors() && !v.IsKnown() && ps.run.opt.Phase == Validating {
		return ps.object(pc, found)
	}
	if !diags.HasErrors() && !v.IsKnown() && ps.run.opt.Deferring {
		pc.Key = addr.AnyKey
		return ps.object(pc, found)
	}
	key, err := addr.KeyFromValue(v)
	if !diags.HasErrors() && (err != nil || key.Kind() != addr.KeyString) {
		diags = append(diags, diag.At(found.key.Range(), "Invalid provider instance key", "The instance key of a provider must be a string that is known before apply.")...)
	}
	if diags.HasErrors() {
		ps.run.Report(diags)
		return nil
	}
	pc.Key = key
	return ps.object(pc, found)
}

// object returns the provider object at pc, creating it on demand. The lock covers the lookup and the
// creation: two objects for one address would configure the provider twice.
func (ps *Providers) object(pc addr.ProviderConfig, found providerRef) *ProviderObject {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.objects[pc]; p != nil {
		return p
	}
	p := &ProviderObject{
		Addr: pc, run: ps.run, module: found.module, block: found.block,
		use: []Use{{Kind: UseProvider, Provider: pc}},
	}
	p.only = &reads{providers: []*ProviderObject{p}}
	if p.block != nil {
		p.schema = p.block.Schema
		if p.block.ForEach != nil {
			p.expander = &expander{module: p.module, repeat: blocks.Repetition{ForEach: p.block.ForEach}, name: pc.String(), users: p.users}
		}
	} else {
		s, diags := ps.run.cfg.Schemas.Provider(pc.Provider)
		ps.run.Report(diags)
		if s == nil {
			s = &schema.Schema{Block: &schema.Block{}}
		}
		p.schema = s
	}
	ps.objects[pc] = p
	return p
}

// findProvider follows a provider reference from a module to the block it refers to: passed by the call,
// declared in the module, or inherited.
func (m *Module) findProvider(ref config.ProviderRef, key *lang.Expr, scope func(*future.Task) *scope) (providerRef, diag.List) {
	if passed := m.block.Config.Passed(ref); passed != nil {
		return m.call.module.findProvider(*passed, m.call.block.ProviderKeys[ref.String()], m.callScope)
	}
	if b := m.block.Providers[ref.String()]; b != nil {
		return providerRef{module: m, block: b, key: key, scope: scope}, nil
	}
	if ref.Alias != "" {
		return m.expectedProvider(ref)
	}
	if m.call == nil {
		return providerRef{module: m}, nil
	}
	parent := m.call.module
	name := parent.block.LocalName(m.block.Config.ProviderFor(ref.Name))
	return parent.findProvider(config.ProviderRef{Name: name, Range: ref.Range}, nil, nil)
}

// expectedProvider is findProvider for a configuration that the caller of m must pass but does not. A module
// validated on its own has no caller.
func (m *Module) expectedProvider(ref config.ProviderRef) (providerRef, diag.List) {
	expected := m.block.Config.ExpectedAlias(ref)
	switch {
	case expected == nil:
		return providerRef{}, diag.At(ref.Range, "Provider configuration not present", "This module has no provider %q block with alias = %q.", ref.Name, ref.Alias)
	case m.call != nil:
		return providerRef{}, diag.At(ref.Range, "Provider configuration not present",
			"This module uses the provider configuration %q, which its caller must pass in the providers argument of the module block.", ref)
	case m.run.opt.Phase == Validating:
		return providerRef{module: m}, nil
	}
	return providerRef{}, diag.At(expected.Range, "Provider configuration not present",
		"This module expects the provider configuration %q from the module that calls it, and as the root module it has no caller. Call it from another module, or add here a provider %q block with alias = %q.",
		ref, ref.Name, ref.Alias)
}

// ByAddr returns the provider configuration at an address recorded in a state. It returns an error
// if the configuration has none; only the root module has configurations without a block. It never
// substitutes another configuration, which may belong to another region or account.
func (ps *Providers) ByAddr(t *future.Task, pc addr.ProviderConfig) (*ProviderObject, diag.List) {
	m := ps.run.Module(pc.Module)
	if m == nil {
		return nil, missingProvider(pc)
	}
	name := config.ProviderRef{Name: m.block.LocalName(pc.Provider), Alias: pc.Alias}
	if b := m.block.Providers[name.String()]; b != nil && b.Source == pc.Provider {
		return ps.object(pc, providerRef{module: m, block: b}), nil
	}
	if pc.Alias != "" || !m.Addr.IsRoot() {
		return nil, missingProvider(pc)
	}
	return ps.object(pc, providerRef{module: ps.run.Root}), nil
}

// Of returns the address of the provider configuration for an instance for which the state recorded
// one. If the block is still declared, the result is its provider configuration, which may have been
// renamed. Nothing is evaluated: for a provider block with for_each, the recorded instance is kept.
func (ps *Providers) Of(a addr.Instance, recorded addr.ProviderConfig) addr.ProviderConfig {
	m := ps.run.cfg.Modules[a.Module.Module()]
	if m == nil || m.Resources[a.Resource] == nil || m.Resources[a.Resource].Provider != recorded.Provider {
		return recorded
	}
	pc := addr.ProviderConfig{Provider: recorded.Provider}
	b := m.ProviderFor(m.Resources[a.Resource].Config.ProviderRef())
	switch {
	case b == nil:
		return pc
	case b.ForEach != nil && recorded.Key == addr.NoKey:
		return recorded
	case b.ForEach != nil:
		pc.Key = recorded.Key
	}
	pc.Module, pc.Alias = b.Module.Config.Path.Instance(), b.Config.Alias
	return pc
}

func missingProvider(pc addr.ProviderConfig) diag.List {
	return diag.Errorf("Provider configuration not present",
		"The state has objects that were made with the provider configuration %s, which is no longer in the configuration. Put the provider block back until these objects are destroyed, or remove the objects from the state.", pc)
}
