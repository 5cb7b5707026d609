// Package processes has the providers that run during a command: the first process of each provider, which
// answers requests that need no configuration, such as for its schemas, and one process for each distinct
// configuration. It starts them as they are needed, counts their calls, lets an interrupt reach every call
// that does work, and ends them.
//
// It may import addr, diag, provider and schema. It must not know how a process is started, which is the
// launcher's matter, nor plans and objects.
package processes

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// Set starts providers and keeps them. All methods may be called concurrently, except that nothing may be
// asked after Close. The first process of a provider becomes the first configured one.
type Set struct {
	launcher provider.Launcher
	calls    atomic.Int64
	soft     atomic.Pointer[context.Context] // of the operation under way; see StopOn

	mu         sync.Mutex // protects all below
	bases      map[addr.Provider]*base
	configured map[addr.ProviderConfig][]*configured
	live       map[provider.Provider]struct{}
}

// base is the first process of a provider.
type base struct {
	once    sync.Once
	p       provider.Provider
	catalog provider.Catalog
	diags   diag.List
	free    bool // not yet configured

	// asking is read-locked by requests to the process, configured or not, and locked to end it.
	asking  sync.RWMutex
	restart sync.Mutex // held to start another process in place of one that has ended
}

// New returns a set that starts providers with the launcher. Nothing is started yet.
func New(l provider.Launcher) *Set {
	return &Set{
		launcher: l, bases: map[addr.Provider]*base{}, configured: map[addr.ProviderConfig][]*configured{}, live: map[provider.Provider]struct{}{},
	}
}

// Calls returns how many calls the providers have been given so far, those for schemas apart. Tests and
// benchmarks compare it with the calls that a run should need.
func (s *Set) Calls() int64 { return s.calls.Load() }

// base returns the first process of a provider, starting it on first use. The process is started outside the
// lock, so that providers start in parallel; once keeps concurrent callers of the same provider waiting for
// the one process.
func (s *Set) base(ctx context.Context, a addr.Provider) *base {
	s.mu.Lock()
	b := s.bases[a]
	if b == nil {
		b = &base{}
		s.bases[a] = b
	}
	s.mu.Unlock()
	b.once.Do(func() {
		if err := bug.Call(func() { s.begin(ctx, a, b) }); err != nil {
			b.diags = append(b.diags, diag.Bug("provider "+a.ForDisplay(), err)...)
		}
	})
	return b
}

// begin starts the first process of a provider and asks for its catalog.
func (s *Set) begin(ctx context.Context, a addr.Provider, b *base) {
	b.p, b.diags = s.launch(ctx, a)
	if b.diags.HasErrors() {
		return
	}
	var more diag.List
	b.catalog, more = b.p.Catalog(ctx)
	if got, ok := b.catalog.(plugin); ok {
		b.catalog = &lasting{plugin: got, set: s, of: b.p, address: a}
	}
	b.diags = append(b.diags, more...)
	b.free = true
}

// launch starts a process and keeps it for Close and for interrupts.
func (s *Set) launch(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
	ctx, span := trace.Start(ctx, "start provider")
	span.Set(trace.Provider, a.String())
	p, diags := s.launcher.Launch(ctx, a)
	span.Finish(!diags.HasErrors())
	if diags.HasErrors() {
		return nil, diags
	}
	p = &proxy{Provider: p, address: a, calls: &s.calls, soft: &s.soft}
	s.mu.Lock()
	s.live[p] = struct{}{}
	s.mu.Unlock()
	return p, diags
}

// Start returns an unconfigured process, which End ends: the first one if it is not in use yet, or another.
// The caller configures it, and ends it before the ephemeral values of that configuration are closed (E52).
func (s *Set) Start(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
	b := s.base(ctx, a)
	if b.diags.HasErrors() {
		return nil, b.diags
	}
	s.mu.Lock()
	if b.free {
		b.free = false
		s.mu.Unlock()
		return b.p, nil
	}
	s.mu.Unlock()
	p, diags := s.launch(ctx, a)
	if !diags.HasErrors() && !b.catalog.Capabilities().SchemaOptional {
		_, more := p.Catalog(ctx)
		diags = append(diags, more...)
	}
	return p, diags
}

// CallFunction calls a function on the first process of a provider.
func (s *Set) CallFunction(ctx context.Context, a addr.Provider, name string, args []cty.Value) (cty.Value, error) {
	result, failed := cty.DynamicVal, error(nil)
	diags := s.Ask(ctx, a, func(p provider.Reader) diag.List {
		result, failed = p.CallFunction(ctx, name, args)
		return nil
	})
	if err := diags.Err(); err != nil {
		return cty.DynamicVal, err
	}
	return result, failed
}

// Ask calls question with the first process of a provider, for something that needs no configuration. The
// process does not end meanwhile. One that has ended, with the lease that it was configured with, is
// replaced.
func (s *Set) Ask(ctx context.Context, a addr.Provider, question func(provider.Reader) diag.List) diag.List {
	b := s.base(ctx, a)
	if b.diags.HasErrors() {
		return b.diags
	}
	b.asking.RLock()
	defer b.asking.RUnlock()
	p, diags := s.running(ctx, a, b)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, question(p)...)
}

// running returns the first process of a provider, or one that takes its place.
func (s *Set) running(ctx context.Context, a addr.Provider, b *base) (provider.Provider, diag.List) {
	b.restart.Lock()
	defer b.restart.Unlock()
	s.mu.Lock()
	p := b.p
	s.mu.Unlock()
	if s.alive(p) {
		return p, nil
	}
	p, diags := s.launch(ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	_, diags = p.Catalog(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.p, b.free = p, true
	return p, diags
}

// alive reports whether a process has been started and not ended.
func (s *Set) alive(p provider.Provider) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, alive := s.live[p]
	return alive
}

// End closes one process, after the questions that it still answers. It does nothing for a process that has
// been ended before.
func (s *Set) End(p provider.Provider) {
	s.mu.Lock()
	for _, b := range s.bases {
		if b.p == p {
			s.mu.Unlock()
			b.asking.Lock()
			defer b.asking.Unlock()
			s.mu.Lock()
			break
		}
	}
	_, ok := s.live[p]
	delete(s.live, p)
	s.mu.Unlock()
	if ok {
		_ = p.Close() // the process may be gone already
	}
}

// Close ends every process that is still running. It is safe to call more than once.
func (s *Set) Close() {
	s.mu.Lock()
	all := s.live
	s.live = map[provider.Provider]struct{}{}
	s.mu.Unlock()
	each(all, func(p provider.Provider) { _ = p.Close() })
}

// StopOn asks every provider to cancel its calls when soft ends, and gives them limit to answer; one that
// cannot stop is waited for as if it had not been asked. begun is called first. The returned function ends
// the watch.
func (s *Set) StopOn(soft context.Context, limit time.Duration, begun func()) (end func()) {
	outer := s.soft.Swap(&soft)
	forget := context.AfterFunc(soft, func() {
		begun()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(soft), limit)
		defer cancel()
		s.mu.Lock()
		all := maps.Clone(s.live)
		s.mu.Unlock()
		each(all, func(p provider.Provider) { _ = p.Stop(ctx) })
	})
	return func() {
		forget()
		s.soft.Store(outer)
	}
}

// each calls f for every provider, all at once, and returns when all calls have.
func each(all map[provider.Provider]struct{}, f func(provider.Provider)) {
	var wg sync.WaitGroup
	for p := range all {
		wg.Go(func() {
			_ = bug.Call(func() { f(p) }) // the others are asked all the same
		})
	}
	wg.Wait()
}
