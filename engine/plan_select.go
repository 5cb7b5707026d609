package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// chosen returns those of the objects to be destroyed that -target and -exclude ask for. What depends on a
// dropUntargeted object is chosen with it, since it could not live without; what an excluded object depends
// on stays with it. Its cost is linear in the objects and their dependencies.
func (p *planner) chosen(found []orphan) []orphan {
	if len(p.req.Targets) == 0 && len(p.req.Excludes) == 0 {
		return found
	}
	g := newReliance(found)
	t := &future.Task{}
	for i := range found {
		g.add(i, &found[i], p.declaredDeps(t, &found[i]))
	}
	var take, keep []int
	for i := range found {
		if len(p.req.Targets) == 0 || p.selection.targets.Selects(found[i].obj.Instance) {
			take = append(take, i)
		}
		if p.selection.excludes.Selects(found[i].obj.Instance) || p.departsWithExcluded(t, &found[i]) {
			keep = append(keep, i)
		}
	}
	taken, kept := reach(g.users, take), reach(g.uses, keep)
	var out []orphan
	for i := range found {
		if taken[i] && !kept[i] {
			out = append(out, found[i])
		}
	}
	return out
}

// maxMovesShown bounds the list of options in an error.
const maxMovesShown = 20

// refusePartialMoves reports moves that -target or -exclude would leave out: the state would have the object
// at its new address although the plan says nothing about it. An object that is asked for by its new address
// alone is moved with the plan; one that is excluded by its old address is meant not to be touched at all.
func (p *planner) refusePartialMoves() {
	var out []string
	for to, from := range p.moved {
		if !p.selection.targets.Empty() && !p.selection.targets.Selects(to) {
			out = append(out, fmt.Sprintf("-target='%s'", to))
		}
		excluding := func(i int) { out = append(out, fmt.Sprintf("-exclude='%s'", p.req.Excludes[i])) }
		p.selection.excludes.Selecting(to, excluding)
		p.selection.excludes.Selecting(from, excluding)
	}
	if len(out) == 0 {
		return
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if n := len(out) - maxMovesShown; n > 0 {
		out = append(out[:maxMovesShown], fmt.Sprintf("and %d more", n))
	}
	why, advice := "the -target options do not cover all of them", "Leave out all -target options, or add these"
	if p.selection.targets.Empty() {
		why, advice = "the -exclude options name some of them", "Leave out these options"
	}
	p.run.Report(diag.Errorf("Moved resource instances excluded by targeting",
		"Objects in the state have new addresses in the configuration, and %s. The state would have them at the new addresses although the plan does not show that. %s:\n\n  %s", why, advice, strings.Join(out, "\n  ")))
}

// declaredDeps returns what the configuration says the object depends on, if it still declares it.
func (p *planner) declaredDeps(t *future.Task, o *orphan) []plan.Dep {
	if !p.run.Declared(o.obj.Instance) {
		return nil
	}
	return p.run.Module(o.obj.Module).Resource(o.obj.Resource).Instance(o.obj.Key).Deps(t)
}

// reliance is the graph of which objects rely on which. The first nodes are the objects by index; the others
// stand for all objects of an instance, a resource or a block, so that a dependency on many costs one edge.
type reliance struct {
	users, uses [][]int
	nodes       map[any]int // by addr.Instance, addr.AbsResource or plan.Span
}

func newReliance(found []orphan) *reliance {
	g := &reliance{users: make([][]int, len(found)), uses: make([][]int, len(found)), nodes: map[any]int{}}
	for i := range found {
		a := found[i].obj.Instance
		g.edge(i, g.node(a))
		g.edge(i, g.node(a.Abs()))
		for _, span := range plan.Spans(a) {
			g.edge(i, g.node(span))
		}
	}
	return g
}

func (g *reliance) node(k any) int {
	n, ok := g.nodes[k]
	if !ok {
		n = len(g.users)
		g.users, g.uses, g.nodes[k] = append(g.users, nil), append(g.uses, nil), n
	}
	return n
}

// edge says that what stands at user cannot be without what stands at used.
func (g *reliance) edge(used, user int) {
	g.users[used] = append(g.users[used], user)
	g.uses[user] = append(g.uses[user], used)
}

// add adds the dependencies of an object: as the configuration has them, and for other blocks as the state
// recorded them.
func (g *reliance) add(i int, o *orphan, declared []plan.Dep) {
	known := map[addr.ConfigResource]struct{}{o.obj.Config(): {}}
	for _, d := range declared {
		known[d.Resource.Config()] = struct{}{}
		if d.Modules {
			g.edge(g.node(d.Span()), i)
		} else if d.All {
			g.edge(g.node(d.Resource), i)
		} else {
			g.edge(g.node(d.Resource.Instance(d.Key)), i)
		}
	}
	for _, r := range o.stored.Dependencies {
		if _, ok := known[r]; !ok {
			g.edge(g.node(plan.Span{Block: r}), i)
		}
	}
}

// reach returns the nodes that can be reached from the given ones, these included.
func reach(edges [][]int, from []int) []bool {
	reached := make([]bool, len(edges))
	queue := slices.Clone(from)
	for _, n := range queue {
		reached[n] = true
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, next := range edges[n] {
			if !reached[next] {
				reached[next] = true
				queue = append(queue, next)
			}
		}
	}
	return reached
}

// usesExcluded reports whether the instance or its destroy-time provisioners may use, directly or through
// others, an ephemeral instance that -exclude names.
func (p *planner) usesExcluded(t *future.Task, in *eval.Instance) bool {
	if len(p.req.Excludes) == 0 {
		return false
	}
	uses := in.Uses(t)
	if d := p.run.Departure(in.Addr()); d != nil {
		uses = append(uses, d.Uses(t)...)
	}
	return p.leadsToExcluded(t, uses)
}

// departsWithExcluded reports whether the destroy-time provisioners of the object may use an ephemeral
// instance that -exclude names.
func (p *planner) departsWithExcluded(t *future.Task, o *orphan) bool {
	d := p.run.Departure(o.obj.Instance)
	return d != nil && p.leadsToExcluded(t, d.Uses(t))
}

func (p *planner) leadsToExcluded(t *future.Task, queue []eval.Use) bool {
	seen := map[eval.Use]struct{}{}
	for len(queue) > 0 {
		u := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, ok := seen[u]; ok {
			continue
		}
		seen[u] = struct{}{}
		if u.Kind == eval.UseInstance && p.selection.excludes.Selects(u.Instance) {
			return true
		}
		queue = append(queue, p.run.UsesOf(t, u)...)
	}
	return false
}
