package eval

import (
	"github.com/mayfly-iac/mayfly/addr"
)

// needed returns the ephemeral blocks that a plan may need for something else than write-only arguments: to
// configure a provider, to check a condition, for a depends_on, or to open another ephemeral block that is
// needed. Conditions of an ephemeral block itself need nothing: they are checked when it is opened for
// somebody. Provisioners don't run in a plan. It is computed once, on first use.
func (c *Config) needed() *openSet {
	c.neededOnce.Do(func() {
		n := neededCollector{cfg: c, set: map[addr.ConfigResource]struct{}{}}
		for b := range c.eachNode {
			n.block(b)
		}
		c.neededSet = &openSet{all: n.set}
	})
	return c.neededSet
}

// OnlyWriteOnly reports whether nothing but write-only arguments can make a plan open the block, so that a
// lazy plan does without it.
func (b *ResourceBlock) OnlyWriteOnly(c *Config) bool {
	return !c.needed().has(b.Config.Config())
}

type neededCollector struct {
	cfg *Config
	set map[addr.ConfigResource]struct{}
}

// block adds what a plan needs for the sake of a block, besides write-only arguments.
func (n *neededCollector) block(b node) {
	switch b := b.(type) {
	case *providerBlock:
		n.add(b.opens)
	case *checkBlock:
		n.add(b.opens)
	case *callBlock:
		n.add(heldBy(b.dependsOn, b.module))
	case *valueBlock:
		n.add(opensOf(b, inPrecondition))
	case *ResourceBlock:
		if !isEphemeral(b) {
			n.add(opensOf(b, inPrecondition|inPostcondition))
			n.add(b.held)
		}
	}
}

// add adds the blocks and everything that opening them may open.
func (n *neededCollector) add(s *openSet) {
	if s == nil {
		return
	}
	for a := range s.all {
		if _, ok := n.set[a]; ok {
			continue
		}
		n.set[a] = struct{}{}
		if m := n.cfg.modules[a.Module]; m != nil && m.resources[a.Resource] != nil {
			n.add(m.resources[a.Resource].opens)
		}
	}
}
