// Package component finds the strongly connected components of a directed graph. It imports nothing: it knows
// nodes by their numbers, and the ends of links only.
package component

// Find returns the strongly connected component of each node, and all nodes ordered by component. A component
// comes after the ones that it leads to, and has a higher number, starting at 1. next has the links from each
// node, and to returns the node that a link leads to. It takes linear time and does not recurse, since paths
// may be as long as the graph.
func Find[L any](next [][]L, to func(L) int32) (order, component []int32) {
	f := finder[L]{next: next, to: to, index: make([]int32, len(next)), low: make([]int32, len(next)), component: make([]int32, len(next))}
	for v := range next {
		if f.index[v] == 0 {
			f.visit(int32(v))
		}
	}
	return f.order, f.component
}

// finder is the state of Tarjan's algorithm in its form without recursion.
type finder[L any] struct {
	next      [][]L
	to        func(L) int32
	index     []int32 // in the order of visits, starting at 1
	low       []int32
	component []int32 // starting at 1; 0 while a node is on the stack
	found     int32
	stack     []int32
	order     []int32
}

// frame is a node being visited, with its remaining links.
type frame[L any] struct {
	node int32
	left []L
}

// visit finds the components of everything that v leads to, with a stack of its own in place of recursion.
func (f *finder[L]) visit(v int32) {
	frames := []frame[L]{f.enter(v)}
	for len(frames) > 0 {
		top := &frames[len(frames)-1]
		if len(top.left) > 0 {
			to := f.to(top.left[0])
			top.left = top.left[1:]
			switch {
			case f.index[to] == 0:
				frames = append(frames, f.enter(to))
			case f.component[to] == 0:
				f.low[top.node] = min(f.low[top.node], f.index[to])
			}
			continue
		}
		f.leave(top.node)
		low := f.low[top.node]
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			under := frames[len(frames)-1].node
			f.low[under] = min(f.low[under], low)
		}
	}
}

// enter begins the visit of a node.
func (f *finder[L]) enter(v int32) frame[L] {
	f.found++
	f.index[v], f.low[v] = f.found, f.found
	f.stack = append(f.stack, v)
	return frame[L]{v, f.next[v]}
}

// leave ends the visit of a node. If it is the first of its component, everything above it on the stack is
// the rest.
func (f *finder[L]) leave(v int32) {
	if f.low[v] != f.index[v] {
		return
	}
	number := int32(1)
	if n := len(f.order); n > 0 {
		number = f.component[f.order[n-1]] + 1
	}
	for last := int32(-1); last != v; {
		last = f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.component[last] = number
		f.order = append(f.order, last)
	}
}
