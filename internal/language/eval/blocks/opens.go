package blocks

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// computeOpens finds the resources that evaluating each block may open, so that nothing is computed any more
// when runs share the configuration.
func (c *Config) computeOpens() {
	modules := c.sorted()
	for _, path := range slices.Backward(modules) { // called modules before their callers
		c.Modules[path].ephemerals = c.Modules[path].collectEphemerals()
	}
	for _, path := range modules { // callers first
		c.Modules[path].dependsOnOpens = c.Modules[path].openedByCallsAround()
	}
	for n := range c.eachNode {
		switch b := n.(type) {
		case *Value:
			toOpen.findForValue(b)
		case *Provider:
			b.Opens = toOpen.find(b, Opening)
		case *Check:
			b.Opens = toOpen.find(b, Opening|toPart)
		case *Resource:
			c.hasEphemerals = c.hasEphemerals || isEphemeral(b)
			b.bodyOpens = toOpen.find(b, InBody)
			b.dependsOnOpens = openedByDependsOn(b.DependsOn, b.Module).union(b.Module.dependsOnOpens)
			b.Opens = b.bodyOpens.union(toOpen.find(b, Opening&^InBody)).union(b.dependsOnOpens)
		}
	}
}

// NeededOpen returns the resources that an opened object, an ephemeral resource or a provider configured from
// one, refers to, directly or through others. While it is open, it may need their objects to exist.
func (c *Config) NeededOpen() map[*Resource]bool {
	needed := map[*Resource]bool{}
	s := search{follow: func(Node, edge) bool { return true }, found: func(n Node) bool {
		if r, ok := n.(*Resource); ok {
			needed[r] = true
		}
		return false
	}}
	for n := range c.eachNode {
		if p, ok := n.(*Provider); isEphemeral(n) || ok && !p.Opens.Empty() {
			s.from(n)
		}
	}
	return needed
}

// OpensOf returns the resources that evaluating expressions in the module may open. Nil expressions open
// nothing.
func (m *Module) OpensOf(exprs ...*lang.Expr) *OpenSet { return toOpen.findIn(m, exprs) }

// BodyOpens reports whether evaluating the body may open ephemeral resources.
func (r *Resource) BodyOpens() bool { return !r.bodyOpens.Empty() }

// openedByDependsOn returns the ephemeral blocks that depends_on arguments in the module name, including
// those in the modules that they name.
func openedByDependsOn(refs []lang.Ref, m *Module) *OpenSet {
	set := noOpens
	for i := range refs {
		switch to := m.explicitTarget(&refs[i]).(type) {
		case *Resource:
			set = set.union(toOpen.findBehind(edge{to: to}))
		case insideOf:
			set = set.union(to.Ephemerals())
		}
	}
	return set
}

// openedByCallsAround returns the ephemeral blocks named by the depends_on arguments of the calls around the
// module.
func (m *Module) openedByCallsAround() *OpenSet {
	call := m.call()
	if call == nil {
		return noOpens
	}
	return m.Parent.dependsOnOpens.union(openedByDependsOn(call.DependsOn, m.Parent))
}

// Ephemerals returns the ephemeral blocks of the module and of those below it.
func (m *Module) Ephemerals() *OpenSet { return m.ephemerals }

// collectEphemerals returns the ephemeral resources that the resources of a module and its children use.
func (m *Module) collectEphemerals() *OpenSet {
	all := map[addr.ConfigResource]struct{}{}
	for e := range (insideOf{m}).edges {
		switch b := e.to.(type) {
		case insideOf:
			maps.Copy(all, b.ephemerals.All)
		case *Resource:
			maps.Copy(all, toOpen.findBehind(edge{to: b}).All)
		}
	}
	return &OpenSet{All: all}
}
