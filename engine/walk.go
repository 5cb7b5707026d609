package engine

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/ephemeral"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/schema"
)

// walk is one run of the evaluator with what its host needs. Every eval.Host of this package embeds it and
// adds the source of its objects.
type walk struct {
	*shared
	run *eval.Run
}

// shared is the part of a walk that its forks share.
type shared struct {
	*Engine
	ctx    context.Context // ends when the user insists; operations are abandoned then
	soft   context.Context // ends on the first interrupt; nothing new is started then
	pool   *ephemeral.Pool
	slots  chan struct{} // of provider operations
	unread sync.Map      // addr.Instance → string: why a data source that is nested in a check could not be read
}

func (e *Engine) newWalk(ctx, soft context.Context) *walk {
	pool := ephemeral.NewPool(ephemeral.Options{
		Ctx: ctx, Soft: soft, Providers: e.providers, Events: e.events, Limit: e.opt.CloseLimit, Now: e.opt.Now,
		Accepted: func(pc addr.ProviderConfig, config cty.Value) bool { return e.valid.accepts(pc, config) },
	})
	return &walk{shared: &shared{Engine: e, ctx: ctx, soft: soft, pool: pool, slots: make(chan struct{}, e.opt.Parallelism)}}
}

// startRun sets the run of a walk that is not a fork.
func (w *walk) startRun(run *eval.Run) {
	w.run = run
	w.pool.Bind(run)
}

// fork returns a walk with a run of its own, which reports to the same diagnostics.
func (w *walk) fork(run *eval.Run) *walk {
	run.Diags = w.run.Diags
	return &walk{shared: w.shared, run: run}
}

// oneInterrupt returns diags with only one of the errors about calls and evaluations that an interrupt ended,
// the first that has a place if any has. It is for commands that change nothing: the others add nothing.
func oneInterrupt(diags diag.List) diag.List {
	ended := func(d diag.Diagnostic) bool { err, _ := d.Extra.(error); return errors.Is(err, context.Canceled) }
	kept := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return ended(d) && d.Subject != nil })
	if kept < 0 {
		kept = slices.IndexFunc(diags, ended)
	}
	var out diag.List
	for i, d := range diags {
		if i == kept || !ended(d) {
			out = append(out, d)
		}
	}
	return out
}

// interrupted reports whether nothing new may be started.
func (w *walk) interrupted() bool { return w.soft.Err() != nil }

// inSlot runs f in one of the slots for provider operations. f must not wait for evaluation, which may
// itself need a slot. inSlot returns false without running f if the walk is interrupted while it waits for a
// slot or for an observer that is behind.
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

// output reports a line printed by a provisioner. It blocks while the observer is far behind, which slows
// the provisioner down; after an interrupt it drops the line instead.
func (w *walk) output(ev event.Event) {
	w.events.Await(w.ctx, w.soft)
	if !w.events.Full() {
		w.events.Report(ev)
	}
}

// providerFor returns the configured provider of the instance, nil if there is none, which was reported. If
// its configuration comes from ephemeral resources, s holds the lease. Everything durable that the
// configuration needs must have been prepared.
func (w *walk) providerFor(t *future.Task, s *eval.Session, in *eval.Instance) provider.Provider {
	po := in.Provider(t)
	if po == nil {
		return nil
	}
	return w.pool.Provider(t, s, po)
}

// CallFunction implements eval.Host. A function runs in an unconfigured process unless it belongs to a
// provider configuration.
func (w *walk) CallFunction(t *future.Task, c eval.FunctionCall) (cty.Value, error) {
	if c.On == nil {
		return w.providers.CallFunction(w.ctx, c.Provider, c.Name, c.Args)
	}
	p := w.pool.Provider(t, nil, c.On)
	if p == nil {
		return cty.DynamicVal, errUnconfigured
	}
	return p.CallFunction(w.ctx, c.Name, c.Args)
}

var errUnconfigured = errors.New("its provider could not be configured")

// ConfiguredFunctions implements eval.Host.
func (w *walk) ConfiguredFunctions(t *future.Task, po *eval.ProviderObject) (map[string]*schema.Function, diag.List) {
	p := w.pool.Provider(t, nil, po)
	if p == nil {
		return nil, diag.Errorf("Provider not configured", "%s.", errUnconfigured)
	}
	return p.ConfiguredFunctions(w.ctx)
}
