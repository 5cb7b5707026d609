package blocks

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// needed returns the ephemeral blocks that a plan may need for more than write-only arguments: to configure a
// provider, to check a condition, for a depends_on, a fingerprint or an ephemeral attribute, or to open
// another one that is needed. The conditions of an ephemeral block need nothing by themselves, since they are
// checked when it is opened. Provisioners don't run in a plan. The set is computed once, on first use.
func (c *Config) needed() *OpenSet {
	c.neededOnce.Do(func() {
		n := neededCollector{cfg: c, set: map[addr.ConfigResource]struct{}{}}
		for b := range c.eachNode {
			n.block(b)
		}
		for _, f := range c.fingerprints {
			n.add(f.module.OpensOf(f.expr))
		}
		c.neededSet = &OpenSet{All: n.set}
	})
	return c.neededSet
}

// moduleExpr is an expression in a module.
type moduleExpr struct {
	module *Module
	expr   *lang.Expr
}

// OnlyWriteOnly reports whether nothing but write-only arguments can make a plan open the block. A lazy plan
// then does not open it.
func (b *Resource) OnlyWriteOnly(c *Config) bool {
	return !c.needed().has(b.Config.Config())
}

type neededCollector struct {
	cfg *Config
	set map[addr.ConfigResource]struct{}
}

// block adds the resources that a plan needs for the sake of a block, besides write-only arguments.
func (n *neededCollector) block(b Node) {
	switch b := b.(type) {
	case *Provider:
		n.add(b.Opens)
	case *Check:
		n.add(b.Opens)
	case *Call:
		n.add(openedByDependsOn(b.DependsOn, b.Module))
	case *Value:
		n.add(toOpen.find(b, InPrecondition))
	case *Resource:
		if !isEphemeral(b) {
			n.add(toOpen.find(b, InPrecondition|InPostcondition))
			n.add(b.dependsOnOpens)
			if len(b.Withheld) > 0 { // whose values have to be compared
				n.add(b.bodyOpens)
			}
		}
	}
}

// add adds the blocks and everything that opening them may open.
func (n *neededCollector) add(s *OpenSet) {
	if s == nil {
		return
	}
	for a := range s.All {
		if _, ok := n.set[a]; ok {
			continue
		}
		n.set[a] = struct{}{}
		if m := n.cfg.Modules[a.Module]; m != nil && m.Resources[a.Resource] != nil {
			n.add(m.Resources[a.Resource].Opens)
		}
	}
}
