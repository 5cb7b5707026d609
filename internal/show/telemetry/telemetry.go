package telemetry

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// Options are the environment and the settings of telemetry.
type Options struct {
	Vars    map[string]string // the environment variables
	Version string            // of the program
	Stderr  io.Writer         // where the exporter console writes
	Redact  func(string) string
	Now     func() time.Time // nil for time.Now
	Random  func() uint64    // for IDs; nil for random numbers
	// Watch also receive every span, whatever is exported. Nil ones are left out.
	Watch []Watcher
	// Noted receives notes, which are not exported; nil for nothing.
	Noted func(level trace.Level, text string)
}

// Watcher receives spans as they begin and end. Its methods may be called concurrently and must not wait.
type Watcher interface {
	Began(s *trace.Span)
	Ended(s *trace.Span)
	// Wants reports whether it makes use of the spans of a name.
	Wants(name string) bool
}

// Telemetry exports the spans and metrics of one run. A nil one exports nothing. Its methods may be called
// concurrently, except that nothing follows Close.
type Telemetry struct {
	opt         Options
	tracer      trace.Tracer
	parent      trace.Context
	share       float64
	parents     bool // sampling goes by the parent in another process, if there is one
	limits      limits
	resource    resource
	spans, sums []exporter
	begun       time.Time
	wake        chan struct{}
	stop        chan struct{}
	ended       chan struct{}
	abandon     context.CancelFunc
	hurry       context.Context // of everything that is sent

	mu       sync.Mutex // protects all below
	queue    []*trace.Span
	dropped  int // spans that there was no room for
	measured map[series]*summary
	lost     int      // spans that were not delivered
	problems []string // in the order in which they occurred, each once
}

// New returns telemetry as the environment variables ask for it, nil if they ask for none and nothing
// watches. Close reports mistakes in them.
func New(opt Options) *Telemetry {
	if strings.EqualFold(strings.TrimSpace(opt.Vars["OTEL_SDK_DISABLED"]), "true") {
		opt.Vars = nil
	}
	r := &reader{vars: opt.Vars}
	names, others := r.exporters(traces), r.exporters(metrics)
	asked := len(names)+len(others)+len(r.problems) > 0
	opt.Watch = slices.DeleteFunc(slices.Clone(opt.Watch), func(w Watcher) bool { return w == nil })
	if !asked && len(opt.Watch) == 0 && opt.Noted == nil {
		return nil
	}
	opt.Now = orElse(opt.Now, time.Now)
	opt.Random = orElse(opt.Random, rand.Uint64)
	opt.Redact = orElse(opt.Redact, func(s string) string { return s })
	t := &Telemetry{
		opt: opt, limits: r.limits(), resource: resource{r.resource(opt.Version)}, begun: opt.Now(), measured: map[series]*summary{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	t.share, t.parents = r.sampler()
	propagates := r.propagates()
	if propagates {
		t.parent = trace.FromEnviron(opt.Vars)
	}
	t.spans, t.sums = t.exporters(r, traces, names), t.exporters(r, metrics, others)
	t.problems = r.problems
	t.tracer = trace.Tracer{Now: opt.Now, Random: opt.Random, Ended: t.take, Propagates: propagates && len(t.spans) > 0, Noted: opt.Noted}
	if len(opt.Watch) > 0 {
		t.tracer.Began = func(s *trace.Span) {
			for _, w := range opt.Watch {
				w.Began(s)
			}
		}
	}
	t.hurry, t.abandon = context.WithCancel(context.Background())
	if !asked {
		t.tracer.Wanted = func(name string) bool {
			return slices.ContainsFunc(opt.Watch, func(w Watcher) bool { return w.Wants(name) })
		}
		close(t.ended)
		return t
	}
	go func() {
		defer close(t.ended)
		if err := bug.Call(t.export); err != nil {
			t.failed(err, 0)
		}
	}()
	return t
}

// orElse returns f, or otherwise if f is nil.
func orElse[F func() time.Time | func() uint64 | func(string) string](f, otherwise F) F {
	if f == nil {
		return otherwise
	}
	return f
}

// exporters returns the exporters of a signal by their names.
func (t *Telemetry) exporters(r *reader, signal string, names []string) []exporter {
	var out []exporter
	for _, name := range names {
		if name == "console" {
			out = append(out, console{t.opt.Stderr})
			continue
		}
		if d := r.destination(signal); d != nil {
			if c := newClient(signal, d, t.opt.Version, r); c != nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// Begin begins the span of a command. Without telemetry, it returns ctx and nil.
func (t *Telemetry) Begin(ctx context.Context, name string) (context.Context, *trace.Span) {
	if t == nil {
		return ctx, nil
	}
	return t.tracer.Root(ctx, name, t.parent, t.sampled)
}

// sampled decides whether the spans of a trace are exported.
func (t *Telemetry) sampled(c trace.Context) bool {
	if t.parents && c.Span != (trace.ID{}) {
		return c.Sampled
	}
	// The lower 56 bits of an ID are random in every system.
	const bits = 1 << 56
	return float64(binary.BigEndian.Uint64(c.Trace[8:])%bits) < math.Ceil(t.share*bits)
}

// take implements trace.Tracer.Ended.
func (t *Telemetry) take(s *trace.Span) {
	for _, w := range t.opt.Watch {
		w.Ended(s)
	}
	if len(t.spans)+len(t.sums) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sums) > 0 {
		k := seriesOf(s)
		if t.measured[k] == nil {
			t.measured[k] = &summary{}
		}
		t.measured[k].add(s.End.Sub(s.Begin))
	}
	if !s.Sampled || len(t.spans) == 0 {
		return
	}
	if len(t.queue) >= t.limits.queue {
		t.dropped++
		return
	}
	if t.queue = append(t.queue, s); len(t.queue) == t.limits.batch {
		select {
		case t.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// export sends ended spans, in batches, until stop is closed.
func (t *Telemetry) export() {
	spans, sums := time.NewTicker(t.limits.delay), time.NewTicker(t.limits.interval)
	defer spans.Stop()
	defer sums.Stop()
	for {
		select {
		case <-t.stop:
			t.sendSpans(1)
			t.sendSums()
			return
		case <-t.wake:
			t.sendSpans(t.limits.batch)
		case <-spans.C:
			t.sendSpans(1)
		case <-sums.C:
			t.sendSums()
		}
	}
}

// sendSpans sends batches for as long as at least so many spans wait, of which there must be one.
func (t *Telemetry) sendSpans(least int) {
	for {
		t.mu.Lock()
		n := min(len(t.queue), t.limits.batch)
		if len(t.queue) < least {
			t.mu.Unlock()
			return
		}
		batch := slices.Clone(t.queue[:n])
		t.queue = slices.Delete(t.queue, 0, n)
		t.mu.Unlock()
		of := scopeSpans{Scope: t.scope()}
		for _, s := range batch {
			of.Spans = append(of.Spans, newSpan(s, t.opt.Redact))
		}
		t.send(t.spans, &request{Spans: []resourceSpans{{t.resource, []scopeSpans{of}}}}, n)
	}
}

// sendSums sends the measurements so far.
func (t *Telemetry) sendSums() {
	t.mu.Lock()
	if len(t.sums) == 0 || len(t.measured) == 0 {
		t.mu.Unlock()
		return
	}
	of := scopeMetrics{Scope: t.scope(), Metrics: metricsOf(t.measured, t.begun, t.opt.Now(), t.opt.Redact)}
	t.mu.Unlock()
	t.send(t.sums, &request{Metrics: []resourceMetrics{{t.resource, []scopeMetrics{of}}}}, 0)
}

func (t *Telemetry) scope() scope { return scope{"mayfly", t.opt.Version} }

// send sends a message, which has the given number of spans, to each exporter.
func (t *Telemetry) send(to []exporter, r *request, spans int) {
	for _, e := range to {
		if err := e.send(t.hurry, r); err != nil {
			t.failed(err, spans)
		}
	}
}

// failed notes that something was not delivered.
func (t *Telemetry) failed(err error, spans int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost += spans
	if text := err.Error(); !slices.Contains(t.problems, text) {
		t.problems = append(t.problems, text)
	}
}

// Close sends the rest, for as long as the limits allow, and returns the failures during the run as sentences
// for people; none if everything was delivered.
func (t *Telemetry) Close() []string {
	if t == nil {
		return nil
	}
	close(t.stop)
	timer := time.NewTimer(t.limits.close)
	defer timer.Stop()
	select {
	case <-t.ended:
	case <-timer.C:
		t.abandon()
		select { // requests end now, but a write to a full stream may not
		case <-t.ended:
		case <-time.After(closeLimit / 10):
		}
	}
	t.abandon()
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, p := range t.problems {
		out = append(out, strings.ToUpper(p[:1])+p[1:]+".")
	}
	if n := t.lost + len(t.queue); n > 0 {
		out = append(out, fmt.Sprintf("Spans that were not delivered: %d.", n))
	}
	if t.dropped > 0 {
		out = append(out, fmt.Sprintf("Spans for which there was no room: %d. OTEL_BSP_MAX_QUEUE_SIZE makes more.", t.dropped))
	}
	return out
}
