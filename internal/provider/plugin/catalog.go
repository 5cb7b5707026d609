package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// catalog is the provider's catalog. Each schema is decoded on first use.
type catalog struct {
	c            *client
	capabilities provider.Capabilities
	provider     lazySchema
	meta         *lazySchema
	types        map[addr.Mode]map[string]*lazySchema
	stateStores  map[string]*lazySchema
	rawFunctions map[string][]byte

	functionsOnce sync.Once
	functions     map[string]*schema.Function
	functionDiags diag.List
}

var _ provider.Catalog = (*catalog)(nil)

// lazySchema is a schema that stays encoded until it is used.
type lazySchema struct {
	decoder decoder
	what    string // for errors
	raw     []byte

	once  sync.Once
	value *schema.Schema
	diags diag.List
}

// decodedSchemas counts decodings, for tests of laziness.
var decodedSchemas atomic.Int64

// get returns the schema, or the mistakes in it. provider names the provider in errors.
func (l *lazySchema) get(provider string) (*schema.Schema, diag.List) {
	l.once.Do(func() {
		decodedSchemas.Add(1)
		s, problems := l.decoder.schema(l.raw)
		if len(problems) > 0 {
			l.diags = invalidSchema(provider, l.what, problems)
			return
		}
		l.value = s
	})
	return l.value, slices.Clone(l.diags)
}

// invalidSchema returns the error for a schema that breaks the rules of the protocol.
func invalidSchema(provider, what string, problems []string) diag.List {
	return diag.Errorf("Invalid provider schema", "Provider %s declares an invalid schema for %s:\n  - %s\n\nThis is a bug in the provider: report "+
		"it to its developers, or use another version.", provider, what, strings.Join(problems, "\n  - "))
}

// Catalog implements provider.Reader.
func (c *client) Catalog(ctx context.Context) (provider.Catalog, diag.List) {
	cat, diags := c.loadCatalog(ctx)
	if cat == nil {
		return nil, diags
	}
	return cat, diags
}

// loadCatalog asks the provider for its schemas, at most once per process. Only the first caller gets the
// warnings.
func (c *client) loadCatalog(ctx context.Context) (*catalog, diag.List) {
	const rpc = "GetProviderSchema"
	cat, diags, err := c.catalog.get(ctx, c.life, c.fetchCatalog)
	if err != nil {
		return nil, c.interrupted(err, rpc)
	}
	first := c.catalogTold.CompareAndSwap(false, true)
	if !first && cat != nil {
		return cat, nil
	}
	if !first && len(diags) == 1 {
		if _, crashed := diags[0].Extra.(provider.Stopped); crashed {
			return nil, c.lost(rpc, false)
		}
	}
	return cat, slices.Clone(diags)
}

// fetchCatalog takes the schemas from the cache or asks the provider, and saves them if they may be kept.
func (c *client) fetchCatalog(ctx context.Context) (*catalog, diag.List) {
	const rpc = "GetProviderSchema"
	if c.recorded != nil {
		return c.newCatalog(c.recorded.Schemas)
	}
	if c.cache != nil {
		if saved := c.cache.Load(c.protocol); saved != nil {
			if cat, diags := c.newCatalog(saved); cat.cacheable() {
				return cat, diags
			}
		}
	}
	response, err := c.calls.CallRaw(ctx, c.method(rpc), &tfplugin6.GetProviderSchema_Request{})
	if err != nil {
		return nil, c.callError(ctx, rpc, err)
	}
	cat, diags := c.newCatalog(response)
	if c.cache != nil && cat.cacheable() {
		c.cache.Save(c.protocol, response)
	}
	return cat, diags
}

// cacheable reports whether the schemas may be kept for later commands: if the provider does not need to be
// asked for them, and its configuration has no required argument. A required argument may become optional
// if an environment variable gives its value.
func (cat *catalog) cacheable() bool {
	if cat == nil || !cat.capabilities.SchemaOptional {
		return false
	}
	s, diags := cat.Provider()
	return !diags.HasErrors() && (s == nil || !requires(s.Block))
}

// requires reports whether a block, or a nested block, has a required argument. Blocks that are required
// count by their arguments only.
func requires(b *schema.Block) bool {
	for _, a := range b.Attributes {
		if a.Required {
			return true
		}
	}
	for _, n := range b.Blocks {
		if requires(&n.Block) {
			return true
		}
	}
	return false
}

// newCatalog makes the catalog of an encoded response, which it keeps a reference to. It decodes no schema.
func (c *client) newCatalog(response []byte) (*catalog, diag.List) {
	idx, err := indexSchema(response)
	if err != nil {
		return nil, c.badSchemaResponse(err)
	}
	x := c.exchange(context.Background(), "GetProviderSchema", "")
	for _, raw := range idx.diagnostics {
		var d tfplugin6.Diagnostic
		if err := proto.Unmarshal(raw, &d); err != nil {
			return nil, c.badSchemaResponse(err)
		}
		x.report([]*tfplugin6.Diagnostic{&d})
	}
	var caps tfplugin6.ServerCapabilities
	if err := proto.Unmarshal(idx.capabilities, &caps); err != nil {
		return nil, c.badSchemaResponse(err)
	}
	if x.failed() {
		return nil, x.diags
	}
	cat := &catalog{c: c, rawFunctions: idx.functions, capabilities: provider.Capabilities{
		PlanDestroy: caps.PlanDestroy, SchemaOptional: caps.GetProviderSchemaOptional,
		MoveResourceState: caps.MoveResourceState, GenerateResourceConfig: caps.GenerateResourceConfig,
	}}
	cat.provider = lazySchema{decoder: decoder{protocol: c.protocol, kind: schema.ForProvider}, what: "its configuration", raw: idx.provider}
	if idx.meta != nil {
		cat.meta = &lazySchema{decoder: decoder{protocol: c.protocol, kind: schema.ForProvider}, what: "provider_meta blocks", raw: idx.meta}
	}
	cat.types = map[addr.Mode]map[string]*lazySchema{
		addr.Managed:   cat.lazy(addr.Managed, idx.resources),
		addr.Data:      cat.lazy(addr.Data, idx.dataSources),
		addr.Ephemeral: cat.lazy(addr.Ephemeral, idx.ephemerals),
		addr.List:      cat.lazy(addr.List, idx.lists),
		addr.Action:    cat.lazy(addr.Action, idx.actions),
	}
	cat.stateStores = cat.lazyOf(schema.ForStateStore, "state store", idx.stateStores)
	return cat, x.diags
}

// badSchemaResponse returns the error for a response that is not well-formed as a whole.
func (c *client) badSchemaResponse(err error) diag.List {
	return diag.Errorf("Invalid provider schema", "The schemas of provider %s cannot be read: %s. This is a bug in the provider: report it to its "+
		"developers, or use another version.", c.name, err)
}

// kinds says which rules a schema must follow.
var kinds = map[addr.Mode]schema.Kind{
	addr.Managed: schema.ForManaged, addr.Data: schema.ForData, addr.Ephemeral: schema.ForEphemeral, addr.List: schema.ForList, addr.Action: schema.ForAction,
}

// lazy wraps the encoded schemas of a mode.
func (cat *catalog) lazy(mode addr.Mode, raw map[string][]byte) map[string]*lazySchema {
	return cat.lazyOf(kinds[mode], modeNames[mode], raw)
}

// lazyOf wraps encoded schemas of a kind, which noun names in errors.
func (cat *catalog) lazyOf(kind schema.Kind, noun string, raw map[string][]byte) map[string]*lazySchema {
	types := make(map[string]*lazySchema, len(raw))
	for name, data := range raw {
		types[name] = &lazySchema{
			decoder: decoder{protocol: cat.c.protocol, kind: kind},
			what:    fmt.Sprintf("the %s type %s", noun, name),
			raw:     data,
		}
	}
	return types
}

// Provider implements provider.Catalog.
func (cat *catalog) Provider() (*schema.Schema, diag.List) { return cat.provider.get(cat.c.name) }

// Resource implements provider.Catalog.
func (cat *catalog) Resource(mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	l := cat.types[mode][typeName]
	if l == nil {
		return nil, nil
	}
	return l.get(cat.c.name)
}

// Types implements provider.Catalog.
func (cat *catalog) Types(mode addr.Mode) []string { return slices.Sorted(maps.Keys(cat.types[mode])) }

// Meta implements provider.Catalog.
func (cat *catalog) Meta() (*schema.Schema, diag.List) {
	if cat.meta == nil {
		return nil, nil
	}
	return cat.meta.get(cat.c.name)
}

// Capabilities implements provider.Catalog.
func (cat *catalog) Capabilities() provider.Capabilities { return cat.capabilities }

// Identity implements provider.Catalog. The first call asks the provider, and ends at Close at the latest.
func (cat *catalog) Identity(typeName string) (*schema.Identity, diag.List) {
	return cat.c.identity(cat.c.life, typeName)
}

// Functions implements provider.Catalog.
func (cat *catalog) Functions() (map[string]*schema.Function, diag.List) {
	cat.functionsOnce.Do(func() {
		cat.functions, cat.functionDiags = cat.c.decodeFunctions(cat.rawFunctions)
	})
	return cat.functions, slices.Clone(cat.functionDiags)
}

// identity returns the identity schema of a managed type, or nil if it has none. The first call asks for
// all of them.
func (c *client) identity(ctx context.Context, typeName string) (*schema.Identity, diag.List) {
	const rpc = "GetResourceIdentitySchemas"
	all, diags, err := c.identities.get(ctx, c.life, func(ctx context.Context) (map[string]*schema.Identity, diag.List) {
		x := c.exchange(ctx, rpc, "")
		var resp tfplugin6.GetResourceIdentitySchemas_Response
		var err error
		if c.recorded != nil {
			err = proto.Unmarshal(c.recorded.Identities, &resp)
		} else {
			err = c.invoke(ctx, rpc, &tfplugin6.GetResourceIdentitySchemas_Request{}, &resp)
		}
		if isUnimplemented(err) {
			return nil, nil
		}
		if err != nil {
			return nil, c.callError(ctx, rpc, err)
		}
		x.report(resp.Diagnostics)
		c.sentIdentities = resp.IdentitySchemas
		return x.identities(&resp), x.diags
	})
	if err != nil {
		return nil, c.interrupted(err, rpc)
	}
	if diags.HasErrors() {
		return nil, slices.Clone(diags)
	}
	return all[typeName], nil
}

// identities decodes the identity schemas. Invalid ones are reported and left out.
func (x *exchange) identities(resp *tfplugin6.GetResourceIdentitySchemas_Response) map[string]*schema.Identity {
	all := make(map[string]*schema.Identity, len(resp.IdentitySchemas))
	for _, name := range slices.Sorted(maps.Keys(resp.IdentitySchemas)) {
		s, problems := decodeIdentitySchema(resp.IdentitySchemas[name])
		if len(problems) > 0 {
			x.diags = append(x.diags, invalidSchema(x.c.name, "the identity of the resource type "+name, problems)...)
			continue
		}
		all[name] = s
	}
	return all
}
