package blocks

import (
	"github.com/mayfly-iac/mayfly/diag"
)

// checks compiles the check blocks of a module, after its resources.
func (c *compiler) checks(m *Module) {
	m.Checks = make(map[string]*Check, len(m.Config.Checks))
	for name, cfg := range diag.InOrder(m.Config.Checks) {
		b := &Check{Config: cfg, Module: m, Assertions: c.conditions(m, cfg.Asserts, site{check: cfg, test: cfg.Test})}
		if cfg.Scoped != nil {
			b.Nested = m.Resources[cfg.Scoped.Addr]
		}
		m.Checks[name] = b
	}
}
