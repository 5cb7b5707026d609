package changed

import "github.com/mayfly-iac/mayfly/addr"

// places are module instances, with everything below them.
type places map[addr.ModuleInstance]bool

// have reports whether a module instance is one of the places, or lies in one.
func (p places) have(m addr.ModuleInstance) bool {
	for ; ; m, _, _ = m.Parent() {
		if p[m] {
			return true
		}
		if m.IsRoot() {
			return false
		}
	}
}

// haveOrStandFor reports whether a module instance lies in one of the places, of which those without keys
// stand for all instances of their module.
func (p places) haveOrStandFor(m addr.ModuleInstance) bool {
	return p.have(m) || p[m.Module().Instance()]
}

// grouped are places, each under one key.
type grouped[K comparable] map[K]places

func (g grouped[K]) add(key K, m addr.ModuleInstance) {
	if g[key] == nil {
		g[key] = places{}
	}
	g[key][m] = true
}
