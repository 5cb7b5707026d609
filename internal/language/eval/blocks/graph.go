package blocks

import (
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// The compiled configuration is a graph of blocks. This file is the only place that knows the targets of the
// references in the expressions of each block (exprs.go) and of its other references; questions about the
// configuration as a whole are walks over the graph that choose the roles that matter.

// Node is a block, or a group of blocks that a reference can mean as a whole. Nodes are comparable.
type Node interface {
	// edges yields the references of the node, in the same order each time.
	edges(yield func(edge) bool)
	// Address returns the address of the block, without instance keys, for messages.
	Address() string
}

// edge leads from a node to one that it refers to.
type edge struct {
	to   Node
	role Role
	ref  *lang.Ref  // the reference; nil if there is none, as between a module and its parts
	expr *lang.Expr // the one that has the reference, if it is in an expression
	via  *hcl.Range // where the node refers to the other one
}

// outputsOf stands for all outputs of a module, and insideOf for the resources and outputs of it and of the
// modules below.
type (
	outputsOf struct{ *Module }
	insideOf  struct{ *Module }
)

// targets yields the nodes that a reference in the module leads to. It yields nothing for a reference that
// names no block or an undeclared one.
func (m *Module) targets(ref *lang.Ref) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		switch ref.Kind {
		case lang.Variable:
			if v := m.Variables[ref.Name]; v != nil {
				yield(v)
			}
		case lang.Local:
			if v := m.Locals[ref.Name]; v != nil {
				yield(v)
			}
		case lang.Output:
			if o := m.Outputs[ref.Name]; o != nil {
				yield(o)
			}
		case lang.Earlier:
			if v := m.Variables[config.EarlierRun(ref.Name)]; v != nil {
				yield(v)
			}
		case lang.Resource:
			if b := m.Resources[ref.Resource]; b != nil {
				yield(b)
			}
		case lang.Module:
			call := m.Calls[ref.Name]
			if call == nil || call.Child == nil {
				return
			}
			names := ref.Outputs()
			if names == nil {
				yield(outputsOf{call.Child})
			}
			for _, name := range names {
				if o := call.Child.Outputs[name]; o != nil && !yield(o) {
					return
				}
			}
		}
	}
}

// explicitTarget returns the target of a reference in depends_on, nil if it is not declared.
func (m *Module) explicitTarget(ref *lang.Ref) Node {
	if call := m.Calls[ref.Name]; ref.Kind == lang.Module && call != nil && call.Child != nil {
		return insideOf{call.Child}
	}
	for to := range m.targets(ref) {
		return to
	}
	return nil
}

// references yields the edges of a single reference in the module.
func (m *Module) references(ref *lang.Ref) iter.Seq[edge] {
	return func(yield func(edge) bool) { emit(yield).ref(m, InBody, nil, ref) }
}

// emit yields edges. It returns false if the receiver wants no more.
type emit func(edge) bool

// in returns a function that yields the edges of expressions in the module that have one of the roles.
func (y emit) in(m *Module, roles Role) func(Role, *lang.Expr) bool {
	return func(r Role, x *lang.Expr) bool {
		if r&roles == 0 {
			return true
		}
		for i := range x.Refs {
			if !y.ref(m, r, x, &x.Refs[i]) {
				return false
			}
		}
		return y.functions(m, r, x)
	}
}

// ref yields the edges of one reference. One to a module's outputs also leads to the call, because count
// and for_each of the call decide which instances there are.
func (y emit) ref(m *Module, r Role, x *lang.Expr, ref *lang.Ref) bool {
	for to := range m.targets(ref) {
		if !y(edge{to: to, role: r, ref: ref, expr: x, via: &ref.Range}) {
			return false
		}
	}
	if call := m.Calls[ref.Name]; ref.Kind == lang.Module && call != nil && call.Child != nil {
		return y(edge{to: call, role: toCall, ref: ref, expr: x, via: &ref.Range})
	}
	return true
}

func (y emit) dependsOn(m *Module, refs []lang.Ref) bool {
	for i := range refs {
		if to := m.explicitTarget(&refs[i]); to != nil && !y(edge{to: to, role: inDependsOn, ref: &refs[i], via: &refs[i].Range}) {
			return false
		}
	}
	return true
}

// around emits the edge to the call of the module m, which the root module lacks.
func (y emit) around(m *Module) bool {
	call := m.call()
	return call == nil || y(edge{to: call, role: AroundIt, via: &call.Config.Range})
}

// call returns the block that calls the module, nil for the root module.
func (m *Module) call() *Call {
	if m.Parent == nil {
		return nil
	}
	return m.Parent.Calls[m.Config.Call.Name]
}

// edges yields the references of the resource. The chain of && stops as soon as the receiver wants no more.
func (r *Resource) edges(yield func(edge) bool) {
	m, y := r.Module, emit(yield)
	_ = r.Exprs(y.in(m, referring)) && y.dependsOn(m, r.DependsOn) && y.around(m) && y.provider(r)
}

// provider emits the edges to the provider configuration of the resource, and to the references of instance
// keys that calls around it pass.
func (y emit) provider(r *Resource) bool {
	ref := r.Config.ProviderRef()
	p, more := followProvider(r.Module, ref, func(m *Module, key *lang.Expr) bool { return y.in(m, InProviderKey)(InProviderKey, key) })
	return more && (p == nil || y(edge{to: p, role: toProvider, via: &ref.Range}))
}

func (p *Provider) edges(yield func(edge) bool) {
	p.Exprs(emit(yield).in(p.Module, referring))
}

func (v *Value) edges(yield func(edge) bool) {
	y := emit(yield)
	_ = v.Exprs(y.in(v.writtenIn(), InBody)) && y.element(v) && v.Exprs(y.in(v.Module, referring&^InBody)) && y.dependsOn(v.Module, v.DependsOn)
}

// element emits the edges of a variable to the sources of its element of the call's for_each.
func (y emit) element(v *Value) bool {
	if v.Kind != VariableValue || v.Expr == nil {
		return true
	}
	call := v.Module.call()
	if call.Repeat.ForEach == nil || !slices.ContainsFunc(v.Expr.Refs, isElement) {
		return true
	}
	return lister(y.in(call.Module, InElement)).exprs(InElement, call.Repeat.ForEach)
}

// isElement reports whether the reference is each.value.
func isElement(ref lang.Ref) bool { return ref.Kind == lang.Each && ref.Name == "value" }

// writtenIn returns the module that has the expression of the value: for a variable, the calling one.
func (v *Value) writtenIn() *Module {
	if v.Kind == VariableValue {
		return v.Module.Parent
	}
	return v.Module
}

func (c *Call) edges(yield func(edge) bool) {
	y := emit(yield)
	_ = c.Exprs(y.in(c.Module, referring)) && y.dependsOn(c.Module, c.DependsOn) && y.around(c.Module)
}

func (b *Check) edges(yield func(edge) bool) {
	if b.Exprs(emit(yield).in(b.Module, referring)) && b.Nested != nil {
		yield(edge{to: b.Nested, role: toPart, via: &b.Nested.Config.Range})
	}
}

func (m outputsOf) edges(yield func(edge) bool) {
	for _, o := range diag.InOrder(m.Outputs) {
		if !yield(edge{to: o, role: toOutput, via: &o.Range}) {
			return
		}
	}
}

// edges yields the parts of a module, and the dependencies of its call. An action is waited for
// with the resources that trigger it.
func (m insideOf) edges(yield func(edge) bool) {
	for _, r := range m.Config.Order {
		if b := m.Resources[r.Addr]; b != nil && r.Check == nil && !b.IsAction() && !yield(edge{to: b, role: toPart, via: &r.Range}) {
			return
		}
	}
	for _, call := range diag.InOrder(m.Calls) {
		if call.Child != nil && !yield(edge{to: insideOf{call.Child}, role: toPart, via: &call.Config.Range}) {
			return
		}
	}
	if !emit(yield).around(m.Module) {
		return
	}
	outputsOf(m).edges(yield)
}

// Address returns the address of the block, without instance keys.
func (r *Resource) Address() string { return r.Module.Config.Path.Join(r.Config.Addr.String()) }

// Address returns the address of the value, without instance keys.
func (v *Value) Address() string { return v.Module.Config.Path.Join(v.LocalName()) }

// Address returns the address of the called module, without instance keys.
func (c *Call) Address() string { return c.Module.Config.Path.Join("module." + c.Config.Name) }

// Address returns the address of the check, without instance keys.
func (b *Check) Address() string { return b.Module.Config.Path.Join("check." + b.Config.Name) }

// Address returns the module and the name of the provider configuration, for messages.
func (p *Provider) Address() string {
	return p.Module.Config.Path.Join("provider." + p.Config.Ref().String())
}

// Address returns the address of the module.
func (m outputsOf) Address() string { return m.Config.Path.String() }

// Address returns the address of the module.
func (m insideOf) Address() string { return m.Config.Path.String() }

// isEphemeral reports whether the node is an ephemeral resource block.
func isEphemeral(n Node) bool {
	r, ok := n.(*Resource)
	return ok && r.Config.Addr.Mode == addr.Ephemeral
}

// eachNode yields every block of the tree, module by module, in the same order each time.
func (c *Config) eachNode(yield func(Node) bool) {
	for _, path := range c.sorted() {
		if !c.Modules[path].eachNode(yield) {
			return
		}
	}
}

// eachNode yields the nodes of a module in the order of their declarations, which makes results of queries
// the same in every run.
func (m *Module) eachNode(yield func(Node) bool) bool {
	for _, r := range m.Config.Order {
		if b := m.Resources[r.Addr]; b != nil && !yield(b) {
			return false
		}
	}
	for _, group := range []map[string]*Value{m.Variables, m.Locals, m.Outputs} {
		for _, v := range diag.InOrder(group) {
			if !yield(v) {
				return false
			}
		}
	}
	for _, p := range diag.InOrder(m.Providers) {
		if !yield(p) {
			return false
		}
	}
	for _, call := range diag.InOrder(m.Calls) {
		if !yield(call) {
			return false
		}
	}
	for _, b := range diag.InOrder(m.Checks) {
		if !yield(b) {
			return false
		}
	}
	return true
}

// sorted returns the paths of the modules in order.
func (c *Config) sorted() []addr.Module {
	return slices.SortedFunc(maps.Keys(c.Modules), func(a, b addr.Module) int { return slices.Compare(a.Calls(), b.Calls()) })
}
