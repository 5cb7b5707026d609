package selection

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Object is an object of the state that is to be destroyed unless the selection keeps it.
type Object struct {
	Addr     addr.Instance
	Declared []plan.Dep            // its dependencies by the configuration; nil if that does not declare it
	Recorded []addr.ConfigResource // its dependencies by the state
	Kept     bool                  // stays because of an object it uses, whatever the options say of its address
	Stays    bool                  // is listed without being destroyed, so that no dependents go with it
	Due      bool                  // is to be destroyed even if -target does not select it
}

// Destroys reports, for each of the objects to be destroyed, whether -target and -exclude ask for it.
// Dependents of a targeted object are destroyed with it, since they could not live without; dependencies of
// an excluded object stay with it, and then take no other dependents along. Its cost is linear in the objects
// and their dependencies.
func (s *Selection) Destroys(found []Object) []bool {
	g := newObjectGraph(found)
	var take, keep []int
	for i := range found {
		g.add(i, &found[i])
		if !found[i].Stays && (found[i].Due || s.targets.Empty() || s.targets.Selects(found[i].Addr)) {
			take = append(take, i)
		}
		if found[i].Kept || s.excludes.Selects(found[i].Addr) {
			keep = append(keep, i)
		}
	}
	kept := reachable(g.uses, keep, nil)
	taken := reachable(g.users, take, kept)
	return taken[:len(found)]
}

// objectGraph says which objects depend on which. The first nodes are the objects by index; the others
// stand for all objects of an instance, a resource or a block, so that a dependency on many costs one edge.
type objectGraph struct {
	users, uses [][]int
	nodes       map[any]int // by addr.Instance, addr.AbsResource or plan.Span
}

func newObjectGraph(found []Object) *objectGraph {
	g := &objectGraph{users: make([][]int, len(found)), uses: make([][]int, len(found)), nodes: map[any]int{}}
	for i := range found {
		a := found[i].Addr
		g.edge(i, g.node(a))
		g.edge(i, g.node(a.Abs()))
		for _, span := range plan.Spans(a) {
			g.edge(i, g.node(span))
		}
	}
	return g
}

func (g *objectGraph) node(k any) int {
	n, ok := g.nodes[k]
	if !ok {
		n = len(g.users)
		g.users, g.uses, g.nodes[k] = append(g.users, nil), append(g.uses, nil), n
	}
	return n
}

// edge records that the node user depends on the node used.
func (g *objectGraph) edge(used, user int) {
	g.users[used] = append(g.users[used], user)
	g.uses[user] = append(g.uses[user], used)
}

// add adds the dependencies of an object: as the configuration has them, and for other blocks as the state
// recorded them.
func (g *objectGraph) add(i int, o *Object) {
	known := map[addr.ConfigResource]struct{}{o.Addr.Config(): {}}
	for _, d := range o.Declared {
		known[d.Resource.Config()] = struct{}{}
		if d.Modules {
			g.edge(g.node(d.Span()), i)
		} else if d.All {
			g.edge(g.node(d.Resource), i)
		} else {
			g.edge(g.node(d.Resource.Instance(d.Key)), i)
		}
	}
	for _, r := range o.Recorded {
		if _, ok := known[r]; !ok {
			g.edge(g.node(plan.Span{Block: r}), i)
		}
	}
}

// reachable returns the nodes that can be reached from the given ones, these included, without passing a node
// of barred, which may be nil.
func reachable(edges [][]int, from []int, barred []bool) []bool {
	reached := make([]bool, len(edges))
	enters := func(n int) bool {
		if reached[n] || barred != nil && barred[n] {
			return false
		}
		reached[n] = true
		return true
	}
	queue := slices.DeleteFunc(slices.Clone(from), func(n int) bool { return !enters(n) })
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, next := range edges[n] {
			if enters(next) {
				queue = append(queue, next)
			}
		}
	}
	return reached
}
