package blocks

import (
	"iter"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// Edge is one reference of the graph of blocks, for packages that walk over it. Links has the same
// references for people, without groups of blocks.
type Edge struct {
	To   Node
	Role Role
	Ref  *lang.Ref  // nil if there is none, as between a module and its parts
	Expr *lang.Expr // that has the reference, nil if none has
}

// Edges yields all references of a node, which may be a group, in the same order each time.
func Edges(n Node) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		n.edges(func(e edge) bool { return yield(Edge{To: e.to, Role: e.role, Ref: e.ref, Expr: e.expr}) })
	}
}

// Grouped returns the module of a group of blocks, nil for a block. inside says that the group has
// everything in the module and below it, and not its outputs alone.
func Grouped(n Node) (m *Module, inside bool) {
	switch g := n.(type) {
	case outputsOf:
		return g.Module, false
	case insideOf:
		return g.Module, true
	}
	return nil, false
}

// ExplicitEdges yields the references of depends_on in a module.
func ExplicitEdges(m *Module, refs []lang.Ref) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		emit(func(e edge) bool { return yield(Edge{To: e.to, Role: e.role, Ref: e.ref}) }).dependsOn(m, refs)
	}
}

// ExprEdges yields the references of an expression of the module that is in no block of the graph.
func ExprEdges(m *Module, x *lang.Expr) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		emit(func(e edge) bool { return yield(Edge{To: e.to, Role: e.role, Ref: e.ref, Expr: e.expr}) }).in(m, referring)(InBody, x)
	}
}

// CallOf returns the block that calls the module, nil for the root module.
func CallOf(m *Module) *Call { return m.call() }

// WrittenIn returns the module that has the expression of the value: for a variable, the calling one.
func (v *Value) WrittenIn() *Module { return v.writtenIn() }

// SortedModules returns the modules of the tree in the order of their paths.
func (c *Config) SortedModules() []*Module {
	var out []*Module
	for _, path := range c.sorted() {
		out = append(out, c.Modules[path])
	}
	return out
}

// ProviderOfFunction returns the provider that defines a function, whose name is as an expression has it.
func ProviderOfFunction(m *Module, name string) (addr.Provider, bool) {
	fn, ok := ParseFunctionName(name)
	if !ok {
		return addr.Provider{}, false
	}
	if p := m.ProviderFor(fn.Provider); p != nil {
		return p.Source, true
	}
	return m.Config.ProviderFor(fn.Provider.Name), true
}

// IsElement reports whether the reference is each.value.
func IsElement(ref lang.Ref) bool { return isElement(ref) }
