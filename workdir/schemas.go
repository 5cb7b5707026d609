package workdir

import (
	"context"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Schemas looks up schemas of a session's providers, for renderers. A provider that cannot be started has
// none.
type Schemas struct {
	ctx     context.Context
	project *mayfly.Project
	known   map[addr.Provider]provider.Catalog
}

// Schemas returns the schemas of the session's providers, which are started when they are first asked for, as
// long as ctx has not ended.
func (s *Session) Schemas(ctx context.Context) *Schemas {
	return &Schemas{ctx: ctx, project: s.Project, known: map[addr.Provider]provider.Catalog{}}
}

// catalog returns the schemas of a provider; none if it cannot be started, so that one broken provider does
// not keep the rest of a state from being shown. Each provider is tried once.
func (c *Schemas) catalog(p addr.Provider) provider.Catalog {
	got, ok := c.known[p]
	if !ok {
		if cat, diags := c.project.Catalog(c.ctx, p); !diags.HasErrors() {
			got = cat
		}
		c.known[p] = got
	}
	return got
}

// Identity returns the schema of the identity of a type; nil if it has none.
func (c *Schemas) Identity(p addr.Provider, typeName string) *schema.Identity {
	cat := c.catalog(p)
	if cat == nil {
		return nil
	}
	id, diags := cat.Identity(typeName)
	if diags.HasErrors() {
		return nil
	}
	return id
}

// Resource returns the schema of a resource type; nil if it is not known.
func (c *Schemas) Resource(p addr.Provider, mode addr.Mode, typeName string) *schema.Schema {
	cat := c.catalog(p)
	if cat == nil {
		return nil
	}
	s, diags := cat.Resource(mode, typeName)
	if diags.HasErrors() {
		return nil
	}
	return s
}

// Provider returns the schema of a provider's configuration; nil if it is not known.
func (c *Schemas) Provider(p addr.Provider) *schema.Schema {
	cat := c.catalog(p)
	if cat == nil {
		return nil
	}
	s, diags := cat.Provider()
	if diags.HasErrors() {
		return nil
	}
	return s
}
