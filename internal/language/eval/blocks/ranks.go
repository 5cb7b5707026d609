package blocks

// WorkBehind returns how long the work that waits for each resource takes if everything that can runs at
// once: the longest path of resources that refer to each other and lead to it, without itself. A resource
// takes as long as weight says, any other block no time. In a cycle of blocks, one reference is left out.
// WorkBehind takes linear time.
func (c *Config) WorkBehind(weight func(*Resource) int64) map[*Resource]int64 {
	r := ranking{numbers: map[Node]int32{}}
	for n := range c.eachNode {
		r.visit(n)
	}
	behind := make([]int64, len(r.nodes))
	out := make(map[*Resource]int64, len(r.nodes))
	// Nodes that refer to each other were left in the order of their references, except in cycles.
	for i := len(r.left) - 1; i >= 0; i-- {
		n := r.left[i]
		from := behind[n]
		if b, ok := r.nodes[n].(*Resource); ok {
			out[b] = from
			from += weight(b)
		}
		for _, to := range r.next[n] {
			behind[to] = max(behind[to], from)
		}
	}
	return out
}

// ranking is a walk that numbers all nodes and their references.
type ranking struct {
	numbers map[Node]int32
	nodes   []Node
	next    [][]int32 // by number
	left    []int32   // in the order in which the walk left them
}

// visit walks depth first from a node and returns its number.
func (r *ranking) visit(n Node) int32 {
	number, seen := r.numbers[n]
	if seen {
		return number
	}
	number = int32(len(r.nodes))
	r.numbers[n] = number
	r.nodes, r.next = append(r.nodes, n), append(r.next, nil)
	for e := range n.edges {
		if e.role&Triggering != 0 {
			continue // actions come after all planning
		}
		r.next[number] = append(r.next[number], r.visit(e.to))
	}
	r.left = append(r.left, number)
	return number
}
