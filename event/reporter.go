package event

import (
	"context"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// Reporter reports events to one observer. Its methods may be called concurrently; only Await and Flush wait
// for the observer.
type Reporter struct {
	queue  *queue
	now    func() time.Time
	redact func(string) string
}

// NewReporter returns a reporter for o, which may be nil. now is the clock of the events, and redact removes
// secrets from their texts; it may be nil.
func NewReporter(o Observer, now func() time.Time, redact func(string) string) *Reporter {
	if o == nil {
		o = ObserverFunc(func(Event) {})
	}
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return &Reporter{queue: newQueue(o), now: now, redact: redact}
}

// Report reports an event, as of now unless it has a time.
func (r *Reporter) Report(ev Event) {
	if ev.Time.IsZero() {
		ev.Time = r.now()
	}
	ev.ID, ev.Line, ev.Diags = r.redact(ev.ID), r.redact(ev.Line), ev.Diags.Redacted(r.redact)
	r.queue.add(ev, false)
}

// Detailed reports whether the observer asks for details.
func (r *Reporter) Detailed() bool { return r.queue.details != nil }

// Detail reports an event to an observer that asks for details.
func (r *Reporter) Detail(ev Event) {
	if !r.Detailed() {
		return
	}
	if ev.Time.IsZero() {
		ev.Time = r.now()
	}
	r.queue.add(ev, true)
}

// BeginDetail reports to an observer that asks for details that something begins, and when the returned
// function is called that it has ended; ok then says whether it went well.
func (r *Reporter) BeginDetail(op Op, obj addr.Object, ok *bool) (end func()) {
	if !r.Detailed() {
		return func() {}
	}
	begin := r.now()
	r.Detail(Event{Kind: Started, Op: op, Object: obj, Time: begin})
	return func() {
		kind := Completed
		if !*ok {
			kind = Failed
		}
		at := r.now()
		r.Detail(Event{Kind: kind, Op: op, Object: obj, Time: at, Elapsed: at.Sub(begin)})
	}
}

// Begin begins reporting an operation: a Started event now, Progress every ten seconds, and the end of it
// when the returned function is called. A renewal is not reported if the observer is far behind.
func (r *Reporter) Begin(op Op, obj addr.Object, action plan.Action, idKey, id string) (end func(diags diag.List, idKey, id string)) {
	if op == OpRenew && r.Full() {
		return func(diag.List, string, string) {}
	}
	ended := r.begin(Event{Op: op, Object: obj, Action: action, IDKey: idKey, ID: id})
	return func(diags diag.List, idKey, id string) { ended(false, diags, idKey, id) }
}

// BeginDeferrable is Begin for an operation that its provider may put off. The end of one that it has put off
// is a PutOff event, unless there are errors.
func (r *Reporter) BeginDeferrable(op Op, obj addr.Object, action plan.Action, idKey, id string) (end func(putOff bool, diags diag.List, idKey, id string)) {
	return r.begin(Event{Op: op, Object: obj, Action: action, IDKey: idKey, ID: id})
}

// BeginInvocation is Begin for an invocation of an action. trigger is its cause.
func (r *Reporter) BeginInvocation(action addr.Instance, trigger *plan.ActionTrigger) (end func(diag.List)) {
	ended := r.begin(Event{Op: OpInvoke, Object: addr.Object{Instance: action}, Trigger: trigger})
	return func(diags diag.List) { ended(false, diags, "", "") }
}

func (r *Reporter) begin(of Event) (end func(putOff bool, diags diag.List, idKey, id string)) {
	begin := r.now()
	started := of
	started.Kind, started.Time = Started, begin
	r.Report(started)
	p := &progress{r: r, of: of, begin: begin}
	p.of.Kind = Progress
	p.start()
	return func(putOff bool, diags diag.List, idKey, id string) {
		p.end()
		ended := p.of
		ended.Kind, ended.Elapsed, ended.IDKey, ended.ID, ended.Diags = Completed, r.now().Sub(begin), idKey, id, diags
		switch {
		case diags.HasErrors():
			ended.Kind = Failed
		case putOff:
			ended.Kind = PutOff
		}
		r.Report(ended)
	}
}

const progressEvery = 10 * time.Second

// progress reports an operation that is still running at intervals until it ends. It skips a report rather
// than wait for an observer that is behind: a progress event is only worth something if it is recent.
type progress struct {
	r     *Reporter
	of    Event // without times
	begin time.Time

	mu    sync.Mutex
	timer *time.Timer // nil once the operation has ended
}

func (p *progress) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(progressEvery, p.report)
}

func (p *progress) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	if !p.r.Full() {
		ev := p.of
		ev.Elapsed = p.r.now().Sub(p.begin)
		p.r.Report(ev)
	}
	p.timer.Reset(progressEvery)
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.timer = nil
}

// Full reports whether the observer is so far behind that dispensable events should be left out.
func (r *Reporter) Full() bool { return r.queue.full() }

// Await waits until the observer has caught up enough for something new to begin, or one of the contexts
// ends.
func (r *Reporter) Await(hard, soft context.Context) { r.queue.await(hard, soft) }

// Flush waits until the observer has received every event so far, and returns its panics since the last time.
func (r *Reporter) Flush() diag.List { return r.queue.flush() }
