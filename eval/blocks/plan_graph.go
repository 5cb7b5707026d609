package blocks

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
func graphName(n Node) string {
	switch b := n.(type) {
	case *Value:
		if b.Kind == VariableValue && b.Module.Parent == nil {
			return b.Address()
		}
	case *Provider:
		return plan.ProviderNodeName(b.Module.Config.Path, b.Source, b.Config.Alias)
	case insideOf:
		return closed(b.Address())
	}
	return opened(n.Address())
}

func (b graphBuilder) node(n Node) {
	name := graphName(n)
	switch n := n.(type) {
	case *Value:
		b.value(n, name)
	case *Provider:
		if n.Module.Config.Passed(n.Config.Ref()) != nil {
			return
		}
		b.g.Add(name, plan.ProviderNode)
		b.g.Depend(closed(name), name)
		b.users(n.Opens, closed(name))
	case *Resource:
		b.inside(n.Module, name)
		b.g.Add(name, plan.ResourceNode)
		b.resource(n, name)
	case *Call:
		if n.Child == nil {
			return
		}
		b.g.Depend(closed(n.Address()), name)
		if n.Module.Parent != nil {
			b.g.Depend(closed(n.Module.Config.Path.String()), closed(n.Address()))
		}
	case *Check:
		b.inside(n.Module, name)
		b.users(n.Opens, name)
	}
	b.edges(n, name)
}

func (b graphBuilder) value(v *Value, name string) {
	if v.Kind == VariableValue && v.Module.Parent == nil {
		b.g.Add(name, plan.VariableNode)
	} else {
		b.inside(v.Module, name)
	}
	if v.Kind == OutputValue && v.Module.Parent == nil {
		b.users(v.Opens, name)
	}
}

// inside says that a node is in a module: after its repetition is known, and before its end.
func (b graphBuilder) inside(m *Module, name string) {
	b.g.Add(name, plan.StepNode)
	if m.Parent != nil {
		path := m.Config.Path.String()
		b.g.Depend(name, opened(path))
		b.g.Depend(closed(path), name)
	}
}

// resource adds the provider that a resource needs, and what is closed after it.
func (b graphBuilder) resource(r *Resource, name string) {
	last := name
	if isEphemeral(r) {
		last = closed(r.Address())
		b.g.Depend(last, name)
	}
	provider := plan.ProviderNodeName(addr.RootModule, r.Provider, "")
	if p := r.Module.ProviderFor(r.Config.ProviderRef()); p != nil {
		provider = graphName(p)
	}
	b.g.Add(provider, plan.ProviderNode)
	b.g.Depend(name, provider)
	b.g.Depend(closed(provider), last)
	b.users(r.Opens, last)
}

// users says that ephemeral blocks are closed after a node, which may use them.
func (b graphBuilder) users(set *OpenSet, last string) {
	if set == nil {
		return
	}
	for r := range set.All {
		b.g.Depend(closed(r.String()), last)
	}
}

// edges adds what a node refers to. Of a module as a whole, these are its outputs.
func (b graphBuilder) edges(n Node, name string) {
	for e := range n.edges {
		switch to := e.to.(type) {
		case *Provider: // added with the resource
		case outputsOf:
			b.edges(to, name)
		default:
			if e.role != aroundIt {
				b.g.Depend(name, graphName(to))
			}
		}
	}
}
