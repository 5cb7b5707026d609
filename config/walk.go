package config

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// Walk reads the modules of a configuration one by one, for those who put the called ones in place before
// they are read. It must be used by one goroutine at a time.
type Walk struct{ run *loadRun }

// Walk begins to read modules.
func (l *Loader) Walk() *Walk { return &Walk{l.newRun()} }

// Root reads the root module.
func (w *Walk) Root(dir string) (*Module, diag.List) {
	m := w.run.module(dir, addr.RootModule)
	w.run.tree.Root = m
	return m, w.run.take()
}

// Calls lists the calls of m by name.
func (w *Walk) Calls(m *Module) []*ModuleCall {
	return slices.SortedFunc(maps.Values(m.Calls), func(a, b *ModuleCall) int { return strings.Compare(a.Name, b.Name) })
}

// Child reads the module that a call of m leads to. It returns nil if the directory can't be read, or if the
// calls have led there before, which is an error.
func (w *Walk) Child(m *Module, call *ModuleCall, dir string) (*Module, diag.List) {
	dir = path.Clean(filepath.ToSlash(dir))
	chain, depth := []string{dir}, 0
	for at := m; at != nil; at = at.Parent {
		chain = append([]string{at.Dir}, chain...)
		if depth++; at.Dir == dir {
			return nil, selfCall(call, dir, chain)
		}
	}
	if depth >= maxDepth {
		return nil, callsTooDeep(call)
	}
	if !w.run.exists(call, dir) {
		return nil, w.run.take()
	}
	return w.run.child(dir, m, call), w.run.take()
}

// Tree returns what was read so far. Modules were not checked against each other.
func (w *Walk) Tree() *Tree { return w.run.tree }
