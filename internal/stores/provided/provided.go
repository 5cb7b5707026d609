// Package provided keeps states in state stores of providers. Each configuration of a store has a process of
// its own, which is not one of those that manage resources: it is started when the states are first needed,
// and ends with the work on the directory.
//
// It may import provider, backend, remote, schema, diag and state/store. It must not know how processes are
// started, configuration files, plans or the engine.
package provided

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Processes are the processes of providers that keep states. The methods may be called concurrently, except
// that nothing may be asked after Close.
type Processes struct {
	launch func(context.Context, addr.Provider) (provider.Provider, diag.List)

	mu    sync.Mutex // held while a process is started
	idle  map[addr.Provider]*process
	using []*service
	all   []provider.Provider // that were started
}

// process is a process that was not configured yet.
type process struct {
	provider.Provider
	catalog provider.Catalog
	stores  provider.StateStores
}

// NewProcesses returns no processes, which launch starts. Launch returns errors without a process.
func NewProcesses(launch func(context.Context, addr.Provider) (provider.Provider, diag.List)) *Processes {
	return &Processes{launch: launch, idle: map[addr.Provider]*process{}}
}

// Close ends all processes. It is safe to call more than once.
func (ps *Processes) Close() {
	ps.mu.Lock()
	all := ps.all
	ps.all, ps.idle, ps.using = nil, map[addr.Provider]*process{}, nil
	ps.mu.Unlock()
	for _, p := range all {
		_ = p.Close() // the process may be gone already
	}
}

// Kind returns the kind that is a state store of a provider, with its version; "" if that is not known. The
// provider is started for its schemas.
func (ps *Processes) Kind(ctx context.Context, a addr.Provider, version, typeName string) (*backend.Kind, diag.List) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, diags := ps.unused(ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	catalog, _ := p.catalog.(provider.StateStoreCatalog)
	if catalog == nil || len(catalog.StateStoreTypes()) == 0 {
		return nil, diag.Errorf("Provider without state stores", "Provider %s has no state stores, so it cannot keep the state. State stores came with version 6 of the provider protocol; a newer version of the provider may have some.", a.ForDisplay())
	}
	store, ds := catalog.StateStore(typeName)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, diags
	}
	if store == nil {
		hint := diag.DidYouMean(typeName, catalog.StateStoreTypes())
		if hint == "" {
			hint = fmt.Sprintf(" It has %s.", diag.Names(catalog.StateStoreTypes()))
		}
		return nil, diag.Errorf("Unsupported state store", "Provider %s has no state store %q.%s", a.ForDisplay(), typeName, hint)
	}
	config, ds := p.catalog.Provider()
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, diags
	}
	kind, err := backend.OfProvider(backend.Provided{
		Type: typeName, Provider: a.String(), Version: version, Store: store.Block, Config: config.Block,
		Validate: func(ctx context.Context, store, config cty.Value) (ours, theirs diag.List) {
			return ps.validate(ctx, a, typeName, store, config)
		},
		Connect: func(ctx context.Context, store, config cty.Value, env backend.Env) (remote.Service, error) {
			return ps.connect(ctx, &service{processes: ps, provider: a, typeName: typeName, store: store, config: config, place: env.Place})
		},
	})
	if err != nil {
		return nil, append(diags, diag.Errorf("Invalid state store", "%s", diag.Sentence(err))...)
	}
	return kind, diags
}

// validate has the provider validate the configurations of a store and of the provider.
func (ps *Processes) validate(ctx context.Context, a addr.Provider, typeName string, store, config cty.Value) (ours, theirs diag.List) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, diags := ps.unused(ctx, a)
	if diags.HasErrors() {
		return diags, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return p.stores.ValidateStateStore(ctx, typeName, store), p.ValidateConfig(ctx, config)
}

// unused returns a process that is not configured, and keeps it until one is needed that is. The caller holds
// mu.
func (ps *Processes) unused(ctx context.Context, a addr.Provider) (*process, diag.List) {
	if p := ps.idle[a]; p != nil {
		return p, nil
	}
	p, diags := ps.launch(ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	ps.all = append(ps.all, p)
	catalog, ds := p.Catalog(ctx)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, diags
	}
	out := &process{Provider: p, catalog: catalog}
	if keeper, ok := p.(provider.StateKeeper); ok {
		out.stores = keeper.StateStores()
	}
	ps.idle[a] = out
	return out, diags
}

// connect returns the service of a configuration: one that is in use, or a new one.
func (ps *Processes) connect(ctx context.Context, s *service) (remote.Service, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if i := slices.IndexFunc(ps.using, s.equal); i >= 0 {
		return ps.using[i], nil
	}
	if err := ps.start(ctx, s); err != nil {
		return nil, err
	}
	ps.using = append(ps.using, s)
	return s, nil
}

// start gives a service a configured process. The caller holds mu.
func (ps *Processes) start(ctx context.Context, s *service) error {
	p, diags := ps.unused(ctx, s.provider)
	if diags.HasErrors() {
		return problem(diags)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if p.stores == nil {
		return fmt.Errorf("provider %s has no state stores", s.provider.ForDisplay())
	}
	// Mistakes in both configurations are found before one of them has an effect.
	diags = append(p.ValidateConfig(ctx, s.config), p.stores.ValidateStateStore(ctx, s.typeName, s.store)...)
	if diags.HasErrors() {
		return fmt.Errorf("the configuration of the state store %q: %w", s.typeName, problem(diags))
	}
	delete(ps.idle, s.provider)
	if diags := p.Configure(ctx, s.config); diags.HasErrors() {
		return fmt.Errorf("the provider of the state store %q cannot be configured: %w", s.typeName, problem(diags))
	}
	if diags := p.stores.ConfigureStateStore(ctx, s.typeName, s.store); diags.HasErrors() {
		return fmt.Errorf("the state store %q cannot be configured: %w", s.typeName, problem(diags))
	}
	s.use(p.stores)
	return nil
}

// problem returns the errors in diagnostics as one error, whose text is a part of a sentence.
func problem(diags diag.List) error {
	var errs []error
	for _, d := range diags {
		if d.Severity != diag.Error {
			continue
		}
		text := d.Summary
		if d.Detail != "" {
			text += ":\n" + d.Detail // whose lines may be a form of their own
		}
		if len(d.Path) > 0 {
			text = "at " + schema.PathString(d.Path) + ": " + text
		}
		if _, stopped := d.Extra.(provider.Stopped); stopped {
			errs = append(errs, fmt.Errorf("%w: %s", errStopped, d.Detail))
			continue
		}
		if reason, ok := d.Extra.(error); ok {
			errs = append(errs, fmt.Errorf("%s: %w", text, reason))
			continue
		}
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// errStopped means that the process of a state store has ended.
var errStopped = errors.New("the provider that keeps the state has ended")
