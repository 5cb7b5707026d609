package plan

import "slices"

// flow orders steps along a relation: the steps of some nodes come before the steps of all nodes that they
// lead to, also through nodes without steps. Gates keep the number of edges linear in the number of links.
// Without gates, a deletion of n objects that m others depend on would take n times m edges.
type flow struct {
	rule  Rule
	name  string // suffix of the names of its gates, after the node's
	order []int32
	next  [][]link
	// from and to return the step of a node that others wait for, and the step that waits for others; -1 if
	// there is none. A node whose from and to are the same step passes on its dependencies.
	from, to func(v int32) int32
	// recorded restricts the flow to recorded links.
	recorded bool
}

// follows reports whether the flow takes a link.
func (f *flow) follows(l link) bool { return l.recorded || !f.recorded }

// needed returns the nodes that are reached from a step, and those from which a waiting step is reached.
func (f *flow) needed(nodes int) (reached, awaited []bool) {
	reached, awaited = make([]bool, nodes), make([]bool, nodes)
	for _, v := range f.order {
		if reached[v] || f.from(v) >= 0 {
			for _, l := range f.next[v] {
				reached[l.to] = reached[l.to] || f.follows(l)
			}
		}
	}
	for i := len(f.order) - 1; i >= 0; i-- {
		v := f.order[i]
		awaited[v] = f.to(v) >= 0
		for _, l := range f.next[v] {
			awaited[v] = awaited[v] || f.follows(l) && awaited[l.to]
		}
	}
	return reached, awaited
}

// run makes the edges. It visits the nodes in an order in which each comes after all that lead to it, so
// one pass is enough.
func (b *stepBuilder) run(f flow) {
	nodes, some := len(f.next), func(step func(v int32) int32) bool {
		return slices.ContainsFunc(f.order, func(v int32) bool { return step(v) >= 0 })
	}
	if !some(f.from) || !some(f.to) {
		return
	}
	reached, awaited := f.needed(nodes)
	arrived := make([][]int32, nodes) // steps that the node waits for
	for _, v := range f.order {
		from, to := f.from(v), f.to(v)
		if !reached[v] && from < 0 {
			continue
		}
		var on []link // links on which the flow continues
		for _, l := range f.next[v] {
			if f.follows(l) && awaited[l.to] {
				on = append(on, l)
			}
		}
		out := from
		if inline := from >= 0 && from == to; len(on) > 0 && !inline {
			out = b.join(f, v, arrived[v], from)
			arrived[v] = []int32{out}
		}
		for _, s := range arrived[v] {
			b.edge(s, to, f.rule)
		}
		if out >= 0 {
			for _, l := range on {
				arrived[l.to] = append(arrived[l.to], out)
			}
		}
	}
}

// join returns one step that comes after all steps arriving at a node and after the node's own step.
func (b *stepBuilder) join(f flow, v int32, arrived []int32, own int32) int32 {
	if own >= 0 {
		arrived = append(arrived, own)
	}
	if len(arrived) <= 1 {
		return append(arrived, -1)[0]
	}
	gate := b.gate(v, f.name)
	for _, s := range arrived {
		b.edge(s, gate, ruleGate)
	}
	return gate
}
