package document

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
)

// moduleTree groups items by module instance: a node has the items of one instance and the nodes of its
// child modules.
type moduleTree[T any] struct {
	module   addr.ModuleInstance
	items    []T
	children map[addr.ModuleInstance]*moduleTree[T]
}

func newModuleTree[T any]() *moduleTree[T] {
	return &moduleTree[T]{children: map[addr.ModuleInstance]*moduleTree[T]{}}
}

// in returns the node of a module instance. It creates the nodes on the way that do not exist yet.
func (t *moduleTree[T]) in(m addr.ModuleInstance) *moduleTree[T] {
	for _, step := range m.Path() {
		next := t.children[step]
		if next == nil {
			next = &moduleTree[T]{module: step, children: map[addr.ModuleInstance]*moduleTree[T]{}}
			t.children[step] = next
		}
		t = next
	}
	return t
}

// sorted returns the child modules, sorted by the text of their addresses: [10] comes before [2].
func (t *moduleTree[T]) sorted() []*moduleTree[T] {
	out := make([]*moduleTree[T], 0, len(t.children))
	for _, c := range t.children {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *moduleTree[T]) int { return strings.Compare(a.module.String(), b.module.String()) })
	return out
}

// ByModuleDepth returns a copy of a list in the order of documents: items of the root module first, then
// those of its child modules, and so on. Items at the same depth keep their order.
func ByModuleDepth[T any](list []T, module func(T) addr.ModuleInstance) []T {
	depths := map[addr.ModuleInstance]int{}
	depth := func(e T) int {
		m := module(e)
		d, known := depths[m]
		if !known {
			d = len(m.Path())
			depths[m] = d
		}
		return d
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b T) int { return depth(a) - depth(b) })
	return out
}
