package blocks

// Unread returns the values that no other unit is evaluated from, so that nothing but a unit of their own
// says when they are to be evaluated: for their errors. An output of a module with several instances is among
// them, since a reference to it may be to another instance.
func (cfg *Config) Unread() map[*Value]bool {
	out, seen := map[*Value]bool{}, map[Node]bool{}
	var queue []Node
	push := func(n Node) {
		if !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	for n := range cfg.EachBlock {
		v, is := n.(*Value)
		if !is || len(v.Conditions) > 0 || v.Output != nil && v.Module.Parent == nil {
			push(n)
		}
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for e := range Edges(n) {
			if m, inside := Grouped(e.To); inside || m != nil && CallOf(m).Repeat.Repeated() {
				continue // depends_on evaluates nothing
			}
			// Nothing refers to an output of the root module.
			if v, is := e.To.(*Value); is && v.Output != nil && CallOf(v.Module).Repeat.Repeated() {
				continue
			}
			push(e.To)
		}
	}
	for n := range cfg.EachBlock {
		if v, is := n.(*Value); is && !seen[n] {
			out[v] = true
		}
	}
	return out
}
