package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/lang"
)

// openCycles reports ephemeral blocks, and values made from them, that wait for each other in a cycle. Opening happens within sessions, where a walk
// does not meet cycles by demand, so they are found here, for blocks and not for instances.
func (c *compiler) openCycles() {
	d := cycleFinder{c: c, state: map[any]bool{}}
	for _, path := range c.sorted() {
		m := c.cfg.modules[path]
		for _, r := range m.cfg.Order {
			if b := m.resources[r.Addr]; b != nil && r.Addr.Mode == addr.Ephemeral {
				d.visit(b, nil)
			}
		}
		for _, group := range []map[string]*valueBlock{m.variables, m.locals, m.outputs} {
			for _, name := range slices.Sorted(maps.Keys(group)) {
				if v := group[name]; !v.opens.empty() {
					d.visit(v, nil)
				}
			}
		}
	}
}

// cycleFinder walks depth first. state is true for what is on the way, false for what has been left.
type cycleFinder struct {
	c     *compiler
	state map[any]bool
	names []string
	nodes []any
	vias  []*hcl.Range // vias[i] is where nodes[i] was referred to
}

func (d *cycleFinder) visit(node any, via *hcl.Range) {
	if on, seen := d.state[node]; seen {
		if at := slices.Index(d.nodes, node); on && slices.ContainsFunc(d.nodes[at:], opens) {
			vias := append(slices.Clone(d.vias[at+1:]), via)
			d.c.diags = append(d.c.diags, cycleDiag(d.names[at:], vias)...)
		}
		return
	}
	d.state[node] = true
	d.nodes, d.vias, d.names = append(d.nodes, node), append(d.vias, via), append(d.names, blockName(node))
	switch b := node.(type) {
	case *ResourceBlock:
		d.ephemeral(b)
	case *providerBlock:
		d.exprs(b.module, b.body...)
	case *valueBlock:
		m := b.module
		if b.kind == variableValue {
			m = m.parent
		}
		if m != nil {
			d.exprs(m, b.expr)
		}
	}
	n := len(d.nodes) - 1
	d.nodes, d.vias, d.names = d.nodes[:n], d.vias[:n], d.names[:n]
	d.state[node] = false
}

// opens reports whether a cycle through the node is out of sight of demand: of values that open, those closest to the source know it.
func opens(node any) bool {
	v, ok := node.(*valueBlock)
	return !ok || !v.opens.empty()
}

func (d *cycleFinder) ephemeral(b *ResourceBlock) {
	d.exprs(b.module, b.body...)
	for _, c := range b.pre {
		d.exprs(b.module, c.cond, c.msg)
	}
	for _, c := range b.post { // evaluated once it is open, so that it may be referred to by its own address
		for _, x := range []*lang.Expr{c.cond, c.msg} {
			for i := range x.Refs {
				if ref := &x.Refs[i]; ref.Kind != lang.Resource || ref.Resource != b.Config.Addr {
					d.ref(b.module, ref)
				}
			}
		}
	}
	d.dependsOn(b.module, b.dependsOn)
	for m := b.module; m.parent != nil; m = m.parent {
		d.dependsOn(m.parent, m.parent.calls[m.cfg.Call.Name].dependsOn)
	}
	ref := b.Config.ProviderRef()
	if p := b.module.providerBlockFor(ref); p != nil && !p.opens.empty() {
		d.visit(p, &ref.Range)
	}
}

// dependsOn follows depends_on: a module stands for its outputs and for the ephemeral resources in it.
func (d *cycleFinder) dependsOn(m *moduleBlock, refs []lang.Ref) {
	for i := range refs {
		d.ref(m, &refs[i])
		if refs[i].Kind != lang.Module {
			continue
		}
		held := slices.SortedFunc(maps.Keys(m.heldBy(refs[i:i+1]).all), func(a, b addr.ConfigResource) int { return strings.Compare(a.String(), b.String()) })
		for _, r := range held {
			d.visit(d.c.cfg.modules[r.Module].resources[r.Resource], &refs[i].Range)
		}
	}
}

func (d *cycleFinder) exprs(m *moduleBlock, exprs ...*lang.Expr) {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			d.ref(m, &x.Refs[i])
		}
	}
}

func (d *cycleFinder) ref(m *moduleBlock, ref *lang.Ref) {
	switch ref.Kind {
	case lang.Variable:
		d.value(m.variables[ref.Name], ref)
	case lang.Local:
		d.value(m.locals[ref.Name], ref)
	case lang.Resource:
		if b := m.resources[ref.Resource]; b != nil && ref.Resource.Mode == addr.Ephemeral {
			d.visit(b, &ref.Range)
		}
	case lang.Module:
		call := m.calls[ref.Name]
		if call == nil || call.child == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(call.child.outputs)) {
			if ref.Output == "" || ref.Output == name {
				d.value(call.child.outputs[name], ref)
			}
		}
	}
}

func (d *cycleFinder) value(v *valueBlock, ref *lang.Ref) {
	if v != nil {
		d.visit(v, &ref.Range)
	}
}

// providerBlockFor follows a provider reference to the block that it means, whatever the instances of modules are; nil if there is none.
func (m *moduleBlock) providerBlockFor(ref config.ProviderRef) *providerBlock {
	if passed := m.cfg.Passed(ref); passed != nil {
		return m.parent.providerBlockFor(*passed)
	}
	b := m.providers[ref.String()]
	if b != nil || ref.Alias != "" || m.parent == nil {
		return b
	}
	return m.parent.providerBlockFor(config.ProviderRef{Name: m.parent.localName(m.cfg.ProviderFor(ref.Name), ref.Name)})
}
