package ephemeral

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/lease"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// providerFor returns the configured provider for an operation on an instance, for which something else may
// answer. A stand-in needs no configuration, so the provider's is not evaluated then. If the configuration
// comes from ephemeral values, h holds a lease on it. A nil provider means that the reason was reported.
func (s *Session) providerFor(t *future.Task, h *holding, po *eval.ProviderObject, i addr.Instance) provider.Reader {
	if got := s.pool.opt.Instead(po.Addr, i); got != nil {
		return got
	}
	if po.Opens() || po.Borrows() {
		return s.leasedProvider(t, h, po)
	}
	return h.known(s.pool.shared(t, po))
}

// Provider returns a configured provider whose configuration opens nothing. The needs of the configuration
// must have been prepared. A nil provider means that the reason was reported or, in a pool that defers, that
// the configuration has unknown parts: known is false then.
func (p *Pool) Provider(t *future.Task, po *eval.ProviderObject) (got provider.Reader, known bool) {
	var h holding
	got = h.known(p.shared(t, po))
	return got, !h.unconfigured
}

// shared returns the provider for a configuration that opens nothing, which all its users share.
func (p *Pool) shared(t *future.Task, po *eval.ProviderObject) provider.Reader {
	cell, _ := p.durable.LoadOrStore(po, &future.Cell[provider.Reader]{})
	got, cycle := cell.(*future.Cell[provider.Reader]).Get(t, po, nil, func() provider.Reader {
		got, diags := p.durableProvider(t, po)
		p.run.Report(diags)
		if got == nil && !diags.HasErrors() {
			return unconfigured
		}
		return got
	})
	if cycle != nil { // of functions of configurations that call each other
		p.run.ReportCycle(cycle)
	}
	return got
}

// durableProvider returns the provider for a configuration that opens nothing: the one that was configured
// alike before, by whatever run, or a new one. One that is configured from an ephemeral variable or from
// tofu.applying is new, and Finish ends it.
func (p *Pool) durableProvider(t *future.Task, po *eval.ProviderObject) (provider.Provider, diag.List) {
	if po.Borrows() {
		return p.borrowingProvider(t, po)
	}
	config, of, diags := p.configuration(t, nil, po)
	if diags.HasErrors() || of.waits {
		return nil, diags
	}
	start := func() (provider.Provider, diag.List) { return p.start(po, config) }
	reuse := start
	if config.IsWhollyKnown() && !of.ephemeral {
		reuse = func() (provider.Provider, diag.List) { return p.user.Reuse(po.Addr, config, start) }
	}
	got, more := reuse()
	if of.ephemeral && got != nil {
		p.brief.add(got)
	}
	return got, append(diags, more...)
}

// borrowingProvider returns a provider, for calls of its functions, whose configuration has computed values
// that are not stored. No record of the configuration is kept.
func (p *Pool) borrowingProvider(t *future.Task, po *eval.ProviderObject) (provider.Provider, diag.List) {
	b := &borrower{Pool: p}
	b.Opened = eval.NewOpened(b)
	defer b.end()
	config, of, diags := p.configuration(t, b.Opened, po)
	if diags.HasErrors() || b.failed || of.waits {
		return nil, diags
	}
	got, more := p.start(po, config)
	return got, append(diags, more...)
}

// nature has properties of the configuration of a provider besides its value.
type nature struct {
	// waits says, in a pool that defers, that there are unknown parts: there is no provider before a later
	// plan then. Parts that are made of values which only this run has do not count, since a later plan does
	// not have them.
	waits     bool
	ephemeral bool // a part is
}

// configuration returns the configuration of a provider without its marks.
func (p *Pool) configuration(t *future.Task, o *eval.Opened, po *eval.ProviderObject) (config cty.Value, of nature, diags diag.List) {
	cfg, diags := po.EvalBody(t, o)
	of = nature{waits: p.Deferring && !value.KnownOnceMade(cfg), ephemeral: value.Contains(cfg, value.Ephemeral)}
	if made := value.MadeOf(cfg); len(made) > 0 && !diags.HasErrors() {
		diags = append(diags, p.opt.Computed("The configuration of "+po.Addr.String(), made).InConfigBody(po.Body()).WithAddress(po.Addr.String())...)
	}
	return p.opt.Leaks.Reveal(leak.Source{Kind: leak.Configuration, Address: po.Addr.String(), Use: p.opt.LeakUse}, cfg, po.Type()), of, diags
}

// brief are the providers that end with the phase that has configured them.
type brief struct {
	mu        sync.Mutex
	providers []provider.Provider
}

func (b *brief) add(p provider.Provider) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.providers = append(b.providers, p)
}

// Finish shuts the pool down and leaves the providers. Those that are configured from ephemeral values
// without an ephemeral resource end: they must not run while a question waits for its answer, or in another
// phase. Nothing may use a provider of the pool any more. It is safe to call more than once.
func (p *Pool) Finish() {
	p.Shutdown()
	p.brief.mu.Lock()
	defer p.brief.mu.Unlock()
	for _, got := range p.brief.providers {
		p.opt.Providers.End(got)
	}
	p.brief.providers = nil
	p.user.Leave()
}

// start starts and configures a provider. config has no marks.
func (p *Pool) start(po *eval.ProviderObject, config cty.Value) (provider.Provider, diag.List) {
	if p.OnlyKnown && !config.IsWhollyKnown() {
		return nil, unknownConfiguration(po, config)
	}
	got, diags := p.opt.Providers.Start(p.opt.Ctx, po.Addr.Provider)
	if diags.HasErrors() {
		return nil, diags
	}
	var more diag.List
	if !p.opt.Accepted(po.Addr, config) {
		more = got.ValidateConfig(p.opt.Ctx, config)
	}
	if !more.HasErrors() {
		more = append(more, got.Configure(p.opt.Ctx, config)...)
	}
	diags = append(diags, more.InConfigBody(po.Body()).WithAddress(po.Addr.String())...)
	if diags.HasErrors() {
		p.opt.Providers.End(got)
		return nil, diags
	}
	return got, diags
}

// leasedProvider returns a provider configured from ephemeral values, on which h holds a lease. Its process
// ends when its last user is done, and only then are the ephemeral resources that it was configured with
// closed.
func (s *Session) leasedProvider(t *future.Task, h *holding, po *eval.ProviderObject) provider.Reader {
	use := eval.Use{Kind: eval.UseProvider, Provider: po.Addr, PreApply: po.Borrows() && po.Run() != s.pool.run}
	_, v, ok := s.acquire(t, h, use, func() (lease.Thing[content], error) {
		defer t.Enter(po, nil)()
		inner, used := s.part(po, event.OpConfigure), false
		defer inner.endUnless(&used)
		got, ok := s.pool.openProvider(t, inner, po)
		if !ok {
			return lease.Thing[content]{}, errReported
		}
		used = true
		if got == nil {
			return lease.Thing[content]{Value: content{provider: unconfigured, fresh: inner.Fresh, putOff: inner.putOff}, Close: func(context.Context) {}, After: inner.End}, nil
		}
		return lease.Thing[content]{
			Value: content{provider: got, fresh: inner.Fresh},
			Close: func(context.Context) { s.pool.opt.Providers.End(got) },
			After: inner.End,
		}, nil
	})
	if !ok || !v.fresh() {
		return nil
	}
	h.checks, h.putOff = append(h.checks, v.fresh), append(h.putOff, v.putOff...)
	return h.known(v.provider)
}

// openProvider starts a provider and configures it with the values that s holds open; nil for one that must
// wait. False says that it failed, which was reported.
func (p *Pool) openProvider(t *future.Task, s *Session, po *eval.ProviderObject) (provider.Provider, bool) {
	config, of, diags := p.configuration(t, s.Opened, po)
	p.run.Report(diags)
	if diags.HasErrors() || s.failed {
		return nil, false
	}
	if of.waits {
		return nil, true
	}
	got, diags := p.start(po, config)
	p.run.Report(diags)
	return got, !diags.HasErrors()
}

// unknownConfiguration is the error for a provider that is needed at once and whose configuration, which has
// no marks, has unknown parts.
func unknownConfiguration(po *eval.ProviderObject, cfg cty.Value) diag.List {
	d := diag.Diagnostic{
		Summary: "Invalid provider configuration",
		Detail: fmt.Sprintf("The configuration of %s depends on what is known only after apply, so the provider cannot be used yet. Apply what it refers to first, if necessary with -target.",
			po.Addr),
		Extra: diag.Unknown{},
	}
	attrs := cfg.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if !attrs[name].IsWhollyKnown() {
			d.Path = cty.GetAttrPath(name)
			break
		}
	}
	return diag.List{d}.InConfigBody(po.Body())
}
