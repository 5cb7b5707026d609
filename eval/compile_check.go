package eval

import (
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
)

// checkBlock is a compiled check block.
type checkBlock struct {
	cfg     *config.Check
	module  *moduleBlock
	asserts []condition
	nested  *ResourceBlock // nil if there is none
	opens   *openSet       // through the assertions, and the nested block itself
}

func (c *compiler) checks(m *moduleBlock) {
	m.checks = make(map[string]*checkBlock, len(m.cfg.Checks))
	for name, cfg := range diag.InOrder(m.cfg.Checks) {
		b := &checkBlock{cfg: cfg, module: m, asserts: c.conditions(m, cfg.Asserts, use{check: cfg})}
		if cfg.Scoped != nil {
			b.nested = m.resources[cfg.Scoped.Addr]
		}
		m.checks[name] = b
	}
}
