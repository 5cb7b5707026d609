package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lease"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/schema"
)

// walk is what planning and applying share: the run of the evaluator, the pool of what is open, and the slots
// of provider operations.
type walk struct {
	*Engine
	ctx   context.Context // ends when the user insists; operations are abandoned then
	soft  context.Context // ends on the first interrupt; nothing new is started then
	run   *eval.Run
	pool  *lease.Pool[eval.Use, opened]
	slots chan struct{}
	// onlyKnown refuses configurations of providers with unknown parts: what is asked of the providers cannot
	// wait until apply.
	onlyKnown bool
	unread    *sync.Map // addr.Instance → string: why a data source that is nested in a check could not be read

	durable *sync.Map // addr.ProviderConfig → *configured
}

// opened is what the pool holds: an ephemeral object or a provider.
type opened struct {
	object   cty.Value
	provider provider.Provider
	fresh    func() bool // of a provider: whether what it was configured with may still be used, renewing it if it is time
}

// configured is a provider whose configuration holds nothing ephemeral.
type configured struct {
	cell future.Cell[provider.Provider]
}

func (e *Engine) newWalk(ctx, soft context.Context) *walk {
	w := &walk{Engine: e, ctx: ctx, soft: soft, slots: make(chan struct{}, e.opt.Parallelism), unread: &sync.Map{}, durable: &sync.Map{}}
	w.pool = lease.NewPool[eval.Use, opened](lease.Options[eval.Use]{
		Group:      eval.Use.Group,
		Uses:       func(u eval.Use) []eval.Use { return w.run.UsesOf(&future.Task{}, u) },
		CloseLimit: e.opt.CloseLimit,
		CloseTimeout: func(u eval.Use) {
			w.run.Report(w.closeLate(u))
		},
		Now: e.opt.Now,
	})
	return w
}

// interrupted reports whether nothing new may be started.
func (w *walk) interrupted() bool { return w.soft.Err() != nil }

// inSlot runs f while holding one of the slots for provider operations. A task must not wait for evaluation
// within f. It reports false, and has not run f, if the run was interrupted before there was a slot, and an
// observer that keeps up.
func (w *walk) inSlot(f func()) bool {
	w.slots <- struct{}{}
	defer func() { <-w.slots }()
	w.events.Await(w.ctx, w.soft)
	if w.interrupted() {
		return false
	}
	f()
	return true
}

// Slot implements eval.Host.
func (w *walk) Slot(f func()) {
	w.slots <- struct{}{}
	defer func() { <-w.slots }()
	w.events.Await(w.ctx, w.soft)
	f()
}

// output reports a line that a provisioner prints. The provisioner waits for an observer that is far behind.
// After an interrupt the line is left out instead.
func (w *walk) output(ev event.Event) {
	w.events.Await(w.ctx, w.soft)
	if !w.events.Full() {
		w.events.Report(ev)
	}
}

// providerFor returns the provider that works on the instance, configured. If its configuration comes from
// ephemeral resources, s holds a lease on it. What the configuration needs must have been prepared. A nil
// provider means that the reason was reported.
func (w *walk) providerFor(t *future.Task, s *eval.Session, in *eval.Instance) provider.Provider {
	po := in.Provider(t)
	if po == nil {
		return nil
	}
	return w.acquireProvider(t, s, po)
}

func (w *walk) acquireProvider(t *future.Task, s *eval.Session, po *eval.ProviderObject) provider.Provider {
	if po.Opens() {
		return w.leasedProvider(t, s, po)
	}
	v, _ := w.durable.LoadOrStore(po.Addr, &configured{})
	p, cycle := v.(*configured).cell.Get(t, po, nil, func() provider.Provider {
		p, diags := w.durableProvider(t, po)
		w.run.Report(diags)
		return p
	})
	if cycle != nil {
		return nil
	}
	return p
}

// durableProvider returns the provider for a configuration without ephemeral resources: the one that any walk
// has configured alike, or a new one.
func (w *walk) durableProvider(t *future.Task, po *eval.ProviderObject) (provider.Provider, diag.List) {
	cfg, diags := po.EvalBody(t, nil)
	if diags.HasErrors() {
		return nil, diags
	}
	plain, _ := cfg.UnmarkDeep()
	start := func() (provider.Provider, diag.List) { return w.startConfigured(po, plain) }
	if !plain.IsWhollyKnown() {
		p, more := start()
		return p, append(diags, more...)
	}
	p, more := w.providers.Reuse(po.Addr, plain, start)
	return p, append(diags, more...)
}

// startConfigured starts and configures a provider. cfg has no marks.
func (w *walk) startConfigured(po *eval.ProviderObject, cfg cty.Value) (provider.Provider, diag.List) {
	if w.onlyKnown && !cfg.IsWhollyKnown() {
		return nil, unknownConfiguration(po, cfg)
	}
	p, diags := w.providers.Start(w.ctx, po.Addr.Provider)
	if diags.HasErrors() {
		return nil, diags
	}
	at := fmt.Sprintf("provider[%q]", po.Addr.Provider.String())
	var more diag.List
	if !w.valid.accepts(po.Addr, cfg) {
		more = p.ValidateConfig(w.ctx, cfg)
	}
	if !more.HasErrors() {
		more = append(more, p.Configure(w.ctx, cfg)...)
	}
	diags = append(diags, more.InConfigBody(po.Body()).WithAddress(at)...)
	if diags.HasErrors() {
		w.providers.End(p)
		return nil, diags
	}
	return p, diags
}

// leasedProvider returns a provider configured from ephemeral values. Its process ends when its last user is
// done, and only then are the ephemeral resources that it was configured with closed.
func (w *walk) leasedProvider(t *future.Task, s *eval.Session, po *eval.ProviderObject) provider.Provider {
	use := eval.Use{Kind: eval.UseProvider, Provider: po.Addr}
	l, err := w.pool.Acquire(w.ctx, use, func(context.Context) (lease.Opened[opened], error) {
		inner := sessionOf(po, event.OpConfigure)
		var p provider.Provider
		var diags diag.List
		t.Within(po, nil, func() { p, diags = w.openProvider(t, inner, po) })
		w.run.Report(diags)
		if diags.HasErrors() || p == nil {
			inner.End()
			return lease.Opened[opened]{}, errReported
		}
		return lease.Opened[opened]{
			Value: opened{provider: p, fresh: inner.Fresh},
			Close: func(context.Context) { w.providers.End(p) },
			After: inner.End,
		}, nil
	})
	if err != nil {
		w.reportAcquire(use, err)
		return nil
	}
	s.Keep(w.reportUse(s, use, l.Release))
	v, err := l.Value(w.ctx)
	if err != nil {
		w.reportAcquire(use, err)
		return nil
	}
	if !v.fresh() {
		return nil
	}
	s.Check(v.fresh)
	return v.provider
}

// errInterrupted is why nothing is opened after an interrupt.
var errInterrupted = errors.New("the run was interrupted before")

// errReported stands for diagnostics that were already reported.
var errReported = errors.New("the reason was reported")

func (w *walk) openProvider(t *future.Task, s *eval.Session, po *eval.ProviderObject) (provider.Provider, diag.List) {
	cfg, diags := po.EvalBody(t, s)
	if diags.HasErrors() || s.Failed() {
		return nil, diags
	}
	plain, _ := cfg.UnmarkDeep()
	p, more := w.startConfigured(po, plain)
	return p, append(diags, more...)
}

func (w *walk) reportAcquire(u eval.Use, err error) {
	switch {
	case errors.Is(err, lease.ErrExpired):
		if f, ok := errors.AsType[*failedRenewal](err); ok {
			f.fail()
		}
		w.run.Report(w.mildUse(u, diag.Errorf("Ephemeral resource expired",
			"%s could not be renewed, so its value may no longer be valid and is not used any more. The provider's own error is shown separately.", useText(u)).WithAddress(useText(u))))
	case errors.Is(err, errReported):
	default:
		w.run.Report(diag.Errorf("Operation interrupted", "%s was not opened: %s.", useText(u), err).WithAddress(useText(u)))
	}
}

func useText(u eval.Use) string {
	switch u.Kind {
	case eval.UseProvider, eval.UseConfiguration:
		return u.Provider.String()
	case eval.UseBlock:
		return u.Block.String()
	default:
		return u.Instance.String()
	}
}

// CallFunction implements eval.Host: functions run on a process that need not be configured, unless they are
// those of a configuration.
func (w *walk) CallFunction(t *future.Task, c eval.FunctionCall) (cty.Value, error) {
	if c.On == nil {
		return w.providers.CallFunction(w.ctx, c.Provider, c.Name, c.Args)
	}
	p := w.acquireProvider(t, nil, c.On)
	if p == nil {
		return cty.DynamicVal, errUnconfigured
	}
	return p.CallFunction(w.ctx, c.Name, c.Args)
}

var errUnconfigured = errors.New("its provider could not be configured")

// ConfiguredFunctions implements eval.Host.
func (w *walk) ConfiguredFunctions(t *future.Task, po *eval.ProviderObject) (map[string]*schema.Function, diag.List) {
	p := w.acquireProvider(t, nil, po)
	if p == nil {
		return nil, diag.Errorf("Provider not configured", "%s.", errUnconfigured)
	}
	return p.ConfiguredFunctions(w.ctx)
}
