package document

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
)

// jsonModule is a module instance with its resource instances. The root module has no address.
type jsonModule struct {
	Resources    []jsonResource `json:"resources,omitempty"`
	Address      string         `json:"address,omitempty"`
	ChildModules []jsonModule   `json:"child_modules,omitempty"`
}

// moduleTree groups resources by module instance. Modules without resources of their own are in it if they
// are on the way to others.
type moduleTree struct {
	module    addr.ModuleInstance
	resources []jsonResource
	children  map[addr.ModuleInstance]*moduleTree
}

func newModuleTree() *moduleTree { return &moduleTree{children: map[addr.ModuleInstance]*moduleTree{}} }

// add adds a resource to a module instance, and the modules on the way to it.
func (t *moduleTree) add(m addr.ModuleInstance, r jsonResource) {
	for _, step := range m.Path() {
		next := t.children[step]
		if next == nil {
			next = &moduleTree{module: step, children: map[addr.ModuleInstance]*moduleTree{}}
			t.children[step] = next
		}
		t = next
	}
	t.resources = append(t.resources, r)
}

// json encodes the tree. Child modules are sorted by the text of their addresses, so [10] comes before [2].
// Resources stay in the order in which they were added or, if sorted is set, are in the same order.
func (t *moduleTree) json(sorted bool) jsonModule {
	if sorted {
		slices.SortStableFunc(t.resources, func(a, b jsonResource) int { return strings.Compare(a.Address, b.Address) })
	}
	m := jsonModule{Resources: t.resources, Address: t.module.String()}
	for _, c := range t.children {
		m.ChildModules = append(m.ChildModules, c.json(sorted))
	}
	slices.SortFunc(m.ChildModules, func(a, b jsonModule) int { return strings.Compare(a.Address, b.Address) })
	return m
}

// ByModuleDepth returns a copy of a list in the order of documents: items of the root module first, then
// items of its child modules, and so on. Items at the same depth keep their order.
func ByModuleDepth[T any](list []T, module func(T) addr.ModuleInstance) []T {
	depths := map[addr.ModuleInstance]int{} // a sort asks often, and most items share a few modules
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
