package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/lease"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// opener opens one ephemeral instance.
type opener struct {
	*Pool
	in *eval.Instance
	t  *future.Task
	s  *Session // for the uses of the instance itself; lives until it is closed
	p  provider.Reader

	private []byte         // the newest, for Renew and Close; renewals never overlap each other or Close
	failing *failedRenewal // nil if the last renewal succeeded

	record     uint64 // that the recorder has of the opening
	unanswered bool   // the call may have reached the provider, which has not answered
}

// span begins the span of an operation on the instance. It is a child of the walk's span, not of a user's:
// there may be many users, and they may end before the instance is closed.
func (o *opener) span(ctx context.Context, op event.Op) (context.Context, *trace.Span) {
	ctx, span := trace.Start(trace.With(ctx, trace.Of(o.opt.Ctx)), string(op))
	if span != nil {
		span.Set(trace.Address, o.in.Addr().String())
		span.Set(trace.Type, o.typeName())
	}
	return ctx, span
}

func (o *opener) typeName() string     { return o.in.Config().Addr.Type }
func (o *opener) block() *schema.Block { return o.in.Resource.Block.Schema.Block }
func (o *opener) object() addr.Object  { return addr.Object{Instance: o.in.Addr()} }

// report reports problems of the instance.
func (o *opener) report(diags diag.List) {
	o.run.Report(o.in.Resource.Block.AsCheckWarnings(o.locate(diags)))
}

func (o *opener) locate(diags diag.List) diag.List {
	return diags.InConfigBody(o.in.Config().Body).WithAddress(o.in.Addr().String())
}

// open opens the instance. Preconditions and the configuration are evaluated before the provider is started:
// neither needs it, and the instance may be found pending. On an error the session ends here; otherwise the
// lease ends it.
func (o *opener) open() (thing lease.Thing[content], err error) {
	used := false
	defer o.s.endUnless(&used)
	o.s.Open(o.t, o.in.Held(o.t))
	if !o.in.Preconditions(o.t, o.s.Opened) {
		return thing, errReported
	}
	o.openTogether()
	cfg, diags := o.in.EvalBody(o.t, o.s.Opened)
	if made := value.MadeOf(cfg); len(made) > 0 && !diags.HasErrors() {
		diags = append(diags, o.opt.Computed("The configuration of "+o.in.Addr().String(), made)...)
	}
	o.report(diags)
	if diags.HasErrors() || o.s.Failed() {
		return thing, errReported
	}
	config := o.opt.Leaks.Reveal(leak.Source{Kind: leak.Other, Address: o.in.Addr().String()}, cfg, o.block().Type())
	if o.lacks() {
		used = true
		return o.unreachable(o.s.putOff...), nil
	}
	if !config.IsWhollyKnown() || o.s.rules.pending(o.t, o.in) {
		thing, err = o.deferred(config)
		used = err == nil
		return thing, err
	}
	if po := o.in.Provider(o.t); po != nil && o.p == nil {
		o.p = o.s.providerFor(o.t, &o.s.holding, po, o.in.Addr())
	}
	if o.p == nil && o.s.unconfigured {
		used = true
		return o.unreachable(o.s.putOff...), nil
	}
	if o.p == nil {
		return thing, errReported
	}
	if diags = o.validate(config); diags.HasErrors() {
		return thing, errReported
	}
	thing, err = o.callOpen(cfg, config)
	used = err == nil
	return thing, err
}

// validate has the provider validate the configuration, and reports its findings.
func (o *opener) validate(config cty.Value) (diags diag.List) {
	defer o.s.turn.Call()()
	if o.opt.Soft.Err() == nil {
		diags = o.p.ValidateResource(o.opt.Ctx, addr.Ephemeral, o.typeName(), config)
	}
	o.report(diags)
	return diags
}

// openTogether opens the needs of the configuration and of the provider at once, if both need something open
// and the instance is not pending.
func (o *opener) openTogether() {
	po := o.in.Provider(o.t)
	if po == nil || !po.Opens() || !o.in.Resource.Block.BodyOpens() {
		return
	}
	if o.run.Phase() == eval.Applying || !mustWait(o.t, o.in, o.s.rules, map[*eval.Instance]struct{}{}) {
		o.p = o.s.Provider(o.t, po, o.in.Addr(), o.s.BodyNeeds(o.t, o.in)...)
	}
}

// mustWait reports whether an instance cannot be opened yet, because of its own configuration or because
// something that it refers to cannot. seen has the instances that were found not to be.
func mustWait(t *future.Task, in *eval.Instance, rules *Rules, seen map[*eval.Instance]struct{}) bool {
	if _, ok := seen[in]; ok {
		return false
	}
	seen[in] = struct{}{}
	needs, known := in.BodyRequires(t)
	return !known || rules.pending(t, in) || slices.ContainsFunc(needs, func(n eval.Need) bool { return mustWait(t, n.Instance, rules, seen) })
}

// deferred returns the result for an instance that cannot be opened yet: the known parts of its
// configuration, with everything else unknown. During an apply, it is an error: nothing can become known
// later.
func (o *opener) deferred(config cty.Value) (lease.Thing[content], error) {
	if o.run.Phase() == eval.Applying {
		o.report(diag.Errorf("Ephemeral resource configuration still unknown",
			"%s cannot be opened: its configuration is still not wholly known, although everything that it refers to has been applied. This is usually caused by a provider that left an attribute unknown.", o.in.Addr()))
		return lease.Thing[content]{}, errReported
	}
	o.opt.Events.Report(event.Event{Kind: event.Deferred, Op: event.OpOpen, Object: o.object()})
	v := schema.PlannedDataObject(o.block(), config)
	return lease.Thing[content]{
		Value: content{object: o.mark(v)},
		Close: func(context.Context) {},
		After: o.s.End,
	}, nil
}

func (o *opener) mark(v cty.Value) cty.Value {
	return value.Ephemerally(value.MarkPaths(v, o.block().SensitivePaths(v), value.Sensitive), o.block().Type())
}

// callOpen calls the provider with the configuration, which is given with marks too, and checks its answer.
// If anything goes wrong after the provider has opened the instance, it is closed here: no lease exists yet
// that would close it.
func (o *opener) callOpen(given, config cty.Value) (thing lease.Thing[content], err error) {
	var resp provider.OpenResponse
	var diags diag.List
	usable := false
	defer func() { // also when checking the answer or evaluating a condition panics
		isOpen := resp.Opened && !o.putOff(resp) || len(resp.Private) > 0 // private data is there for closing, also beside an error
		if isOpen && !usable {
			ctx, cancel := context.WithTimeout(context.Background(), o.opt.Limit)
			defer cancel()
			o.close(ctx)
		}
	}()
	diags, err = o.ask(given, config, &resp)
	if err != nil {
		return thing, err
	}
	if len(resp.Private) == 0 && !o.unanswered {
		o.closed() // a provider that keeps nothing for closing has nothing to close
	}
	o.report(diags)
	if !diags.HasErrors() && o.putOff(resp) {
		return o.unreachable(o.in), nil
	}
	if diags.HasErrors() || !o.in.Postconditions(o.t, o.s.Opened, o.mark(resp.Result)) {
		return thing, errReported
	}
	usable = true
	return lease.Thing[content]{
		Value: content{object: o.mark(resp.Result)}, RenewAt: resp.RenewAt,
		Renew: o.renew, Close: o.close, After: o.s.End,
	}, nil
}

// ask has the provider open the instance, unless the run was interrupted, and checks its answer, which is in
// resp also if that panics.
func (o *opener) ask(given, config cty.Value, resp *provider.OpenResponse) (diags diag.List, err error) {
	defer o.s.turn.Call()()
	if o.opt.Soft.Err() != nil {
		return nil, errInterrupted
	}
	if o.record, err = o.opt.Recorder.Opening(o.in.Addr(), o.in.Resource.Block.Provider, o.opt.Now()); err != nil {
		o.report(diag.Errorf("Ephemeral resource not opened", "%s was not opened, because it could not be recorded that it is open: %s.", o.in.Addr(), err))
		return nil, errReported
	}
	ctx, end := o.begin(o.opt.Ctx, event.OpOpen, &diags)
	defer func() { end(o.putOff(*resp)) }()
	defer o.opt.Leaks.Await(o.in.Resource.Block.Provider.String())()
	var found diag.List
	*resp, found = o.callWithGrace(ctx, config)
	o.private = resp.Private
	if resp.Result != cty.NilVal {
		o.opt.Leaks.Remember(leak.Source{Kind: leak.Result, Address: o.in.Addr().String()}, o.mark(resp.Result), o.block().Type(), given)
	}
	if !found.HasErrors() {
		found = append(found, o.checkResult(config, *resp)...)
	}
	return o.locate(found), nil
}

// begin begins an operation on the instance for observers and as a span. The returned function, which the
// caller defers, ends it with *diags, the caller's result: observers have the list then, so that it is not
// changed any more. A panic leaves in it that the program failed.
func (o *opener) begin(ctx context.Context, op event.Op, diags *diag.List) (_ context.Context, end func(putOff bool)) {
	done := o.opt.Events.BeginDeferrable(op, o.object(), plan.NoOp, "", "")
	ctx, span := o.span(ctx, op)
	*diags = diag.Errorf("The program failed", "")
	return ctx, func(putOff bool) {
		span.Finish(!diags.HasErrors())
		done(putOff, *diags, "", "")
	}
}

// openGrace is how long an opening that is under way is waited for once operations are abandoned: an instance
// that the provider has opened must be closed.
const openGrace = 2 * time.Second

// callWithGrace calls the provider with a context that outlives the walk's by the grace. If that is over too,
// the user learns which instance may be left open.
func (o *opener) callWithGrace(ctx context.Context, config cty.Value) (resp provider.OpenResponse, diags diag.List) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	grace := min(openGrace, o.opt.Limit)
	defer context.AfterFunc(o.opt.Ctx, func() {
		time.AfterFunc(grace, cancel)
	})()
	defer func() {
		why := ""
		if p := recover(); p != nil {
			diags, why = diag.Bug("opening "+o.in.Addr().String(), bug.New(p)), "The program failed while it opened %s"
		} else if resp.Opened || len(resp.Private) > 0 { // it has answered
		} else if ctx.Err() != nil {
			why = "Opening %s was abandoned before its provider had answered"
		} else if resp.Lost {
			why = "The provider of %s stopped before it had answered"
		}
		if o.unanswered = why != ""; o.unanswered {
			diags = append(diags, diag.Errorf("Ephemeral resource may still be live",
				why+", so what it stands for (a lease, a token, a tunnel) may exist until it expires by itself.", o.in.Addr()).Once()...)
		}
	}()
	return o.p.OpenEphemeral(ctx, o.typeName(), config)
}

// checkResult checks the result of Open against the framework's rules. Messages name attributes, never
// values.
func (o *opener) checkResult(config cty.Value, resp provider.OpenResponse) diag.List {
	name := o.in.Resource.Block.Provider.ForDisplay()
	if o.putOff(resp) {
		return nil
	}
	if resp.Deferred != "" {
		return diag.Errorf("Provider deferred an ephemeral resource", "The provider %s answered that it cannot open %s yet (%s), although deferring was not allowed. This is a bug in the provider.", name, o.in.Addr(), resp.Deferred.Text())
	}
	var diags diag.List
	for _, err := range schema.AssertOpenResult(o.block(), config, resp.Result) {
		d := diag.Diagnostic{
			Summary: "Provider produced an invalid ephemeral result",
			Detail:  fmt.Sprintf("The provider %s opened %s with a result that breaks the rules: %s.\n\nThis is a bug in the provider. The instance is closed and its value is not used.", name, o.in.Addr(), contract.Text(err, schema.PathWithoutKeys)),
		}
		diags = append(diags, d)
	}
	return diags
}

// keepPrivate replaces private data by newer data and overwrites the old.
func (o *opener) keepPrivate(newer []byte) {
	overwrite(o.private, newer)
	o.private = newer
}

// overwrite overwrites private data, unless it is the same memory as the kept data.
func overwrite(private, kept []byte) {
	if len(private) > 0 && (len(kept) == 0 || &private[0] != &kept[0]) {
		clear(private)
	}
}

// close implements lease.Thing.Close.
func (o *opener) close(ctx context.Context) {
	defer o.keepPrivate(nil)
	o.failing.warn("Nothing has used it since.")
	if err := bug.Call(func() { o.callClose(ctx) }); err != nil {
		o.report(append(o.closeFailed(eval.Use{Kind: eval.UseInstance, Instance: o.in.Addr()}, "The program failed."), diag.Bug("closing "+o.in.Addr().String(), err)...))
	}
}

// callClose calls the provider and reports errors. While planning they are only warnings, because the plan
// itself is not affected.
func (o *opener) callClose(ctx context.Context) {
	diags := o.askToClose(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || tookTooLong(diags) {
		o.run.Report(o.closeLate(eval.Use{Kind: eval.UseInstance, Instance: o.in.Addr()})) // the pool may report the same, which the run does not repeat
		return
	}
	if diags.HasErrors() {
		use, why := eval.Use{Kind: eval.UseInstance, Instance: o.in.Addr()}, "The provider's message follows."
		if provider.OnlyRepeats(diags) {
			why = "Its provider is no longer running."
		}
		diags = append(o.closeFailed(use, why), diags...)
		if o.run.Phase() == eval.Planning {
			diags.AsWarnings()
		}
	} else {
		o.closed()
	}
	o.report(diags)
}

func (o *opener) askToClose(ctx context.Context) (diags diag.List) {
	ctx, end := o.begin(ctx, event.OpClose, &diags)
	defer end(false)
	return o.locate(o.p.CloseEphemeral(ctx, o.typeName(), o.private))
}

// closed records that nothing is open any more. If that fails, all that follows is that a later run may list
// the instance for no reason.
func (o *opener) closed() {
	if o.record != 0 {
		_ = o.opt.Recorder.Closed(o.record)
	}
	o.record = 0
}

// tookTooLong reports whether a call was ended by its time limit.
func tookTooLong(diags diag.List) bool {
	return slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Extra == context.DeadlineExceeded })
}

// closeLate describes a Close that did not end in time.
func (p *Pool) closeLate(u eval.Use) diag.List {
	return p.closeFailed(u, "The provider did not answer within "+p.opt.Limit.String()+".")
}

func (p *Pool) closeFailed(u eval.Use, why string) diag.List {
	diags := diag.Errorf("Ephemeral resource may still be live",
		"Closing %s failed, so what it stands for (a lease, a token, a tunnel) may still exist until it expires by itself. %s", useText(u), why).WithAddress(useText(u)).Once()
	if p.run.Phase() == eval.Planning {
		diags.AsWarnings()
	}
	return p.checkWarnings(u, diags)
}
