package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/schema"
)

// providers starts providers and keeps those that live for the whole command: one process for each distinct
// configuration. The first process of a provider answers for its schema and validation, and becomes the first
// configured one.
type providers struct {
	launcher provider.Launcher
	ctx      context.Context
	calls    atomic.Int64
	soft     atomic.Pointer[context.Context] // of the operation under way; see stopOn

	mu    sync.Mutex
	bases map[addr.Provider]*base
	kept  map[addr.ProviderConfig][]*kept
	live  map[provider.Provider]struct{}
}

// base is the first process of a provider.
type base struct {
	once    sync.Once
	p       provider.Provider
	catalog provider.Catalog
	diags   diag.List
	free    bool // not yet configured

	// calling is held by function calls, which may use the process whoever has configured it, and taken to
	// end it.
	calling sync.RWMutex
	again   sync.Mutex // held to start another process in place of one that has ended
}

// kept is a provider whose configuration holds nothing ephemeral, so that it serves plan and apply alike, and
// what is destroyed and what is made.
type kept struct {
	config cty.Value
	once   sync.Once // configures it
	p      provider.Provider
}

func newProviders(l provider.Launcher) *providers {
	return &providers{
		launcher: l, ctx: context.Background(),
		bases: map[addr.Provider]*base{}, kept: map[addr.ProviderConfig][]*kept{}, live: map[provider.Provider]struct{}{},
	}
}

func (ps *providers) base(ctx context.Context, a addr.Provider) *base {
	ps.mu.Lock()
	b := ps.bases[a]
	if b == nil {
		b = &base{}
		ps.bases[a] = b
	}
	ps.mu.Unlock()
	b.once.Do(func() {
		b.p, b.diags = ps.launch(ctx, a)
		if b.diags.HasErrors() {
			return
		}
		var more diag.List
		b.catalog, more = b.p.Catalog(ctx)
		b.diags = append(b.diags, more...)
		b.free = true
	})
	return b
}

func (ps *providers) launch(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
	p, diags := ps.launcher.Launch(ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	p = &counted{Provider: p, calls: &ps.calls, soft: &ps.soft}
	ps.mu.Lock()
	ps.live[p] = struct{}{}
	ps.mu.Unlock()
	return p, diags
}

// take returns an unconfigured process: the base one if nobody has it yet.
func (ps *providers) take(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
	b := ps.base(ctx, a)
	if b.diags.HasErrors() {
		return nil, b.diags
	}
	ps.mu.Lock()
	if b.free {
		b.free = false
		ps.mu.Unlock()
		return b.p, nil
	}
	ps.mu.Unlock()
	p, diags := ps.launch(ctx, a)
	if !diags.HasErrors() && !b.catalog.Capabilities().SchemaOptional {
		_, more := p.Catalog(ctx)
		diags = append(diags, more...)
	}
	return p, diags
}

// configured returns what configure makes of the configuration, which is known and has no marks: it is called
// once for each that is distinct, whoever asks and when. The diagnostics are given to the first who asks; nil
// for a provider is a failure, and the next who asks tries again.
func (ps *providers) configured(a addr.ProviderConfig, config cty.Value, configure func() (provider.Provider, diag.List)) (provider.Provider, diag.List) {
	ps.mu.Lock()
	i := slices.IndexFunc(ps.kept[a], func(k *kept) bool { return k.config.RawEquals(config) })
	if i < 0 {
		i = len(ps.kept[a])
		ps.kept[a] = append(ps.kept[a], &kept{config: config})
	}
	k := ps.kept[a][i]
	ps.mu.Unlock()
	var diags diag.List
	k.once.Do(func() {
		if k.p, diags = configure(); k.p == nil {
			ps.mu.Lock()
			defer ps.mu.Unlock()
			ps.kept[a] = slices.DeleteFunc(ps.kept[a], func(other *kept) bool { return other == k })
		}
	})
	return k.p, diags
}

// callFunction calls a function on the first process of a provider.
func (ps *providers) callFunction(ctx context.Context, a addr.Provider, name string, args []cty.Value) (cty.Value, error) {
	result, failed := cty.DynamicVal, error(nil)
	diags := ps.ask(ctx, a, func(p provider.Provider) diag.List {
		result, failed = p.CallFunction(ctx, name, args)
		return nil
	})
	if err := diags.Err(); err != nil {
		return cty.DynamicVal, err
	}
	return result, failed
}

// ask has the first process of a provider answer something for which it need not be configured. It does not
// end meanwhile. One that has ended, with the lease that it was configured with, is replaced.
func (ps *providers) ask(ctx context.Context, a addr.Provider, question func(provider.Provider) diag.List) diag.List {
	b := ps.base(ctx, a)
	if b.diags.HasErrors() {
		return b.diags
	}
	b.calling.RLock()
	defer b.calling.RUnlock()
	p, diags := ps.running(ctx, a, b)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, question(p)...)
}

// running returns the first process of a provider, or one that takes its place.
func (ps *providers) running(ctx context.Context, a addr.Provider, b *base) (provider.Provider, diag.List) {
	b.again.Lock()
	defer b.again.Unlock()
	ps.mu.Lock()
	p := b.p
	_, alive := ps.live[p]
	ps.mu.Unlock()
	if alive {
		return p, nil
	}
	p, diags := ps.launch(ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	_, diags = p.Catalog(ctx)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	b.p, b.free = p, true
	return p, diags
}

// end closes one process, after the function calls that it still serves.
func (ps *providers) end(p provider.Provider) {
	ps.mu.Lock()
	for _, b := range ps.bases {
		if b.p == p {
			ps.mu.Unlock()
			b.calling.Lock()
			defer b.calling.Unlock()
			ps.mu.Lock()
			break
		}
	}
	_, ok := ps.live[p]
	delete(ps.live, p)
	ps.mu.Unlock()
	if ok {
		_ = p.Close() // a process that is gone already is what was wanted
	}
}

func (ps *providers) close() {
	ps.mu.Lock()
	all := slices.Collect(maps.Keys(ps.live))
	ps.live = map[provider.Provider]struct{}{}
	ps.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() { _ = p.Close() })
	}
	wg.Wait()
}

// stop asks every provider to cancel what it does, and returns when all have answered or ctx has ended. One
// that cannot stop is waited for as if it had not been asked.
func (ps *providers) stop(ctx context.Context) {
	ps.mu.Lock()
	all := slices.Collect(maps.Keys(ps.live))
	ps.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() { _ = p.Stop(ctx) })
	}
	wg.Wait()
}

func (ps *providers) catalog(ctx context.Context, a addr.Provider) (provider.Catalog, diag.List) {
	b := ps.base(ctx, a)
	return b.catalog, b.diags
}

// loaded returns the schema of a managed resource type if its provider has given its schemas already, else
// nil.
func (ps *providers) loaded(a addr.Provider, typeName string) *schema.Schema {
	ps.mu.Lock()
	b := ps.bases[a]
	ps.mu.Unlock()
	if b == nil || b.catalog == nil {
		return nil
	}
	s, diags := b.catalog.Resource(addr.Managed, typeName)
	if diags.HasErrors() {
		return nil
	}
	return s
}

// Provider implements eval.Schemas.
func (ps *providers) Provider(a addr.Provider) (*schema.Schema, diag.List) {
	c, diags := ps.catalog(ps.ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	return c.Provider()
}

// Resource implements eval.Schemas.
func (ps *providers) Resource(a addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	c, diags := ps.catalog(ps.ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	return c.Resource(mode, typeName)
}

// Types implements eval.Schemas.
func (ps *providers) Types(a addr.Provider, mode addr.Mode) []string {
	c, diags := ps.catalog(ps.ctx, a)
	if diags.HasErrors() {
		return nil
	}
	return c.Types(mode)
}

// Functions implements eval.Schemas.
func (ps *providers) Functions(a addr.Provider) (map[string]*schema.Function, diag.List) {
	c, diags := ps.catalog(ps.ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	return c.Functions()
}
