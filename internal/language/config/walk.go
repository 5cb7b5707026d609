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

// Walk reads the modules of a configuration one by one, for callers that install modules before reading
// them. One goroutine at a time may use it. The caller decides the order, calls Child once for each module
// call whose directory it knows, and gets the tree at the end:
//
//	w := loader.Walk()
//	root, diags := w.Root(".")
//	for _, call := range w.Calls(root) {
//	    child, diags := w.Child(root, call, installed(call))
//	}
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

// Child reads the module of a call of m. It returns nil if the directory can't be read, or if the same
// directory is already in the chain of calls, which is an error.
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

// Tree returns the tree read so far. Modules are not checked against each other.
func (w *Walk) Tree() *Tree { return w.run.tree }
