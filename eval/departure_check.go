package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// departures checks what destroy-time provisioners refer to: values with names must be ephemeral, since
// others may no longer be true, and nothing may depend on the object that goes, since it would have to be
// opened anew while that goes.
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

// departing checks the destroy-time provisioners of a resource block; b is nil for those of a removed block,
// which nothing can depend on.
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
	path := search{found: func(n node) bool { return n == node(b) }, follow: neededToOpen}
	for e := range m.references(ref) {
		if !path.visit(e) {
			continue
		}
		c.diags = append(c.diags, diag.At(ref.Range, "Ephemeral value depends on the destroyed resource",
			"When this provisioner runs, %s is about to be destroyed, and what is ephemeral is opened anew for it. This value leads back there: %s. Use something ephemeral that does not depend on the resource, or read what is needed through \"self\".",
			b.blockName(), strings.Join(names(path.way), " ← "))...)
		return
	}
}

// neededToOpen reports whether evaluating a node, or opening it, needs what the edge leads to.
func neededToOpen(from node, e edge) bool {
	switch from.(type) {
	case *valueBlock:
		return e.role&(inBody|inDependsOn|toCall) != 0
	case insideOf:
		return e.role == toPart
	default:
		return e.role&(inTrigger|inPrevention) == 0
	}
}

// lastsUntilDestroy reports whether a destroy-time provisioner may use the reference. References by address
// to anything that is not ephemeral are refused when the configuration is loaded.
func (m *moduleBlock) lastsUntilDestroy(ref *lang.Ref) bool {
	if ref.Kind == lang.Resource {
		return true
	}
	for to := range m.targets(ref) {
		return declaredEphemeral(to, map[node]struct{}{})
	}
	return true // not declared, which is reported
}

// declaredEphemeral reports whether what a reference leads to is ephemeral by its declaration; a local value
// is if one of its references is.
func declaredEphemeral(n node, seen map[node]struct{}) bool {
	switch b := n.(type) {
	case *ResourceBlock:
		return isEphemeral(b)
	case *valueBlock:
		switch b.kind {
		case variableValue:
			return b.variable.Ephemeral
		case outputValue:
			return b.output.Ephemeral
		}
		if _, again := seen[b]; again {
			return false
		}
		seen[b] = struct{}{}
		if slices.ContainsFunc(b.expr.Refs, func(ref lang.Ref) bool { return ref.Kind == lang.Terraform && ref.Name == "applying" }) {
			return true
		}
		for e := range b.edges {
			if declaredEphemeral(e.to, seen) {
				return true
			}
		}
	}
	return false
}
