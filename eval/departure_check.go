package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// departures checks what destroy-time provisioners refer to: values with names must be ephemeral, since others may no longer be true, and nothing may
// depend on the object that goes, since it would have to be opened anew while that goes.
func (c *compiler) departures() {
	for _, path := range c.sorted() {
		m := c.cfg.modules[path]
		for _, r := range m.cfg.Order {
			if b := m.resources[r.Addr]; b != nil {
				c.departing(m, b, b.departing)
			}
		}
		for _, r := range m.cfg.Removed {
			c.departing(m, nil, c.cfg.removed[r])
		}
	}
}

// departing checks the destroy-time provisioners of a resource block; b is nil for those of a removed block, which nothing can depend on.
func (c *compiler) departing(m *moduleBlock, b *ResourceBlock, blocks []provisionerBlock) {
	seen := map[hcl.Range]struct{}{} // several provisioners may share a connection
	for i := range blocks {
		for _, x := range slices.Concat(blocks[i].exprs, blocks[i].connection) {
			for j := range x.Refs {
				ref := &x.Refs[j]
				if _, again := seen[ref.Range]; again {
					continue
				}
				seen[ref.Range] = struct{}{}
				c.departingRef(m, b, ref)
			}
		}
	}
}

func (c *compiler) departingRef(m *moduleBlock, b *ResourceBlock, ref *lang.Ref) {
	if !m.lastsUntilDestroy(ref) {
		c.diags = append(c.diags, diag.At(ref.Range, "Invalid reference from destroy provisioner", config.DestroyReferences)...)
		return
	}
	if b == nil {
		return
	}
	f := pathFinder{target: b, seen: map[any]struct{}{}}
	if f.ref(m, ref) {
		c.diags = append(c.diags, diag.At(ref.Range, "Ephemeral value depends on the destroyed resource",
			"When this provisioner runs, %s is about to be destroyed, and what is ephemeral is opened anew for it. This value leads back there: %s. Use something ephemeral that does not depend on the resource, or read what is needed through \"self\".",
			blockName(b), strings.Join(f.names, " ← "))...)
	}
}

// lastsUntilDestroy reports whether a destroy-time provisioner may use the reference. Of references by address it isn't asked: loading has seen to them.
func (m *moduleBlock) lastsUntilDestroy(ref *lang.Ref) bool {
	switch ref.Kind {
	case lang.Variable, lang.Local:
		return m.ephemeralRef(ref, map[*valueBlock]struct{}{}, true)
	case lang.Module:
		return m.ephemeralRef(ref, nil, true)
	default:
		return true
	}
}

// ephemeralRef reports whether the reference is to something that is ephemeral as declared. undeclared is the answer for what isn't there.
func (m *moduleBlock) ephemeralRef(ref *lang.Ref, seen map[*valueBlock]struct{}, undeclared bool) bool {
	switch ref.Kind {
	case lang.Resource:
		return ref.Resource.Mode == addr.Ephemeral
	case lang.Terraform:
		return ref.Name == "applying"
	case lang.Variable:
		v := m.variables[ref.Name]
		return v == nil && undeclared || v != nil && v.variable.Ephemeral
	case lang.Module:
		call := m.calls[ref.Name]
		if call == nil || call.child == nil {
			return undeclared
		}
		o := call.child.outputs[ref.Output]
		return o == nil && undeclared && ref.Output != "" || o != nil && o.output.Ephemeral
	case lang.Local:
		v := m.locals[ref.Name]
		if v == nil {
			return undeclared
		}
		if _, again := seen[v]; again {
			return false
		}
		seen[v] = struct{}{}
		return slices.ContainsFunc(v.expr.Refs, func(r lang.Ref) bool { return m.ephemeralRef(&r, seen, false) })
	default:
		return false
	}
}

// pathFinder looks for a way from a reference to a resource block, through everything that evaluating and opening needs. names is that way.
type pathFinder struct {
	target *ResourceBlock
	seen   map[any]struct{}
	names  []string
}

func (f *pathFinder) visit(node any) bool {
	if node == any(f.target) {
		f.names = append(f.names, blockName(node))
		return true
	}
	if _, again := f.seen[node]; again {
		return false
	}
	f.seen[node] = struct{}{}
	f.names = append(f.names, blockName(node))
	if f.inside(node) {
		return true
	}
	f.names = f.names[:len(f.names)-1]
	return false
}

func (f *pathFinder) inside(node any) bool {
	switch b := node.(type) {
	case *ResourceBlock:
		return f.resource(b)
	case *providerBlock:
		return f.exprs(b.module, b.each) || f.exprs(b.module, b.body...)
	case *valueBlock:
		if b.kind == variableValue {
			return b.module.parent != nil && f.exprs(b.module.parent, b.expr)
		}
		return f.exprs(b.module, b.expr) || f.explicit(b.module, b.dependsOn)
	default:
		return false
	}
}

func (f *pathFinder) resource(b *ResourceBlock) bool {
	m := b.module
	for _, cond := range slices.Concat(b.pre, b.post) {
		if f.exprs(m, cond.cond, cond.msg) {
			return true
		}
	}
	for _, p := range slices.Concat(b.provisioners, b.departing) {
		if f.exprs(m, p.exprs...) {
			return true
		}
	}
	if f.exprs(m, b.body...) || f.exprs(m, b.idle...) || f.exprs(m, b.providerKey) || f.repetition(m, b.repeat) || f.explicit(m, b.dependsOn) || f.around(m) {
		return true
	}
	p := m.providerBlockFor(b.Config.ProviderRef())
	return p != nil && f.visit(p)
}

func (f *pathFinder) repetition(m *moduleBlock, r repetition) bool {
	return f.exprs(m, r.count, r.forEach, r.enabled)
}

// around follows what decides about the modules around a block.
func (f *pathFinder) around(m *moduleBlock) bool {
	for ; m.parent != nil; m = m.parent {
		call := m.parent.calls[m.cfg.Call.Name]
		if call != nil && (f.repetition(m.parent, call.repeat) || f.explicit(m.parent, call.dependsOn)) {
			return true
		}
	}
	return false
}

// explicit follows depends_on, where a module stands for everything in it.
func (f *pathFinder) explicit(m *moduleBlock, refs []lang.Ref) bool {
	for i := range refs {
		call := m.calls[refs[i].Name]
		if refs[i].Kind == lang.Module && call != nil && call.child != nil {
			if f.everything(call.child) {
				return true
			}
		} else if f.ref(m, &refs[i]) {
			return true
		}
	}
	return false
}

func (f *pathFinder) everything(m *moduleBlock) bool {
	for _, r := range m.cfg.Order {
		if b := m.resources[r.Addr]; b != nil && f.visit(b) {
			return true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.calls)) {
		if child := m.calls[name].child; child != nil && f.everything(child) {
			return true
		}
	}
	return false
}

func (f *pathFinder) exprs(m *moduleBlock, exprs ...*lang.Expr) bool {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			if f.ref(m, &x.Refs[i]) {
				return true
			}
		}
	}
	return false
}

func (f *pathFinder) ref(m *moduleBlock, ref *lang.Ref) bool {
	switch ref.Kind {
	case lang.Variable:
		v := m.variables[ref.Name]
		return v != nil && f.visit(v)
	case lang.Local:
		v := m.locals[ref.Name]
		return v != nil && f.visit(v)
	case lang.Resource:
		b := m.resources[ref.Resource]
		return b != nil && f.visit(b)
	case lang.Module:
		return f.outputs(m.calls[ref.Name], ref.Output)
	default:
		return false
	}
}

func (f *pathFinder) outputs(call *callBlock, name string) bool {
	if call == nil || call.child == nil {
		return false
	}
	for _, o := range slices.Sorted(maps.Keys(call.child.outputs)) {
		if (name == "" || name == o) && f.visit(call.child.outputs[o]) {
			return true
		}
	}
	return f.repetition(call.module, call.repeat) || f.explicit(call.module, call.dependsOn)
}
