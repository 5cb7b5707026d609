package eval

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/plan"
)

// Graph returns what refers to what in the configuration, by blocks. Instances are demanded one by one, so that blocks in a circle are no error by themselves.
func (c *Config) Graph() *plan.Graph {
	b := graphBuilder{g: &plan.Graph{}, cfg: c}
	for _, m := range c.modules {
		b.module(m)
	}
	b.g.Root()
	return b.g
}

// graphBuilder names nodes as others do: a block with the word expand, its end with the word close.
type graphBuilder struct {
	g   *plan.Graph
	cfg *Config
}

func opened(name string) string { return name + " (expand)" }
func closed(name string) string { return name + " (close)" }

func (b *graphBuilder) module(m *moduleBlock) {
	for _, group := range []map[string]*valueBlock{m.variables, m.locals, m.outputs} {
		for _, v := range group {
			b.value(v)
		}
	}
	for _, p := range m.providers {
		b.provider(p)
	}
	for _, r := range m.resources {
		b.resource(r)
	}
	for _, call := range m.calls {
		if call.child == nil {
			continue
		}
		name := call.child.cfg.Path.String()
		b.exprs(m, opened(name), call.repeat.count, call.repeat.forEach, call.repeat.enabled)
		b.refs(m, opened(name), call.dependsOn)
		b.g.Depend(closed(name), opened(name))
		if m.parent != nil {
			b.g.Depend(closed(m.cfg.Path.String()), closed(name))
		}
	}
	for _, check := range m.checks {
		b.check(check)
	}
}

func (b *graphBuilder) valueName(v *valueBlock) string {
	name := blockName(v)
	if v.kind == variableValue && v.module.parent == nil {
		return name
	}
	return opened(name)
}

func (b *graphBuilder) value(v *valueBlock) {
	name, m := b.valueName(v), v.module
	switch {
	case v.kind == variableValue && m.parent == nil:
		b.g.Add(name, plan.VariableNode)
	case v.kind == variableValue:
		b.inside(m, name)
		b.exprs(m.parent, name, v.expr)
	default:
		b.inside(m, name)
		b.exprs(m, name, v.expr)
	}
	b.conditions(m, name, v.conds)
	b.refs(m, name, v.dependsOn)
	if v.kind == outputValue && m.parent == nil {
		b.users(v.opens, name)
	}
}

// inside says that a node is in a module: after its repetition is known, and before its end.
func (b *graphBuilder) inside(m *moduleBlock, name string) {
	b.g.Add(name, plan.StepNode)
	if m.parent != nil {
		path := m.cfg.Path.String()
		b.g.Depend(name, opened(path))
		b.g.Depend(closed(path), name)
	}
}

func (b *graphBuilder) provider(p *providerBlock) {
	if p.module.cfg.Passed(p.cfg.Ref()) != nil {
		return
	}
	name := b.providerName(p)
	b.g.Add(name, plan.ProviderNode)
	b.g.Depend(closed(name), name)
	b.exprs(p.module, name, p.each)
	b.exprs(p.module, name, p.body...)
	b.users(p.opens, closed(name))
}

func (b *graphBuilder) providerName(p *providerBlock) string {
	return plan.ProviderNodeName(p.module.cfg.Path, p.source, p.cfg.Alias)
}

func (b *graphBuilder) resource(r *ResourceBlock) {
	m, block := r.module, blockName(r)
	name := opened(block)
	b.inside(m, name)
	b.g.Add(name, plan.ResourceNode)
	b.exprs(m, name, r.repeat.count, r.repeat.forEach, r.repeat.enabled, r.prevent, r.providerKey)
	b.exprs(m, name, r.body...)
	b.exprs(m, name, r.triggers...)
	b.exprs(m, name, r.idle...)
	b.conditions(m, name, r.pre)
	b.conditions(m, name, r.post)
	for _, p := range slices.Concat(r.provisioners, r.departing) {
		b.exprs(m, name, p.exprs...)
	}
	b.refs(m, name, r.dependsOn)
	last := name
	if r.Config.Addr.Mode == addr.Ephemeral {
		last = closed(block)
		b.g.Depend(last, name)
	}
	provider := plan.ProviderNodeName(addr.RootModule, r.Provider, "")
	if p := m.providerBlockFor(r.Config.ProviderRef()); p != nil {
		provider = b.providerName(p)
	}
	b.g.Add(provider, plan.ProviderNode)
	b.g.Depend(name, provider)
	b.g.Depend(closed(provider), last)
	b.users(r.opens, last)
}

// users says that ephemeral blocks are closed after a node, which may use them.
func (b *graphBuilder) users(set *openSet, last string) {
	if set == nil {
		return
	}
	for r := range set.all {
		b.g.Depend(closed(r.String()), last)
	}
}

func (b *graphBuilder) check(c *checkBlock) {
	name := opened(c.configAddr())
	b.inside(c.module, name)
	b.conditions(c.module, name, c.asserts)
	if c.nested != nil {
		b.g.Depend(name, opened(blockName(c.nested)))
	}
	b.users(c.opens, name)
}

func (b *graphBuilder) conditions(m *moduleBlock, name string, conds []condition) {
	for _, c := range conds {
		b.exprs(m, name, c.cond, c.msg)
	}
}

func (b *graphBuilder) exprs(m *moduleBlock, name string, exprs ...*lang.Expr) {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			b.ref(m, name, &x.Refs[i])
		}
	}
}

// refs is for depends_on, where a module stands for everything in it.
func (b *graphBuilder) refs(m *moduleBlock, name string, refs []lang.Ref) {
	for i := range refs {
		ref := &refs[i]
		if call := m.calls[ref.Name]; ref.Kind == lang.Module && call != nil && call.child != nil {
			b.g.Depend(name, closed(call.child.cfg.Path.String()))
			continue
		}
		b.ref(m, name, ref)
	}
}

func (b *graphBuilder) ref(m *moduleBlock, name string, ref *lang.Ref) {
	switch ref.Kind {
	case lang.Variable:
		if v := m.variables[ref.Name]; v != nil {
			b.g.Depend(name, b.valueName(v))
		}
	case lang.Local:
		if v := m.locals[ref.Name]; v != nil {
			b.g.Depend(name, b.valueName(v))
		}
	case lang.Resource:
		if r := m.resources[ref.Resource]; r != nil {
			b.g.Depend(name, opened(blockName(r)))
		}
	case lang.Module:
		call := m.calls[ref.Name]
		if call == nil || call.child == nil {
			return
		}
		b.g.Depend(name, opened(call.child.cfg.Path.String()))
		for _, output := range slices.Sorted(maps.Keys(call.child.outputs)) {
			if ref.Output == "" || ref.Output == output {
				b.g.Depend(name, b.valueName(call.child.outputs[output]))
			}
		}
	}
	if ref.Index != nil && ref.Index.Expr != nil {
		b.exprs(m, name, ref.Index.Expr)
	}
}
