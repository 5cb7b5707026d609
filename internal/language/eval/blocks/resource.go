package blocks

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
)

// resource compiles a resource, data or ephemeral block, nil if its type has no schema. Only postconditions,
// provisioners and connections may refer to self, because they are evaluated once the object exists.
func (c *compiler) resource(m *Module, r *config.Resource) *Resource {
	b := &Resource{Config: r, Provider: m.Config.ProviderFor(r.ProviderRef().Name), Module: m}
	s, diags := c.cfg.Schemas.Resource(b.Provider, r.Addr.Mode, r.Addr.Type)
	c.reportNoSchema(diags)
	if s == nil {
		if !diags.HasErrors() {
			c.diags = append(c.diags, c.unknownType(b)...)
		}
		attrs, _ := r.Body.JustAttributes() // without a schema, this much can be checked
		for _, a := range attrs {
			c.expr(m, a.Expr, site{repeat: c.repetition(m, r.Repeat)})
		}
		return nil
	}
	b.Schema = s
	b.Repeat = c.repetition(m, r.Repeat)
	inside := site{repeat: b.Repeat, check: r.Check}
	after := site{repeat: b.Repeat, self: true, check: r.Check}
	if r.NoBody && c.lacksConfig(b) {
		return nil
	}
	b.Body = c.body(m, r.Body, s.Block, inside)
	b.View = s.Block.Bind(marked.Body(r.Body, lang.Expressions(b.Body)))
	c.list(b, r.List, inside)
	b.DependsOn = c.traversals(m, r.DependsOn, site{})
	b.Preconditions = c.conditions(m, r.Lifecycle.Preconditions, inside)
	b.Postconditions = c.conditions(m, r.Lifecycle.Postconditions, after)
	b.Prevent = c.expr(m, r.Lifecycle.PreventDestroy, site{})
	for _, t := range r.Lifecycle.ReplaceTriggeredBy {
		b.Triggers = append(b.Triggers, c.expr(m, t.Expr, inside))
		for _, key := range t.Keys {
			b.TriggerKeys = append(b.TriggerKeys, c.expr(m, key, inside))
		}
	}
	if r.Provider != nil {
		b.ProviderKey = c.expr(m, r.Provider.KeyExpr, inside)
	}
	c.actionTriggers(b, inside, after)
	c.ignored(b)
	c.ephemeralAttributes(b)
	b.Provisioners, b.DestroyProvisioners, b.IdleConnections = c.provisioners(m, r.Provisioners, r.Connection, after)
	return b
}

// ignored checks that the attributes that ignore_changes names exist.
func (c *compiler) ignored(b *Resource) {
	for _, t := range b.Config.Lifecycle.IgnoreChanges {
		ref := lang.Ref{Resource: b.Config.Addr}
		switch step := t[0].(type) {
		case hcl.TraverseRoot:
			ref.Rest = hcl.Traversal{hcl.TraverseAttr{Name: step.Name, SrcRange: step.SrcRange}}
		case hcl.TraverseAttr:
			ref.Rest = hcl.Traversal{step}
		default:
			continue
		}
		diags := b.checkAttribute(ref)
		if name, ok := ref.Rest[0].(hcl.TraverseAttr); ok && !diags.HasErrors() && b.onlyComputed(name.Name) {
			diags = diag.At(t.SourceRange(), "Redundant ignore_changes element",
				"The provider alone decides about the attribute %q, so there is no change to the configuration to ignore. Remove it from the list.", name.Name).AsWarnings()
		}
		c.diags = append(c.diags, diags...)
	}
}

// onlyComputed reports whether the attribute can't be set in the configuration.
func (b *Resource) onlyComputed(name string) bool {
	a := b.Schema.Block.Attributes[name]
	return a != nil && a.Computed && !a.Optional
}

// unknownType explains a type that the provider does not have: the nearest name, and the same name in another
// mode.
func (c *compiler) unknownType(b *Resource) diag.List {
	r := b.Config.Addr
	if b.IsList() {
		return diag.At(b.Config.TypeRange, "Invalid list type", "The provider %s cannot list objects of the type %q.%s", b.Provider.ForDisplay(), r.Type,
			didYouMeanOr(r.Type, c.cfg.Schemas.Types(b.Provider, r.Mode), "It can list"))
	}
	what := map[addr.Mode]string{addr.Managed: "resource type", addr.Data: "data source", addr.Ephemeral: "ephemeral resource type", addr.Action: "action type"}
	article := map[addr.Mode]string{addr.Managed: "a", addr.Data: "a", addr.Ephemeral: "an", addr.Action: "an"}
	detail := "The provider " + b.Provider.ForDisplay() + " does not support " + what[r.Mode] + " \"" + r.Type + "\"."
	for _, other := range []addr.Mode{addr.Managed, addr.Data, addr.Ephemeral, addr.Action} {
		if other == r.Mode {
			continue
		}
		if s, _ := c.cfg.Schemas.Resource(b.Provider, other, r.Type); s != nil {
			detail += " It has " + article[other] + " " + what[other] + " of that name: did you intend " + article[other] + " \"" + other.String() + "\" block?"
			return diag.At(b.Config.TypeRange, "Invalid "+what[r.Mode], "%s", detail)
		}
	}
	types := c.cfg.Schemas.Types(b.Provider, r.Mode)
	hint := diag.DidYouMean(r.Type, types)
	if b.IsAction() {
		if hint = didYouMeanOr(r.Type, types, "Its actions are"); len(types) == 0 {
			hint = " This version of it has no actions at all."
		}
	}
	return diag.At(b.Config.TypeRange, "Invalid "+what[r.Mode], "%s%s", detail, hint)
}
