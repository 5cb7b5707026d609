package eval

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/lang/marked"
)

func (c *compiler) resource(m *moduleBlock, r *config.Resource) *ResourceBlock {
	b := &ResourceBlock{Config: r, Provider: m.cfg.ProviderFor(r.ProviderRef().Name), module: m}
	s, diags := c.cfg.schemas.Resource(b.Provider, r.Addr.Mode, r.Addr.Type)
	c.diags = append(c.diags, diags...)
	if s == nil {
		if !diags.HasErrors() {
			c.diags = append(c.diags, c.unknownType(b)...)
		}
		attrs, _ := r.Body.JustAttributes() // without a schema, this much can be checked
		for _, a := range attrs {
			c.expr(m, a.Expr, use{repeat: c.repetition(m, r.Repeat)})
		}
		return nil
	}
	b.Schema = s
	b.repeat = c.repetition(m, r.Repeat)
	inside := use{repeat: b.repeat, check: r.Check}
	after := use{repeat: b.repeat, self: true, check: r.Check}
	b.body = c.body(m, r.Body, s.Block, inside)
	b.view = marked.Body(r.Body, lang.Expressions(b.body))
	b.dependsOn = c.traversals(m, r.DependsOn, use{})
	b.pre = c.conditions(m, r.Lifecycle.Preconditions, inside)
	b.post = c.conditions(m, r.Lifecycle.Postconditions, after)
	b.prevent = c.expr(m, r.Lifecycle.PreventDestroy, use{})
	for _, t := range r.Lifecycle.ReplaceTriggeredBy {
		b.triggers = append(b.triggers, c.expr(m, t, inside))
	}
	if r.Provider != nil {
		b.providerKey = c.expr(m, r.Provider.KeyExpr, inside)
	}
	c.ignored(b)
	b.provisioners, b.departing, b.idle = c.provisioners(m, r.Provisioners, r.Connection, after)
	return b
}

// ignored checks that what ignore_changes names exists.
func (c *compiler) ignored(b *ResourceBlock) {
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
		c.diags = append(c.diags, b.checkAttribute(ref)...)
	}
}

// unknownType explains a type that the provider does not have: the nearest name, and the same name in another mode.
func (c *compiler) unknownType(b *ResourceBlock) diag.List {
	r := b.Config.Addr
	what := map[addr.Mode]string{addr.Managed: "resource type", addr.Data: "data source", addr.Ephemeral: "ephemeral resource type"}
	article := map[addr.Mode]string{addr.Managed: "a", addr.Data: "a", addr.Ephemeral: "an"}
	detail := "The provider " + b.Provider.ForDisplay() + " does not support " + what[r.Mode] + " \"" + r.Type + "\"."
	for _, other := range []addr.Mode{addr.Managed, addr.Data, addr.Ephemeral} {
		if other == r.Mode {
			continue
		}
		if s, _ := c.cfg.schemas.Resource(b.Provider, other, r.Type); s != nil {
			detail += " It has " + article[other] + " " + what[other] + " of that name: did you intend " + article[other] + " \"" + other.String() + "\" block?"
			return diag.At(b.Config.TypeRange, "Invalid "+what[r.Mode], "%s", detail)
		}
	}
	return diag.At(b.Config.TypeRange, "Invalid "+what[r.Mode], "%s%s", detail, diag.DidYouMean(r.Type, c.cfg.schemas.Types(b.Provider, r.Mode)))
}
