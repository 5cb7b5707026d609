package eval

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/lang"
)

// needed returns the ephemeral blocks that a plan may need for something else than write-only arguments: to configure a provider, to check a
// condition, for a depends_on, or to open another ephemeral block that is needed. Conditions of an ephemeral block itself need nothing: they are
// checked when it is opened for somebody. Provisioners don't run in a plan. It is computed once, on first use.
func (c *Config) needed() *openSet {
	c.neededOnce.Do(func() {
		n := neededCollector{cfg: c, set: map[addr.ConfigResource]struct{}{}}
		for _, m := range c.modules {
			n.module(m)
		}
		c.neededSet = &openSet{all: n.set}
	})
	return c.neededSet
}

// OnlyWriteOnly reports whether nothing but write-only arguments can make a plan open the block, so that a lazy plan does without it.
func (b *ResourceBlock) OnlyWriteOnly(c *Config) bool {
	_, needed := c.needed().all[addr.ConfigResource{Module: b.module.cfg.Path, Resource: b.Config.Addr}]
	return !needed
}

type neededCollector struct {
	cfg *Config
	set map[addr.ConfigResource]struct{}
}

func (n *neededCollector) module(m *moduleBlock) {
	for _, p := range m.providers {
		n.add(p.opens)
	}
	for _, group := range []map[string]*valueBlock{m.variables, m.outputs} {
		for _, v := range group {
			n.conditions(m, v.conds)
		}
	}
	for _, r := range m.resources {
		if r.Config.Addr.Mode == addr.Ephemeral {
			continue
		}
		n.conditions(m, r.pre)
		n.conditions(m, r.post)
		n.refs(m, r.dependsOn)
	}
	for _, c := range m.calls {
		n.refs(m, c.dependsOn)
	}
	for _, c := range m.checks {
		n.add(c.opens)
	}
}

func (n *neededCollector) conditions(m *moduleBlock, conds []condition) {
	for _, c := range conds {
		n.add(m.opensOf([]*lang.Expr{c.cond, c.msg}))
	}
}

func (n *neededCollector) refs(m *moduleBlock, refs []lang.Ref) {
	for _, ref := range refs {
		n.add(m.opensOfRef(ref))
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
