package config

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// Module returns the module that declares the block and in whose instances its expressions are evaluated.
func (r *Removed) Module() *Module { return r.module }

// Target returns the resource or module that the block removes, relative to the root module. The resource is
// the zero value for a whole module.
func (r *Removed) Target() addr.ConfigResource { return absolute(r.module, r.target) }

// absolute returns the block that a target refers to, which is relative to m.
func absolute(m *Module, t addr.Target) addr.ConfigResource {
	out := addr.ConfigResource{Module: m.Path}
	for _, name := range t.Module.Module().Calls() {
		out.Module = out.Module.Child(name)
	}
	if t.Resource != nil {
		out.Resource = *t.Resource
	}
	return out
}

// Removal returns the removed block that applies to the objects of a resource block that is no longer
// declared, or nil if there is none. A block about the resource takes precedence over one about a
// surrounding module, and an inner module over an outer one. It applies also to resources in modules that
// are no longer called.
func (t *Tree) Removal(r addr.ConfigResource) *Removed {
	if found := t.removals[r]; found != nil {
		return found
	}
	for m := r.Module; !m.IsRoot(); m, _ = m.Parent() {
		if found := t.removals[addr.ConfigResource{Module: m}]; found != nil {
			return found
		}
	}
	return nil
}

// removals collects the removed blocks of the tree and reports those that contradict each other or other
// blocks.
func (c *checker) removals(t *Tree) {
	t.removals = map[addr.ConfigResource]*Removed{}
	for _, m := range t.SortedModules() {
		for _, r := range m.Removed {
			r.module = m
			target := r.Target()
			if first := t.removals[target]; first != nil {
				if r.Destroy != first.Destroy || len(r.Provisioners)+len(first.Provisioners) > 0 {
					c.semanticAt(r.Range, "Duplicate removed block", "There is already another removed block for %s, at %s. Keep one of the two.", targetName(target), diag.Place(first.Range))
				}
				continue
			}
			t.removals[target] = r
			c.stillDeclared(t, r, target)
		}
	}
	for _, m := range t.SortedModules() {
		for _, mv := range m.Moved {
			c.checkMovedAndRemoved(t, m, mv)
		}
	}
}

// stillDeclared reports a removed block whose target the configuration still has.
func (c *checker) stillDeclared(t *Tree, r *Removed, target addr.ConfigResource) {
	m := t.Modules[target.Module]
	switch {
	case m == nil:
	case target.Resource == (addr.Resource{}):
		c.semanticAt(r.Range, "Removed module block still exists",
			"This block says that %s is removed, but the configuration still calls it, at %s. Remove either the module block or this one.", target.Module, diag.Place(m.Call.Range))
	case m.Resources[target.Resource] != nil:
		c.semanticAt(r.Range, "Removed resource is still declared",
			"This block says that %s is removed, but the configuration still declares it, at %s. Remove either the resource block or this one.", target, diag.Place(m.Resources[target.Resource].Range))
	}
}

// checkMovedAndRemoved reports a move of everything that a removed block names: nothing would be left to
// remove. A move of single instances, or to a removed address, leaves something.
func (c *checker) checkMovedAndRemoved(t *Tree, m *Module, mv *Moved) {
	from, err := addr.TargetFromTraversal(mv.From)
	if err != nil || keyed(from) {
		return
	}
	if r := t.removals[absolute(m, from)]; r != nil {
		c.semanticAt(r.Range, "Conflicting moved and removed blocks",
			"This block says that %s is removed, but the moved block at %s says that it has become something else. Remove one of the two blocks.", targetName(r.Target()), diag.Place(mv.Range))
	}
}

// keyed reports whether the target names single instances.
func keyed(t addr.Target) bool {
	for _, step := range t.Module.Path() {
		if _, _, key := step.Parent(); key != addr.NoKey {
			return true
		}
	}
	return t.Key != addr.NoKey
}

// targetName formats a module or a resource for messages.
func targetName(r addr.ConfigResource) string {
	if r.Resource == (addr.Resource{}) {
		return r.Module.String()
	}
	return r.String()
}
