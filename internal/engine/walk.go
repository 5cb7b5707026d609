package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/slot"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// walk is one run of the evaluator, of which it is the host.
type walk struct {
	*shared
	run   *eval.Run
	rules ephemeral.Rules // set before anything is opened
}

// shared is the part of a walk that its forks share.
type shared struct {
	*host
	ctx      context.Context // ends when the user insists; operations are abandoned then
	soft     context.Context // ends on the first interrupt; nothing new is started then
	pool     *ephemeral.Pool
	slots    *slot.Pool // of provider operations
	env      *object.Env
	hasher   *fingerprint.Hasher
	computed *computed.Uses // of the walk
	time     time.Time      // the result of timestamp(), zero if that is the moment of its call
	unread   sync.Map       // addr.Instance → string: why a data source that is nested in a check could not be read
}

// newWalk returns a walk without a run. Instances that it opens are recorded by recorder, which may be nil;
// hasher makes the fingerprints of values.
func (h *host) newWalk(ctx, soft context.Context, recorder ephemeral.Recorder, hasher *fingerprint.Hasher) *walk {
	uses := &computed.Uses{}
	leaks := contract.Leaks{Guard: h.opt.Leaks, Policy: h.opt.LeakPolicy, Use: h.opt.Leaks.NewUse()}
	pool := ephemeral.NewPool(ephemeral.Options{
		Ctx: ctx, Soft: soft, Providers: h.providers, Events: h.events, Limit: h.opt.CloseLimit, Now: h.opt.Now,
		Accepted: func(pc addr.ProviderConfig, config cty.Value) bool { return h.accepted.Has(pc, config) }, Instead: h.opt.Instead, Computed: uses.Need, Leaks: h.opt.Leaks, LeakUse: leaks.Use,
		Recorder: recorder,
	})
	hasher.Begin = func() func() {
		_, span := trace.Start(ctx, "hash value")
		return func() { span.Finish(true) }
	}
	env := &object.Env{Ctx: ctx, Providers: h.providers, Events: h.events, Log: h.opt.Log, Leaks: leaks, Hasher: hasher}
	return &walk{shared: &shared{host: h, ctx: ctx, soft: soft, pool: pool, slots: slot.NewPool(h.opt.Parallelism), env: env, hasher: hasher, computed: uses}}
}

// startRun sets the run of a walk that is not a fork.
func (w *walk) startRun(run *eval.Run) {
	w.run = run
	w.computed.Readers = sync.OnceValue(run.LentReaders)
	w.env.Sink = run.Report
	w.pool.Bind(run)
}

// fork returns a walk with a run of its own, made by start, which reports to the same diagnostics.
func (w *walk) fork(start func(*walk) *eval.Run) *walk {
	f := &walk{shared: w.shared}
	f.run = start(f)
	f.run.Diags = w.run.Diags
	return f
}

// interrupted reports whether nothing new may be started.
func (w *walk) interrupted() bool { return w.soft.Err() != nil }

// inSlot runs f in one of the slots for provider operations, which go to the tasks with the highest rank
// first. f must not wait for evaluation, which may itself need a slot. inSlot returns false without running f
// if the walk is interrupted while it waits for a slot or for an observer that is behind.
func (w *walk) inSlot(t *future.Task, f func()) bool {
	turn, ok := w.takeTurn(t)
	defer turn.End()
	if ok {
		f()
	}
	return ok
}

// takeTurn begins a turn, which the caller ends, when a slot is free. ok is false if an interrupt came first.
func (w *walk) takeTurn(t *future.Task) (turn *slot.Turn, ok bool) {
	turn = w.slots.Begin(t.Rank)
	w.events.Await(w.ctx, w.soft)
	return turn, !w.interrupted()
}

// awaitOpenings waits, before an operation on the instance takes a slot, for openings and closings in
// progress of its uses: in the slot, it could only wait too.
func (w *walk) awaitOpenings(t *future.Task, in *eval.Instance) {
	if len(eval.BlockUses(in.Resource.Block)) > 0 {
		w.awaitUses(t, in.Uses(t))
	}
}

func (w *walk) awaitUses(t *future.Task, uses []eval.Use) {
	for busy := w.pool.Busy(uses...); busy != nil; busy = w.pool.Busy(uses...) {
		resume := t.Idle()
		<-busy
		resume()
	}
}

// inSession is inSlot for an operation that uses ephemeral values: f gets the session of user, which ends
// with it.
func (w *walk) inSession(t *future.Task, user any, op event.Op, f func(*ephemeral.Session)) bool {
	turn, ok := w.takeTurn(t)
	defer turn.End()
	if ok {
		defer w.timed(user, op)()
		s := w.pool.NewSession(turn, &w.rules, user, op)
		defer s.End()
		f(s)
	}
	return ok
}

// WithOpened implements eval.Host.
func (w *walk) WithOpened(t *future.Task, user *eval.Value, f func(*eval.Opened)) {
	turn, _ := w.takeTurn(t) // the conditions are evaluated after an interrupt too, but nothing is opened for them
	defer turn.End()
	s := w.pool.NewSession(turn, &w.rules, user, "")
	defer s.End()
	f(s.Opened)
}

// output reports a line printed by a provisioner. It blocks while the observer is far behind, which slows
// the provisioner down; after an interrupt it drops the line instead.
func (w *walk) output(ev event.Event) {
	w.events.Await(w.ctx, w.soft)
	if !w.events.Full() {
		w.events.Report(ev)
	}
}

// errNotConfigured is why a function of a provider configuration cannot be called.
var errNotConfigured = errors.New("its provider could not be configured; the reason is reported separately")

// CallFunction implements eval.Host. A function runs in an unconfigured process unless it belongs to a
// provider configuration.
func (w *walk) CallFunction(t *future.Task, c eval.FunctionCall) (cty.Value, error) {
	args := make([]cty.Value, len(c.Args))
	for i, arg := range c.Args {
		args[i] = w.opt.Leaks.Reveal(leak.Source{Kind: leak.Other, Address: c.Text()}, arg, cty.DynamicPseudoType)
	}
	if c.On == nil {
		return w.providers.CallFunction(w.ctx, c.Provider, c.Name, args)
	}
	p, known := w.pool.Provider(t, c.On) // whose configuration opens nothing, so that no session has to hold it
	if !known {
		return cty.DynamicVal, nil
	}
	if p == nil {
		return cty.DynamicVal, errNotConfigured
	}
	got, err := p.CallFunction(w.ctx, c.Name, args)
	if err == nil {
		got, err = w.acceptResult(c, got)
	}
	return got, err
}

// ConfiguredFunctions implements eval.Host.
func (w *walk) ConfiguredFunctions(t *future.Task, po *eval.ProviderObject) (map[string]*schema.Function, bool) {
	p, _ := w.pool.Provider(t, po)
	if p == nil {
		return nil, false
	}
	all, diags := p.ConfiguredFunctions(w.ctx)
	w.run.Report(diags)
	return all, !diags.HasErrors()
}
