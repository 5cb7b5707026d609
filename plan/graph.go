package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/component"
	"github.com/mayfly-iac/mayfly/state"
)

// NodeKind is the kind of thing that a node of a Graph represents.
type NodeKind uint8

// The kinds of nodes.
const (
	StepNode     NodeKind = iota // without a place in the configuration, such as closing a provider
	VariableNode                 // an input variable of the root module
	ResourceNode                 // a resource, data or ephemeral block
	ProviderNode                 // a provider configuration
)

// Graph shows dependencies in the order of a run, between blocks rather than instances. It contains
// addresses and no values. The zero value is empty; its methods are not safe for concurrent use.
type Graph struct {
	kinds map[string]NodeKind
	edges map[string]map[string]struct{}
}

// rootNode is the node that waits for all others.
const rootNode = "root"

// Add adds a node, or sets the kind of an existing one.
func (g *Graph) Add(name string, kind NodeKind) {
	if g.kinds == nil {
		g.kinds, g.edges = map[string]NodeKind{}, map[string]map[string]struct{}{}
	}
	g.kinds[name] = max(g.kinds[name], kind)
}

// Depend makes the node later wait for the node earlier, adding either if necessary. A node never waits for
// itself.
func (g *Graph) Depend(later, earlier string) {
	g.Add(later, StepNode)
	g.Add(earlier, StepNode)
	if later == earlier {
		return
	}
	if g.edges[later] == nil {
		g.edges[later] = map[string]struct{}{}
	}
	g.edges[later][earlier] = struct{}{}
}

// Root adds the root node, which waits for every node that no other node waits for.
func (g *Graph) Root() {
	if len(g.kinds) == 0 {
		return
	}
	awaited := map[string]struct{}{}
	for _, earlier := range g.edges {
		maps.Copy(awaited, earlier)
	}
	for _, name := range g.Nodes() {
		if _, ok := awaited[name]; !ok && name != rootNode {
			g.Depend(rootNode, name)
		}
	}
}

// Nodes returns the names of all nodes, sorted.
func (g *Graph) Nodes() []string { return slices.Sorted(maps.Keys(g.kinds)) }

// Kind returns the kind of a node.
func (g *Graph) Kind(name string) NodeKind { return g.kinds[name] }

// Dependencies returns the nodes that a node waits for, sorted.
func (g *Graph) Dependencies(name string) []string { return slices.Sorted(maps.Keys(g.edges[name])) }

// Cycles returns the sets of nodes that wait for each other, each sorted. It takes linear time.
func (g *Graph) Cycles() [][]string {
	names := g.Nodes()
	numbers := make(map[string]int32, len(names))
	for i, name := range names {
		numbers[name] = int32(i)
	}
	next := make([][]int32, len(names))
	for i, name := range names {
		for earlier := range g.edges[name] {
			next[i] = append(next[i], numbers[earlier])
		}
	}
	_, number := component.Find(next, func(to int32) int32 { return to })
	members := map[int32][]string{}
	for i, name := range names {
		members[number[i]] = append(members[number[i]], name)
	}
	found := slices.DeleteFunc(slices.Collect(maps.Values(members)), func(set []string) bool { return len(set) == 1 })
	slices.SortFunc(found, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return found
}

// Graph returns the order of the plan's changes by block: creations, destructions and removals from the
// state, and the providers involved. An error means that the plan contradicts itself. Outputs and gates are
// not shown: edges into one continue to its successors.
func (p *Plan) Graph() (*Graph, error) {
	steps, diags := p.Steps()
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	g, gates := &Graph{}, &Graph{}
	for i := range steps {
		s := &steps[i]
		if s.Leg == OutputLeg {
			continue
		}
		if s.Leg != Gate {
			name := stepNode(s)
			g.Add(name, ResourceNode)
			g.use(name, s.Change.Provider)
		}
		for _, e := range s.Next {
			if steps[e.To].Leg == OutputLeg {
				continue
			}
			if to := &steps[e.To]; s.Leg != Gate && to.Leg != Gate {
				g.Depend(stepNode(to), stepNode(s))
			} else {
				gates.Depend(stepNode(to), stepNode(s))
			}
		}
	}
	g.through(gates)
	g.Root()
	return g, nil
}

// through connects the predecessors of gates with their successors, also across several gates. gates
// contains the edges with a gate at one end or both.
func (g *Graph) through(gates *Graph) {
	for _, name := range gates.Nodes() {
		if _, real := g.kinds[name]; !real {
			continue
		}
		seen := map[string]struct{}{}
		for queue := gates.Dependencies(name); len(queue) > 0; {
			earlier := queue[0]
			queue = queue[1:]
			if _, again := seen[earlier]; again {
				continue
			}
			seen[earlier] = struct{}{}
			if _, real := g.kinds[earlier]; real {
				g.Depend(name, earlier)
			} else {
				queue = append(queue, gates.Dependencies(earlier)...)
			}
		}
	}
}

// stepNode names a step or gate by its block.
func stepNode(s *Step) string {
	if s.Leg == Gate {
		return s.block
	}
	if s.Leg == InvokeLeg {
		return s.Change.Addr.Config().String() + s.moment()
	}
	suffix := map[Leg]string{ApplyLeg: " (expand)", DestroyLeg: " (destroy)", ForgetLeg: " (forget)"}[s.Leg]
	return s.Change.Addr.Config().String() + suffix
}

// use makes a node depend on a provider, which is closed after it.
func (g *Graph) use(node string, pc addr.ProviderConfig) {
	name := ProviderNodeName(pc.Module.Module(), pc.Provider, pc.Alias)
	g.Add(name, ProviderNode)
	g.Depend(node, name)
	g.Depend(name+" (close)", node)
}

// ProviderNodeName returns the name of a provider configuration's node.
func ProviderNodeName(m addr.Module, p addr.Provider, alias string) string {
	name := addr.ProviderConfig{Provider: p, Alias: alias}.String()
	if m.IsRoot() {
		return name
	}
	return m.String() + "." + name
}

// DestroyGraph returns the order in which the objects of a state would be destroyed, by block, from their
// recorded dependencies. "graph -type=plan-destroy" shows it without a configuration.
func DestroyGraph(st *state.State) *Graph {
	g := &Graph{}
	for i, in := range st.AllInstances() {
		if i.Resource.Mode != addr.Managed {
			continue
		}
		name := i.Config().String() + " (destroy)"
		g.Add(name, ResourceNode)
		g.use(name, in.Provider)
		if in.Current == nil {
			continue
		}
		for _, d := range in.Current.Dependencies {
			if d.Resource.Mode == addr.Managed {
				g.Depend(d.String()+" (destroy)", name)
			}
		}
	}
	g.Root()
	return g
}
