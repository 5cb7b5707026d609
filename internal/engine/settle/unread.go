package settle

import (
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// unread returns the values that no other unit is evaluated from, so that nothing but a unit of their own
// says when they are to be evaluated: for their errors. An output of a module with several instances is among
// them, since a reference to it may be to another instance.
func unread(cfg *blocks.Config) map[*blocks.Value]bool {
	out, seen := map[*blocks.Value]bool{}, map[blocks.Node]bool{}
	var queue []blocks.Node
	push := func(n blocks.Node) {
		if !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	for n := range cfg.EachBlock {
		v, is := n.(*blocks.Value)
		if !is || len(v.Conditions) > 0 || v.Output != nil && v.Module.Parent == nil {
			push(n)
		}
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for e := range blocks.Edges(n) {
			if m, inside := blocks.Grouped(e.To); inside || m != nil && blocks.CallOf(m).Repeat.Repeated() {
				continue // depends_on evaluates nothing
			}
			if v, is := e.To.(*blocks.Value); is && v.Output != nil && v.Module.Parent != nil && blocks.CallOf(v.Module).Repeat.Repeated() {
				continue
			}
			push(e.To)
		}
	}
	for n := range cfg.EachBlock {
		if v, is := n.(*blocks.Value); is && !seen[n] {
			out[v] = true
		}
	}
	return out
}
