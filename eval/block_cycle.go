package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// BlockCycles reports cycles of blocks that hold for all of their instances: every reference on the way is to a block that is not repeated, or to all
// instances of one. While validating, no instance of a repeated block is demanded, so such cycles are not met; those without one are left to demand.
func (c *Config) BlockCycles() diag.List {
	f := &blockCycles{state: map[any]bool{}}
	for _, path := range c.sorted() {
		m := c.modules[path]
		for _, r := range m.cfg.Order {
			if b := m.resources[r.Addr]; b != nil {
				f.visit(b, nil)
			}
		}
	}
	return f.diags
}

// blockCycles walks depth first. state is true for what is on the way, false for what has been left.
type blockCycles struct {
	state map[any]bool
	nodes []any
	vias  []*hcl.Range // vias[i] is where nodes[i] was referred to
	diags diag.List
}

// outputsOf stands for all outputs of a module, and insideOf for all its resources and those of the modules below it.
type (
	outputsOf struct{ *moduleBlock }
	insideOf  struct{ *moduleBlock }
)

func (f *blockCycles) visit(node any, via *hcl.Range) {
	if on, seen := f.state[node]; seen {
		if on {
			f.found(slices.Index(f.nodes, node), via)
		}
		return
	}
	f.state[node] = true
	f.nodes, f.vias = append(f.nodes, node), append(f.vias, via)
	switch n := node.(type) {
	case *ResourceBlock:
		f.resource(n)
	case *providerBlock:
		f.exprs(n.module, append([]*lang.Expr{n.each}, n.body...)...)
	case *valueBlock:
		f.value(n)
	case *callBlock:
		f.exprs(n.module, n.repeat.count, n.repeat.forEach, n.repeat.enabled)
		f.dependsOn(n.module, n.dependsOn)
		f.around(n.module)
	case outputsOf:
		for _, name := range slices.Sorted(maps.Keys(n.outputs)) {
			f.visit(n.outputs[name], &n.outputs[name].rng)
		}
	case insideOf:
		f.inside(n.moduleBlock)
	}
	last := len(f.nodes) - 1
	f.nodes, f.vias = f.nodes[:last], f.vias[:last]
	f.state[node] = false
}

// found reports the cycle of the nodes from the index on, unless every resource in it has a single instance.
func (f *blockCycles) found(from int, via *hcl.Range) {
	repeated := func(node any) bool {
		b, ok := node.(*ResourceBlock)
		return ok && !b.single()
	}
	if !slices.ContainsFunc(f.nodes[from:], repeated) {
		return
	}
	names := make([]string, 0, len(f.nodes)-from)
	for _, node := range f.nodes[from:] {
		names = append(names, blockName(node))
	}
	f.diags = append(f.diags, cycleDiag(names, append(slices.Clone(f.vias[from+1:]), via))...)
}

// single reports whether neither the block nor a module around it is repeated.
func (b *ResourceBlock) single() bool {
	for m := b.module; m.parent != nil; m = m.parent {
		if m.parent.calls[m.cfg.Call.Name].repeat.repeated() {
			return false
		}
	}
	return !b.repeat.repeated()
}

func (f *blockCycles) resource(b *ResourceBlock) {
	m := b.module
	f.exprs(m, b.repeat.count, b.repeat.forEach, b.repeat.enabled)
	f.exprs(m, b.body...)
	for _, c := range b.pre {
		f.exprs(m, c.cond, c.msg)
	}
	f.exprs(m, b.triggers...)
	f.after(b)
	f.dependsOn(m, b.dependsOn)
	f.around(m)
	ref := b.Config.ProviderRef()
	if p := m.providerBlockFor(ref); p != nil {
		f.visit(p, &ref.Range)
	}
}

// after follows what is evaluated once the object exists, so that it may be referred to by its own address.
func (f *blockCycles) after(b *ResourceBlock) {
	exprs := slices.Clone(b.idle)
	for _, c := range b.post {
		exprs = append(exprs, c.cond, c.msg)
	}
	for _, p := range slices.Concat(b.provisioners, b.departing) {
		exprs = append(exprs, p.exprs...)
	}
	for _, x := range exprs {
		for i := range x.Refs {
			if ref := &x.Refs[i]; ref.Kind != lang.Resource || ref.Resource != b.Config.Addr {
				f.ref(b.module, ref)
			}
		}
	}
}

func (f *blockCycles) value(v *valueBlock) {
	m := v.module
	if v.kind == variableValue {
		m = m.parent
	}
	if m != nil {
		f.exprs(m, v.expr)
		f.dependsOn(m, v.dependsOn)
	}
}

// around follows what all instances of the module wait for.
func (f *blockCycles) around(m *moduleBlock) {
	if m.parent != nil {
		call := m.parent.calls[m.cfg.Call.Name]
		f.visit(call, &call.cfg.Range)
	}
}

func (f *blockCycles) inside(m *moduleBlock) {
	for _, r := range m.cfg.Order {
		if b := m.resources[r.Addr]; b != nil && r.Check == nil {
			f.visit(b, &r.Range)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.calls)) {
		if call := m.calls[name]; call.child != nil {
			f.visit(insideOf{call.child}, &call.cfg.Range)
		}
	}
}

func (f *blockCycles) exprs(m *moduleBlock, exprs ...*lang.Expr) {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			f.ref(m, &x.Refs[i])
		}
	}
}

// dependsOn follows depends_on, where a module stands for everything in it.
func (f *blockCycles) dependsOn(m *moduleBlock, refs []lang.Ref) {
	for i := range refs {
		ref := &refs[i]
		if ref.Kind != lang.Module {
			f.ref(m, ref)
			continue
		}
		if call := m.calls[ref.Name]; call != nil && call.child != nil && !picks(ref, call.repeat) {
			f.visit(insideOf{call.child}, &ref.Range)
		}
	}
}

// picks reports whether the reference is to one of several instances.
func picks(ref *lang.Ref, r repetition) bool { return ref.Index != nil && formOf(r).keyed() }

func (f *blockCycles) ref(m *moduleBlock, ref *lang.Ref) {
	switch ref.Kind {
	case lang.Variable:
		if v := m.variables[ref.Name]; v != nil {
			f.visit(v, &ref.Range)
		}
	case lang.Local:
		if v := m.locals[ref.Name]; v != nil {
			f.visit(v, &ref.Range)
		}
	case lang.Resource:
		if b := m.resources[ref.Resource]; b != nil && !picks(ref, b.repeat) {
			f.visit(b, &ref.Range)
		}
	case lang.Module:
		call := m.calls[ref.Name]
		if call == nil || call.child == nil || picks(ref, call.repeat) {
			return
		}
		if o := call.child.outputs[ref.Output]; o != nil && !formOf(call.repeat).keyed() {
			f.visit(o, &ref.Range)
		} else if ref.Output == "" || formOf(call.repeat).keyed() {
			f.visit(outputsOf{call.child}, &ref.Range)
		}
	}
}

// blockName returns the address of what a cycle of blocks can go through.
func blockName(node any) string {
	switch b := node.(type) {
	case *ResourceBlock:
		return joinAddr2(b.module.cfg.Path, b.Config.Addr.String())
	case *providerBlock:
		return joinAddr2(b.module.cfg.Path, "provider."+b.cfg.Ref().String())
	case *valueBlock:
		return joinAddr2(b.module.cfg.Path, valuePrefix[b.kind]+b.name)
	case *callBlock:
		return joinAddr2(b.module.cfg.Path, "module."+b.cfg.Name)
	case outputsOf:
		return b.cfg.Path.String()
	case insideOf:
		return b.cfg.Path.String()
	default:
		return "an object"
	}
}
