package changed

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/state"
)

// uses are the references of a configuration, from their targets.
type uses struct {
	of      map[blocks.Node][]blocks.Node    // the nodes that refer to each
	outputs map[*blocks.Module][]blocks.Node // those that refer to outputs of a module
}

// usesOf returns the references of a configuration.
func usesOf(cfg *blocks.Config) *uses {
	u, groups := &uses{map[blocks.Node][]blocks.Node{}, map[*blocks.Module][]blocks.Node{}}, map[blocks.Node]bool{}
	var add func(n blocks.Node)
	add = func(n blocks.Node) {
		for e := range blocks.Edges(n) {
			u.of[e.To] = append(u.of[e.To], n)
			if v, is := e.To.(*blocks.Value); is && v.Output != nil {
				u.outputs[v.Module] = append(u.outputs[v.Module], n)
			}
			of, _ := blocks.Grouped(e.To)
			if of == nil {
				continue
			}
			u.outputs[of] = append(u.outputs[of], n)
			if !groups[e.To] {
				groups[e.To] = true
				add(e.To)
			}
		}
	}
	for n := range cfg.EachBlock {
		add(n)
	}
	return u
}

// addUsers adds the blocks that refer to the outputs of a module, directly or through others.
func (w *Work) addUsers(m *blocks.Module) {
	var queue []blocks.Node
	push := func(nodes []blocks.Node) {
		for _, n := range nodes {
			if !w.attempt.used[n] {
				w.attempt.used[n] = true
				queue = append(queue, n)
			}
		}
	}
	for push(w.uses().outputs[m]); len(queue) > 0; {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, node := range w.blocks[n] {
			w.addBlock(state.Block{Module: node.module, Name: node.name}, addr.RootInstance)
		}
		switch b := n.(type) {
		case *blocks.Resource:
			if b.Config.Addr.Mode != addr.Ephemeral { // else it is evaluated by those that refer to it
				continue
			}
		case *blocks.Call: // has its own users added when it is worked on
			continue
		}
		push(w.uses().of[n])
	}
}
