package blocks

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Graph returns the references between the blocks of the configuration. Instances are demanded one by one, so
// that a cycle of blocks is not an error by itself.
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

func openName(name string) string  { return name + " (expand)" }
func closeName(name string) string { return name + " (close)" }

// graphName returns the name of the node of the drawn graph that others wait for when they refer to n.
func graphName(n Node) string {
	switch b := n.(type) {
	case *Value:
		if b.Kind == VariableValue && b.Module.Parent == nil {
			return b.Address()
		}
	case *Provider:
		return plan.ProviderNodeName(b.Module.Config.Path, b.Source, b.Config.Alias)
	case insideOf:
		return closeName(b.Address())
	}
	return openName(n.Address())
}

// node adds a node and its dependencies. A node that may keep an ephemeral block open delays the block's
// close node, so that the graph shows how long the block stays open as well as when it is opened.
func (b graphBuilder) node(n Node) {
	name := graphName(n)
	last := name // after which ephemeral blocks that the node may use are closed
	var kind plan.NodeKind
	var uses *OpenSet
	switch n := n.(type) {
	case *Value:
		b.inside(n.Module, name)
		switch {
		case n.Module.Parent != nil: // readers of the value use the resources that it opens
		case n.Kind == VariableValue:
			kind = plan.VariableNode
		case n.Kind == OutputValue:
			uses = n.Opens
		}
	case *Provider:
		if n.Module.Config.Passed(n.Config.Ref()) != nil {
			return // another block is meant
		}
		kind, last, uses = plan.ProviderNode, closeName(name), n.Opens
	case *Resource:
		b.inside(n.Module, name)
		if kind, uses = plan.ResourceNode, n.Opens; isEphemeral(n) {
			last = closeName(n.Address())
		}
		b.provider(n, name, last)
	case *Call:
		if n.Child == nil {
			return
		}
		if last = closeName(n.Address()); n.Module.Parent != nil {
			b.g.Depend(closeName(n.Module.Config.Path.String()), last)
		}
	case *Check:
		b.inside(n.Module, name)
		uses = n.Opens
	}
	b.g.Add(name, kind)
	b.g.Depend(last, name)
	if uses != nil {
		for r := range uses.All {
			b.g.Depend(closeName(r.String()), last)
		}
	}
	b.edges(n, name)
}

// trigger puts an action after the resource that triggers it, or before it if it is invoked then too.
func (b graphBuilder) trigger(n Node, e edge) {
	r, ok := n.(*Resource)
	if !ok || e.role != InActions {
		return
	}
	if action, ok := e.to.(*Resource); ok && action.IsAction() {
		if first, second := graphName(action), graphName(r); r.triggersBefore(action) {
			b.g.Depend(second, first)
		} else {
			b.g.Depend(first, second)
		}
	}
}

// inside puts a node into a module: after its repetition is known, and before its end.
func (b graphBuilder) inside(m *Module, name string) {
	if m.Parent != nil {
		path := m.Config.Path.String()
		b.g.Depend(name, openName(path))
		b.g.Depend(closeName(path), name)
	}
}

// provider puts a resource after its provider, which is closed after the last node of the resource.
func (b graphBuilder) provider(r *Resource, name, last string) {
	provider := plan.ProviderNodeName(addr.RootModule, r.Provider, "")
	if p := r.Module.ProviderFor(r.Config.ProviderRef()); p != nil {
		provider = graphName(p)
	}
	b.g.Add(provider, plan.ProviderNode)
	b.g.Depend(name, provider)
	b.g.Depend(closeName(provider), last)
}

// edges adds the references of a node. For a module as a whole, they lead to its outputs.
func (b graphBuilder) edges(n Node, name string) {
	for e := range n.edges {
		switch to := e.to.(type) {
		case *Provider: // added with the resource
		case outputsOf:
			b.edges(to, name)
		default:
			if e.role&Triggering != 0 {
				b.trigger(n, e)
			} else if e.role&(AroundIt|InElement) == 0 { // which the edge to the module has already
				b.g.Depend(name, graphName(to))
			}
		}
	}
}
