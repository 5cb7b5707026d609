package eval

import (
	"iter"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// The compiled configuration is a graph of blocks. This file is the only place that knows what each block
// refers to and in which role; questions about the configuration as a whole are walks over the graph that
// choose the roles that matter.

// node is a block, or a group of blocks that a reference can mean as a whole. Nodes are comparable.
type node interface {
	// edges yields what the node refers to, in the same order each time.
	edges(yield func(edge) bool)
	// blockName returns the address for messages.
	blockName() string
}

// edge leads from a node to one that it refers to.
type edge struct {
	to   node
	role role
	ref  *lang.Ref  // the reference; nil if there is none, as between a module and its parts
	via  *hcl.Range // where the node refers to the other one
}

// role says what a reference is for. Roles are bits, so that a walk can choose a set of them.
type role uint16

const (
	inBody           role = 1 << iota // the arguments of a block, the expression of a value
	inRepetition                      // count, for_each, enabled
	inPrecondition                    // also validations of variables and assertions of checks
	inPostcondition                   // evaluated once the object exists
	inProvisioner                     // of creation, with the connection that holds for it
	inIdleConnection                  // of a connection that no provisioner of creation uses
	inDestroyProvisioner
	inTrigger          // replace_triggered_by
	inPrevention       // prevent_destroy
	inProviderKey      // the key of the provider configuration's instance
	inDependsOn        // depends_on, in which a module stands for everything in it
	toProvider         // from a resource to its provider configuration
	toCall             // from a reference to a module's output to the call of the module
	aroundIt           // from a block to the call of the module that it is in
	toOutput           // from a module to its outputs
	toPart             // from a module to the resources in it and below, from a check to its nested block
	anyRole       role = 1<<iota - 1
)

// afterwards are the roles in which a block may refer to itself: its object exists by then.
const afterwards = inPostcondition | inProvisioner | inIdleConnection | inDestroyProvisioner

// outputsOf stands for all outputs of a module, and insideOf for its resources, its outputs, and those of the
// modules below.
type (
	outputsOf struct{ *moduleBlock }
	insideOf  struct{ *moduleBlock }
)

// targets yields what a reference that stands in the module leads to: nothing if it is to no block, or to one
// that is not declared.
func (m *moduleBlock) targets(ref *lang.Ref) iter.Seq[node] {
	return func(yield func(node) bool) {
		switch ref.Kind {
		case lang.Variable:
			if v := m.variables[ref.Name]; v != nil {
				yield(v)
			}
		case lang.Local:
			if v := m.locals[ref.Name]; v != nil {
				yield(v)
			}
		case lang.Resource:
			if b := m.resources[ref.Resource]; b != nil {
				yield(b)
			}
		case lang.Module:
			call := m.calls[ref.Name]
			if call == nil || call.child == nil {
				return
			}
			if ref.Output == "" {
				yield(outputsOf{call.child})
			} else if o := call.child.outputs[ref.Output]; o != nil {
				yield(o)
			}
		}
	}
}

// explicitTarget returns what a reference in depends_on leads to, nil if that is not declared.
func (m *moduleBlock) explicitTarget(ref *lang.Ref) node {
	if call := m.calls[ref.Name]; ref.Kind == lang.Module && call != nil && call.child != nil {
		return insideOf{call.child}
	}
	for to := range m.targets(ref) {
		return to
	}
	return nil
}

// references yields the edges of a single reference that stands in the module.
func (m *moduleBlock) references(ref *lang.Ref) iter.Seq[edge] {
	return func(yield func(edge) bool) { emit(yield).ref(m, inBody, ref) }
}

// emit passes edges on until the receiver has enough of them, which it reports by false.
type emit func(edge) bool

func (y emit) exprs(m *moduleBlock, r role, exprs ...*lang.Expr) bool {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			if !y.ref(m, r, &x.Refs[i]) {
				return false
			}
		}
	}
	return true
}

func (y emit) ref(m *moduleBlock, r role, ref *lang.Ref) bool {
	for to := range m.targets(ref) {
		if !y(edge{to, r, ref, &ref.Range}) {
			return false
		}
	}
	if call := m.calls[ref.Name]; ref.Kind == lang.Module && call != nil && call.child != nil {
		return y(edge{call, toCall, ref, &ref.Range})
	}
	return true
}

func (y emit) conditions(m *moduleBlock, r role, conds []condition) bool {
	for _, c := range conds {
		if !y.exprs(m, r, c.cond, c.msg) {
			return false
		}
	}
	return true
}

func (y emit) repetition(m *moduleBlock, r repetition) bool {
	return y.exprs(m, inRepetition, r.count, r.forEach, r.enabled)
}

func (y emit) provisioners(m *moduleBlock, r role, blocks []provisionerBlock) bool {
	for i := range blocks {
		if !y.exprs(m, r, blocks[i].exprs...) {
			return false
		}
	}
	return true
}

func (y emit) dependsOn(m *moduleBlock, refs []lang.Ref) bool {
	for i := range refs {
		if to := m.explicitTarget(&refs[i]); to != nil && !y(edge{to, inDependsOn, &refs[i], &refs[i].Range}) {
			return false
		}
	}
	return true
}

// around emits the edge to the call of the module m, which the root module lacks.
func (y emit) around(m *moduleBlock) bool {
	call := m.call()
	return call == nil || y(edge{to: call, role: aroundIt, via: &call.cfg.Range})
}

// call returns the block that calls the module, nil for the root module.
func (m *moduleBlock) call() *callBlock {
	if m.parent == nil {
		return nil
	}
	return m.parent.calls[m.cfg.Call.Name]
}

func (r *ResourceBlock) edges(yield func(edge) bool) {
	m, y := r.module, emit(yield)
	_ = y.repetition(m, r.repeat) &&
		y.exprs(m, inBody, r.body...) &&
		y.conditions(m, inPrecondition, r.pre) &&
		y.exprs(m, inTrigger, r.triggers...) &&
		y.exprs(m, inPrevention, r.prevent) &&
		y.exprs(m, inProviderKey, r.providerKey) &&
		y.exprs(m, inIdleConnection, r.idle...) &&
		y.conditions(m, inPostcondition, r.post) &&
		y.provisioners(m, inProvisioner, r.provisioners) &&
		y.provisioners(m, inDestroyProvisioner, r.departing) &&
		y.dependsOn(m, r.dependsOn) &&
		y.around(m) &&
		y.provider(r)
}

func (y emit) provider(r *ResourceBlock) bool {
	ref := r.Config.ProviderRef()
	p := r.module.providerBlockFor(ref)
	return p == nil || y(edge{to: p, role: toProvider, via: &ref.Range})
}

func (p *providerBlock) edges(yield func(edge) bool) {
	y := emit(yield)
	_ = y.exprs(p.module, inRepetition, p.each) && y.exprs(p.module, inBody, p.body...)
}

func (v *valueBlock) edges(yield func(edge) bool) {
	y := emit(yield)
	_ = (v.expr == nil || y.exprs(v.writtenIn(), inBody, v.expr)) &&
		y.conditions(v.module, inPrecondition, v.conds) &&
		y.dependsOn(v.module, v.dependsOn)
}

// writtenIn returns the module that the expression of the value stands in: for a variable, the calling one.
func (v *valueBlock) writtenIn() *moduleBlock {
	if v.kind == variableValue {
		return v.module.parent
	}
	return v.module
}

func (c *callBlock) edges(yield func(edge) bool) {
	y := emit(yield)
	_ = y.repetition(c.module, c.repeat) && y.dependsOn(c.module, c.dependsOn) && y.around(c.module)
}

func (b *checkBlock) edges(yield func(edge) bool) {
	if emit(yield).conditions(b.module, inPrecondition, b.asserts) && b.nested != nil {
		yield(edge{to: b.nested, role: toPart, via: &b.nested.Config.Range})
	}
}

func (m outputsOf) edges(yield func(edge) bool) {
	for _, o := range diag.InOrder(m.outputs) {
		if !yield(edge{to: o, role: toOutput, via: &o.rng}) {
			return
		}
	}
}

func (m insideOf) edges(yield func(edge) bool) {
	for _, r := range m.cfg.Order {
		if b := m.resources[r.Addr]; b != nil && r.Check == nil && !yield(edge{to: b, role: toPart, via: &r.Range}) {
			return
		}
	}
	for _, call := range diag.InOrder(m.calls) {
		if call.child != nil && !yield(edge{to: insideOf{call.child}, role: toPart, via: &call.cfg.Range}) {
			return
		}
	}
	outputsOf(m).edges(yield)
}

func (r *ResourceBlock) blockName() string {
	return configAddr(r.module.cfg.Path, r.Config.Addr.String())
}

func (v *valueBlock) blockName() string {
	return configAddr(v.module.cfg.Path, v.localName())
}

func (c *callBlock) blockName() string { return configAddr(c.module.cfg.Path, "module."+c.cfg.Name) }

func (b *checkBlock) blockName() string { return configAddr(b.module.cfg.Path, "check."+b.cfg.Name) }
func (m outputsOf) blockName() string   { return m.cfg.Path.String() }
func (m insideOf) blockName() string    { return m.cfg.Path.String() }
func (p *providerBlock) blockName() string {
	return configAddr(p.module.cfg.Path, "provider."+p.cfg.Ref().String())
}

// isEphemeral reports whether the node is an ephemeral resource block.
func isEphemeral(n node) bool {
	r, ok := n.(*ResourceBlock)
	return ok && r.Config.Addr.Mode == addr.Ephemeral
}

// eachNode yields every block of the tree, module by module, in the same order each time.
func (c *Config) eachNode(yield func(node) bool) {
	for _, path := range c.sorted() {
		if !c.modules[path].eachNode(yield) {
			return
		}
	}
}

func (m *moduleBlock) eachNode(yield func(node) bool) bool {
	for _, r := range m.cfg.Order {
		if b := m.resources[r.Addr]; b != nil && !yield(b) {
			return false
		}
	}
	for _, group := range []map[string]*valueBlock{m.variables, m.locals, m.outputs} {
		for _, v := range diag.InOrder(group) {
			if !yield(v) {
				return false
			}
		}
	}
	for _, p := range diag.InOrder(m.providers) {
		if !yield(p) {
			return false
		}
	}
	for _, call := range diag.InOrder(m.calls) {
		if !yield(call) {
			return false
		}
	}
	for _, b := range diag.InOrder(m.checks) {
		if !yield(b) {
			return false
		}
	}
	return true
}
