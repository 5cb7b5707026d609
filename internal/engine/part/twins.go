package part

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/state"
)

// addTwins adds the objects that may become instances which a target selects, as their resource or modules
// have gained or lost a count.
func (p *Part) addTwins(r blocks.Region, t addr.Target) {
	for _, in := range twins(r.In) {
		switch {
		case t.Key == addr.NoKey:
			p.known[blockOf(r.Block)] = true
			if in != r.In {
				p.addRegion(blocks.Region{Block: r.Block, In: in})
			}
		case in.Module() == r.Block.Module.Config.Path:
			for _, key := range twinKeys(t.Key) {
				p.has[state.InstanceSubject(addr.Instance{Module: in, Resource: r.Block.Config.Addr, Key: key})] = true
			}
		case in != r.In || twinKeys(t.Key)[0] == addr.NoKey:
			p.addRegion(blocks.Region{Block: r.Block, In: in})
		}
	}
}

// twins returns the addresses that a module instance has before and after its calls gain or lose a count.
func twins(m addr.ModuleInstance) []addr.ModuleInstance {
	out := []addr.ModuleInstance{addr.RootInstance}
	for _, step := range m.Path() {
		_, name, key := step.Parent()
		var next []addr.ModuleInstance
		for _, outer := range out {
			for _, k := range twinKeys(key) {
				next = append(next, outer.Child(name, k))
			}
		}
		out = next
	}
	return out
}

// twinKeys returns the keys that an instance has before and after a count is added or removed.
func twinKeys(key addr.Key) []addr.Key {
	if key == addr.NoKey || key == addr.IntKey(0) {
		return []addr.Key{addr.NoKey, addr.IntKey(0)}
	}
	return []addr.Key{key}
}
