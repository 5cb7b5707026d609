package processes

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Catalog returns the catalog of a provider, starting it if needed.
func (s *Set) Catalog(ctx context.Context, a addr.Provider) (provider.Catalog, diag.List) {
	b := s.base(ctx, a)
	return b.catalog, b.diags
}

// plugin is the catalog of a process. A provider in the program may lack parts of it, and does not end.
type plugin interface {
	provider.Catalog
	provider.Recorder
	provider.StateStoreCatalog
}

// lasting is the catalog of a process, which answers also when the process has ended.
type lasting struct {
	plugin
	set     *Set
	of      provider.Provider
	address addr.Provider
	later   atomic.Pointer[plugin] // of a process in its place, which has sent its identity schemas
}

// Identity implements provider.Catalog. The identity schemas are not sent with the others: the first call
// asks for them, and asks another process if this one has ended.
func (c *lasting) Identity(typeName string) (*schema.Identity, diag.List) {
	if later := c.later.Load(); later != nil {
		return (*later).Identity(typeName)
	}
	id, diags := c.plugin.Identity(typeName)
	if !diags.HasErrors() || c.set.alive(c.of) {
		return id, diags
	}
	ctx := context.Background() // as the process itself, which answers or ends at Close
	diags = c.set.Ask(ctx, c.address, func(p provider.Reader) diag.List {
		got, diags := p.Catalog(ctx)
		if diags.HasErrors() {
			return diags
		}
		if id, diags = got.Identity(typeName); diags.HasErrors() {
			return diags
		}
		if later, ok := got.(plugin); ok {
			c.later.Store(&later)
		}
		return diags
	})
	return id, diags
}

// Record implements provider.Recorder.
func (c *lasting) Record(wanted func(addr.Mode, string) bool) provider.Recording {
	if later := c.later.Load(); later != nil {
		return (*later).Record(wanted)
	}
	return c.plugin.Record(wanted)
}

// Load starts providers, all at once, for their catalogs. Failures are reported when a catalog is asked for.
// A start is mostly waiting, so several at once take little longer than one.
func (s *Set) Load(ctx context.Context, providers []addr.Provider) {
	var loading sync.WaitGroup
	for _, a := range providers {
		loading.Go(func() { s.base(ctx, a) })
	}
	loading.Wait()
}

// Resource returns the schema of a resource type, nil if its provider has no such type. It starts the
// provider if needed.
func (s *Set) Resource(ctx context.Context, a addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	return s.Schemas(ctx).Resource(a, mode, typeName)
}

// Loaded returns the schema of a resource type if its provider has given its schemas already, else nil.
func (s *Set) Loaded(a addr.Provider, mode addr.Mode, typeName string) *schema.Schema {
	s.mu.Lock()
	b := s.bases[a]
	s.mu.Unlock()
	if b == nil || b.catalog == nil {
		return nil
	}
	sch, diags := b.catalog.Resource(mode, typeName)
	if diags.HasErrors() {
		return nil
	}
	return sch
}

// Schemas gives access to the schemas of providers, starting them as needed, until ctx ends.
func (s *Set) Schemas(ctx context.Context) *Schemas { return &Schemas{set: s, ctx: ctx} }

// Schemas implements blocks.Schemas. It keeps its context because compiling a configuration, which asks for
// schemas in many places, is one operation and has no other use for one.
type Schemas struct {
	set *Set
	ctx context.Context
}

// Provider returns the schema of the provider's block.
func (s *Schemas) Provider(a addr.Provider) (*schema.Schema, diag.List) {
	c, diags := s.set.Catalog(s.ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	return c.Provider()
}

// Resource returns the schema of a resource type, nil if the provider has no such type.
func (s *Schemas) Resource(a addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	c, diags := s.set.Catalog(s.ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	return c.Resource(mode, typeName)
}

// Types returns the sorted type names of a mode, none if the provider cannot be started.
func (s *Schemas) Types(a addr.Provider, mode addr.Mode) []string {
	c, diags := s.set.Catalog(s.ctx, a)
	if diags.HasErrors() {
		return nil
	}
	return c.Types(mode)
}

// Functions returns the functions of a provider by name.
func (s *Schemas) Functions(a addr.Provider) (map[string]*schema.Function, diag.List) {
	c, diags := s.set.Catalog(s.ctx, a)
	if diags.HasErrors() {
		return nil, diags
	}
	return c.Functions()
}
