package eval

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// ProviderObject is one provider configuration: a provider block (or one instance of it), or the empty configuration that is implied.
type ProviderObject struct {
	Addr addr.ProviderConfig

	run    *Run
	module *Module
	block  *providerBlock // nil for an implied configuration
	schema *schema.Schema
	each   *repeated
	reads  future.Cell[*reads]
}

// Body returns the body of the provider block, nil for an implied configuration.
func (p *ProviderObject) Body() hcl.Body {
	if p.block == nil {
		return nil
	}
	return p.block.cfg.Body
}

// Opens reports whether the configuration may come from ephemeral resources.
func (p *ProviderObject) Opens() bool { return p.block != nil && !p.block.opens.empty() }

// Present reports whether the provider block has this instance, as far as that can be told.
func (p *ProviderObject) Present(t *future.Task) bool {
	if p.each == nil || p.Addr.Key == addr.NoKey {
		return true
	}
	e := p.each.expand(t, nil)
	return e.failed || e.generic || e.has(p.Addr.Key)
}

// EvalBody evaluates the configuration, which may carry marks.
func (p *ProviderObject) EvalBody(t *future.Task, s *Session) (cty.Value, diag.List) {
	if p.block == nil {
		return p.schema.Block.Empty(), nil
	}
	sc := p.scope(t, s)
	if sc.rep != nil && !p.each.expand(t, nil).has(p.Addr.Key) && p.run.opt.Phase != Validating {
		return cty.DynamicVal, diag.At(p.block.cfg.Range, "Provider instance not present", "There is no instance %s of this provider block: its for_each has no such key.", p.Addr.Key).WithAddress(sc.address)
	}
	v, diags := p.run.decode(sc, p.schema.Block, p.block.view, p.block.body)
	return v, diags.WithAddress(p.Addr.String())
}

func (p *ProviderObject) scope(t *future.Task, s *Session) *scope {
	sc := &scope{m: p.module, t: t, sess: s, address: p.Addr.String()}
	if p.each != nil {
		sc.rep = &rep{key: p.Addr.Key, of: p.each}
	}
	return sc
}

func (p *ProviderObject) readSet(t *future.Task) *reads {
	got, cycle := p.reads.Get(t, p, nil, func() *reads {
		out := &reads{}
		if p.block != nil {
			sc := p.scope(t, nil)
			sc.collectReads(out, p.block.each)
			sc.collectReads(out, p.block.body...)
		}
		return out
	})
	if cycle != nil || got == nil {
		return &reads{}
	}
	return got
}

// Prepare demands everything durable that the configuration needs.
func (p *ProviderObject) Prepare(t *future.Task) {
	pr := preparer{t: t, seen: map[any]struct{}{p: {}}}
	pr.reads(p.readSet(t))
}

// providerRef is a provider configuration found by following names up the module tree.
type providerRef struct {
	module *Module
	block  *providerBlock
	key    *lang.Expr // in keyScope
	scope  func(t *future.Task) *scope
}

// Provider returns the provider configuration of the instance, nil if there is none, which is reported.
func (in *Instance) Provider(t *future.Task) *ProviderObject {
	b := in.Resource.Block
	ref := b.Config.ProviderRef()
	found, diags := in.Resource.Module.findProvider(ref, b.providerKey, func(t *future.Task) *scope { return in.scope(t, nil) })
	if diags.HasErrors() {
		in.Run().Report(diags)
		return nil
	}
	return in.Run().provider(t, found, b.Provider, ref)
}

func (r *Run) provider(t *future.Task, found providerRef, source addr.Provider, ref config.ProviderRef) *ProviderObject {
	pc := addr.ProviderConfig{Module: found.module.Addr, Provider: source}
	if found.block == nil {
		return r.providerObject(pc, found)
	}
	pc.Alias = found.block.cfg.Alias
	if found.block.each == nil {
		return r.providerObject(pc, found)
	}
	if found.key == nil {
		if r.opt.Phase == Validating {
			return r.providerObject(pc, found)
		}
		r.Report(diag.At(ref.Range, "Provider instance key required", "The provider block %q has for_each, so a reference to it must choose an instance, like %s[each.key].", found.block.cfg.Ref(), ref))
		return nil
	}
	v, diags := r.eval(found.scope(t), found.key)
	if !diags.HasErrors() {
		diags = append(diags, found.module.block.refuseEphemeral(v, found.key, "An ephemeral value cannot choose a provider instance: the choice is kept in the state.")...)
	}
	v, _ = v.Unmark()
	if !diags.HasErrors() && !v.IsKnown() && r.opt.Phase == Validating {
		return r.providerObject(pc, found)
	}
	key, err := addr.KeyFromValue(v)
	if !diags.HasErrors() && (err != nil || key.Kind() != addr.KeyString) {
		diags = append(diags, diag.At(found.key.Range(), "Invalid provider instance key", "The instance key of a provider must be a string that is known before apply.")...)
	}
	if diags.HasErrors() {
		r.Report(diags)
		return nil
	}
	pc.Key = key
	return r.providerObject(pc, found)
}

func (r *Run) providerObject(pc addr.ProviderConfig, found providerRef) *ProviderObject {
	r.providersMu.Lock()
	defer r.providersMu.Unlock()
	if p := r.providers[pc]; p != nil {
		return p
	}
	p := &ProviderObject{Addr: pc, run: r, module: found.module, block: found.block}
	if p.block != nil {
		p.schema = p.block.schema
		if p.block.each != nil {
			p.each = &repeated{module: p.module, repeat: repetition{forEach: p.block.each}, name: pc.String()}
		}
	} else {
		s, diags := r.cfg.schemas.Provider(pc.Provider)
		r.Report(diags)
		if s == nil {
			s = &schema.Schema{Block: &schema.Block{}}
		}
		p.schema = s
	}
	r.providers[pc] = p
	return p
}

// findProvider follows a provider reference from a module to the block that it means: declared here, passed by the call, or inherited.
func (m *Module) findProvider(ref config.ProviderRef, key *lang.Expr, scope func(*future.Task) *scope) (providerRef, diag.List) {
	b := m.block.providers[ref.String()]
	if m.call == nil {
		if b != nil {
			return providerRef{module: m, block: b, key: key, scope: scope}, nil
		}
		if ref.Alias == "" {
			return providerRef{module: m}, nil
		}
		return providerRef{}, diag.At(ref.Range, "Provider configuration not present", "The root module has no provider %q block with alias = %q.", ref.Name, ref.Alias)
	}
	for _, passed := range m.call.block.cfg.Providers {
		if passed.InChild.Name == ref.Name && passed.InChild.Alias == ref.Alias {
			parent := m.call.module
			return parent.findProvider(passed.InParent, m.run.compiledKey(passed.InParent.KeyExpr), m.callScope)
		}
	}
	if b != nil && !b.stub {
		return providerRef{module: m, block: b, key: key, scope: scope}, nil
	}
	if ref.Alias != "" {
		return providerRef{}, diag.At(ref.Range, "Provider configuration not present",
			"This module uses the provider configuration %q, which its caller must pass in the providers argument of the module block.", ref)
	}
	parent := m.call.module
	name := parent.block.localName(m.block.cfg.ProviderFor(ref.Name), ref.Name)
	return parent.findProvider(config.ProviderRef{Name: name, Range: ref.Range}, nil, nil)
}

// callScope is the scope of the arguments of the call that made m.
func (m *Module) callScope(t *future.Task) *scope {
	return &scope{m: m.call.module, rep: m.call.rep(m.key), t: t}
}

func (r *Run) compiledKey(e hcl.Expression) *lang.Expr {
	if e == nil {
		return nil
	}
	r.providersMu.Lock()
	defer r.providersMu.Unlock()
	if x := r.keyExprs[e]; x != nil {
		return x
	}
	x, diags := lang.Compile(e)
	r.Report(diags)
	r.keyExprs[e] = x
	return x
}

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

// ProviderByAddr returns the provider configuration at an address that a state recorded. It fails with an explanation if the configuration has none.
func (r *Run) ProviderByAddr(t *future.Task, pc addr.ProviderConfig) (*ProviderObject, diag.List) {
	m := r.Module(pc.Module)
	if m == nil && pc.Alias == "" {
		m = r.Root
		pc.Module = addr.RootInstance
	}
	if m == nil {
		return nil, missingProvider(pc)
	}
	name := config.ProviderRef{Name: m.block.localName(pc.Provider, pc.Provider.Type), Alias: pc.Alias}
	if b := m.block.providers[name.String()]; b != nil && b.source == pc.Provider {
		return r.providerObject(pc, providerRef{module: m, block: b}), nil
	}
	if pc.Alias != "" || !m.Addr.IsRoot() {
		if pc.Alias == "" {
			pc.Module = addr.RootInstance
			return r.ProviderByAddr(t, pc)
		}
		return nil, missingProvider(pc)
	}
	return r.providerObject(pc, providerRef{module: r.Root}), nil
}

func missingProvider(pc addr.ProviderConfig) diag.List {
	return diag.Errorf("Provider configuration not present",
		"The state has objects that were made with the provider configuration %s, which is no longer in the configuration. Put the provider block back until these objects are destroyed, or remove them from the state.", pc)
}

// ValidateProviders evaluates every provider block of a module object, for validation. f is called with each configuration without marks.
func (m *Module) ValidateProviders(t *future.Task, f func(addr.ProviderConfig, cty.Value) diag.List) {
	for _, b := range inOrder(m.block.providers) {
		pc := addr.ProviderConfig{Module: m.Addr, Provider: b.source, Alias: b.cfg.Alias}
		p := m.run.providerObject(pc, providerRef{module: m, block: b})
		v, diags := p.EvalBody(t, nil)
		if !diags.HasErrors() {
			plain, _ := v.UnmarkDeep()
			diags = append(diags, f(pc, plain).InConfigBody(b.cfg.Body)...)
		}
		m.run.Report(diags.WithAddress(fmt.Sprintf("provider[%q]", b.source.String())))
	}
}

// Secret reports whether a provider configuration carries an ephemeral value.
func Secret(v cty.Value) bool { return value.Contains(v, value.Ephemeral) }
