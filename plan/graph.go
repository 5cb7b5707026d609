package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// NodeKind says what a node of a Graph stands for.
type NodeKind uint8

// The kinds of nodes.
const (
	StepNode     NodeKind = iota // something that has no place in the configuration by itself, such as closing a provider
	VariableNode                 // an input variable of the root module
	ResourceNode                 // a resource, data or ephemeral block
	ProviderNode                 // a provider configuration
)

// Graph is what depends on what, in the order of a run, for blocks and not for instances. It has addresses and no values. The zero value is empty; its methods
// are not safe for concurrent use.
type Graph struct {
	kinds map[string]NodeKind
	edges map[string]map[string]struct{}
}

// RootNode is the node that everything comes before.
const RootNode = "root"

// Add makes a node, or gives the one of that name a kind.
func (g *Graph) Add(name string, kind NodeKind) {
	if g.kinds == nil {
		g.kinds, g.edges = map[string]NodeKind{}, map[string]map[string]struct{}{}
	}
	g.kinds[name] = max(g.kinds[name], kind)
}

// Depend says that the node named later has to wait for the other one. Both are made if they are not there. Nodes do not wait for themselves.
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

// Root adds the root node, which waits for everything that nothing else waits for.
func (g *Graph) Root() {
	if len(g.kinds) == 0 {
		return
	}
	awaited := map[string]struct{}{}
	for _, earlier := range g.edges {
		maps.Copy(awaited, earlier)
	}
	for _, name := range g.Nodes() {
		if _, ok := awaited[name]; !ok && name != RootNode {
			g.Depend(RootNode, name)
		}
	}
}

// Nodes returns the names of all nodes, sorted.
func (g *Graph) Nodes() []string { return slices.Sorted(maps.Keys(g.kinds)) }

// Kind returns the kind of a node.
func (g *Graph) Kind(name string) NodeKind { return g.kinds[name] }

// Dependencies returns the nodes that a node waits for, sorted.
func (g *Graph) Dependencies(name string) []string { return slices.Sorted(maps.Keys(g.edges[name])) }

// Cycles returns the sets of nodes that wait for each other, each sorted. It takes time in proportion to the size of the graph.
func (g *Graph) Cycles() [][]string {
	f := cycleFinder{g: g, index: map[string]int{}, low: map[string]int{}, on: map[string]bool{}}
	for _, name := range g.Nodes() {
		if f.index[name] == 0 {
			f.visit(name)
		}
	}
	slices.SortFunc(f.found, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return f.found
}

// cycleFinder finds strongly connected components, with a stack of its own: a graph may be as deep as it is long.
type cycleFinder struct {
	g     *Graph
	index map[string]int // from 1
	low   map[string]int
	on    map[string]bool
	stack []string
	found [][]string
}

// cycleFrame is a node that is being visited, with those that are left of its dependencies.
type cycleFrame struct {
	name string
	left []string
}

func (f *cycleFinder) visit(name string) {
	frames := []cycleFrame{f.enter(name)}
	for len(frames) > 0 {
		top := &frames[len(frames)-1]
		if len(top.left) > 0 {
			next := top.left[0]
			top.left = top.left[1:]
			switch {
			case f.index[next] == 0:
				frames = append(frames, f.enter(next))
			case f.on[next]:
				f.low[top.name] = min(f.low[top.name], f.index[next])
			}
			continue
		}
		f.leave(top.name)
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			under := frames[len(frames)-1].name
			f.low[under] = min(f.low[under], f.low[top.name])
		}
	}
}

func (f *cycleFinder) enter(name string) cycleFrame {
	f.index[name] = len(f.index) + 1
	f.low[name] = f.index[name]
	f.on[name] = true
	f.stack = append(f.stack, name)
	return cycleFrame{name, f.g.Dependencies(name)}
}

func (f *cycleFinder) leave(name string) {
	if f.low[name] != f.index[name] {
		return
	}
	var members []string
	for last := ""; last != name; {
		last = f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.on[last] = false
		members = append(members, last)
	}
	if len(members) > 1 {
		slices.Sort(members)
		f.found = append(f.found, members)
	}
}

// Graph returns the order of the plan's changes, for blocks: what is made, destroyed and forgotten, and the providers that do it. An error means that the plan
// contradicts itself.
func (p *Plan) Graph() (*Graph, error) {
	steps, diags := p.Steps()
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	g := &Graph{}
	before := make([]map[string]struct{}, len(steps)) // for gates: the nodes that lead into them
	for i := range steps {
		if s := &steps[i]; s.Leg != Gate {
			name := stepNode(s)
			g.Add(name, ResourceNode)
			g.use(name, s.Change.Provider)
			for _, e := range s.Next {
				if to := &steps[e.To]; to.Leg != Gate {
					g.Depend(stepNode(to), name)
					continue
				}
				if before[e.To] == nil {
					before[e.To] = map[string]struct{}{}
				}
				before[e.To][name] = struct{}{}
			}
		}
	}
	for i := range steps {
		if steps[i].Leg == Gate {
			g.through(steps, i, before[i])
		}
	}
	g.Root()
	return g, nil
}

// through joins what leads into a gate with what it leads to. One side of a gate is of one block, so that the edges are no more than the nodes around it.
func (g *Graph) through(steps []Step, gate int, before map[string]struct{}) {
	after := map[string]struct{}{}
	for _, e := range steps[gate].Next {
		if to := &steps[e.To]; to.Leg != Gate {
			after[stepNode(to)] = struct{}{}
		}
	}
	for later := range after {
		for earlier := range before {
			g.Depend(later, earlier)
		}
	}
}

func stepNode(s *Step) string {
	suffix := map[Leg]string{ApplyLeg: " (expand)", DestroyLeg: " (destroy)", ForgetLeg: " (forget)"}[s.Leg]
	return s.Change.Addr.Config().String() + suffix
}

// use says that a node needs a provider, which is closed after it.
func (g *Graph) use(node string, pc addr.ProviderConfig) {
	name := ProviderNodeName(pc.Module.Module(), pc.Provider, pc.Alias)
	g.Add(name, ProviderNode)
	g.Depend(node, name)
	g.Depend(name+" (close)", node)
}

// ProviderNodeName is the name of the node of a provider configuration.
func ProviderNodeName(m addr.Module, p addr.Provider, alias string) string {
	name := addr.ProviderConfig{Provider: p, Alias: alias}.String()
	if m.IsRoot() {
		return name
	}
	return m.String() + "." + name
}

// DestroyGraph returns the order in which the objects of a state would be destroyed, for blocks, by what they recorded when they were made.
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
