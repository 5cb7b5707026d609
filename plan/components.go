package plan

// link is an edge from a node of a directed graph to another.
type link struct {
	to       int32
	recorded bool // see relation
}

// components returns the strongly connected component of each node, and all nodes ordered by component. A
// component comes after the ones that it leads to, and has a higher number. It takes linear time and does not
// recurse, since paths may be as long as the graph.
func components(next [][]link) (order, component []int32) {
	f := componentFinder{next: next, index: make([]int32, len(next)), low: make([]int32, len(next)), component: make([]int32, len(next))}
	for v := range next {
		if f.index[v] == 0 {
			f.visit(int32(v))
		}
	}
	return f.order, f.component
}

// componentFinder is the state of Tarjan's algorithm in its form without recursion.
type componentFinder struct {
	next      [][]link
	index     []int32 // in the order of visits, starting at 1
	low       []int32
	component []int32 // starting at 1; 0 while a node is on the stack
	found     int32
	stack     []int32
	order     []int32
}

// componentFrame is a node being visited, with its remaining links.
type componentFrame struct {
	node int32
	left []link
}

// visit finds the components of everything that v leads to, with a stack of its own in place of recursion.
func (f *componentFinder) visit(v int32) {
	frames := []componentFrame{f.enter(v)}
	for len(frames) > 0 {
		top := &frames[len(frames)-1]
		if len(top.left) > 0 {
			to := top.left[0].to
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
func (f *componentFinder) enter(v int32) componentFrame {
	f.found++
	f.index[v], f.low[v] = f.found, f.found
	f.stack = append(f.stack, v)
	return componentFrame{v, f.next[v]}
}

// leave ends the visit of a node. If it is the first of its component, everything above it on the stack is
// the rest.
func (f *componentFinder) leave(v int32) {
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
