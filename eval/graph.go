package eval

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Graph returns what refers to what in the configuration, by blocks. Instances are demanded one by one, so
// that blocks in a cycle are no error by themselves.
func (c *Config) Graph() *plan.Graph {
	b := graphBuilder{&plan.Graph{}}
	for n := range c.eachNode {
		b.node(n)
	}
	b.g.Root()
	return b.g
}

// graphBuilder names nodes as other engines do: a block with the word expand, its end with the word close.
type graphBuilder struct{ g *plan.Graph }

func opened(name string) string { return name + " (expand)" }
func closed(name string) string { return name + " (close)" }

// graphName returns the name of what others wait for when they refer to a node.
func graphName(n node) string {
	switch b := n.(type) {
	case *valueBlock:
		if b.kind == variableValue && b.module.parent == nil {
			return b.blockName()
		}
	case *providerBlock:
		return plan.ProviderNodeName(b.module.cfg.Path, b.source, b.cfg.Alias)
	case insideOf:
		return closed(b.blockName())
	}
	return opened(n.blockName())
}

func (b graphBuilder) node(n node) {
	name := graphName(n)
	switch n := n.(type) {
	case *valueBlock:
		b.value(n, name)
	case *providerBlock:
		if n.module.cfg.Passed(n.cfg.Ref()) != nil {
			return
		}
		b.g.Add(name, plan.ProviderNode)
		b.g.Depend(closed(name), name)
		b.users(n.opens, closed(name))
	case *ResourceBlock:
		b.inside(n.module, name)
		b.g.Add(name, plan.ResourceNode)
		b.resource(n, name)
	case *callBlock:
		if n.child == nil {
			return
		}
		b.g.Depend(closed(n.blockName()), name)
		if n.module.parent != nil {
			b.g.Depend(closed(n.module.cfg.Path.String()), closed(n.blockName()))
		}
	case *checkBlock:
		b.inside(n.module, name)
		b.users(n.opens, name)
	}
	b.edges(n, name)
}

func (b graphBuilder) value(v *valueBlock, name string) {
	if v.kind == variableValue && v.module.parent == nil {
		b.g.Add(name, plan.VariableNode)
	} else {
		b.inside(v.module, name)
	}
	if v.kind == outputValue && v.module.parent == nil {
		b.users(v.opens, name)
	}
}

// inside says that a node is in a module: after its repetition is known, and before its end.
func (b graphBuilder) inside(m *moduleBlock, name string) {
	b.g.Add(name, plan.StepNode)
	if m.parent != nil {
		path := m.cfg.Path.String()
		b.g.Depend(name, opened(path))
		b.g.Depend(closed(path), name)
	}
}

// resource adds the provider that a resource needs, and what is closed after it.
func (b graphBuilder) resource(r *ResourceBlock, name string) {
	last := name
	if isEphemeral(r) {
		last = closed(r.blockName())
		b.g.Depend(last, name)
	}
	provider := plan.ProviderNodeName(addr.RootModule, r.Provider, "")
	if p := r.module.providerBlockFor(r.Config.ProviderRef()); p != nil {
		provider = graphName(p)
	}
	b.g.Add(provider, plan.ProviderNode)
	b.g.Depend(name, provider)
	b.g.Depend(closed(provider), last)
	b.users(r.opens, last)
}

// users says that ephemeral blocks are closed after a node, which may use them.
func (b graphBuilder) users(set *openSet, last string) {
	if set == nil {
		return
	}
	for r := range set.all {
		b.g.Depend(closed(r.String()), last)
	}
}

// edges adds what a node refers to. Of a module as a whole, these are its outputs.
func (b graphBuilder) edges(n node, name string) {
	for e := range n.edges {
		switch to := e.to.(type) {
		case *providerBlock: // added with the resource
		case outputsOf:
			b.edges(to, name)
		default:
			if e.role != aroundIt {
				b.g.Depend(name, graphName(to))
			}
		}
	}
}
