package blocks

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// checkDestroyProvisioners checks the references of destroy-time provisioners. Named values must be
// ephemeral, since others may be out of date by then. None may depend on the object that is destroyed, since
// it would have to be opened again during the destruction.
func (c *compiler) checkDestroyProvisioners() {
	for _, path := range c.cfg.sorted() {
		m := c.cfg.Modules[path]
		for _, r := range m.Config.Order {
			if b := m.Resources[r.Addr]; b != nil {
				c.checkDestroyRefs(m, b, b.DestroyProvisioners)
			}
		}
		for _, r := range m.Config.Removed {
			c.checkDestroyRefs(m, nil, c.cfg.Removed[r])
		}
	}
}

// checkDestroyRefs checks the destroy-time provisioners of a resource block. b is nil for a removed block,
// which nothing can depend on.
func (c *compiler) checkDestroyRefs(m *Module, b *Resource, provisioners DestroyProvisioners) {
	seen := map[hcl.Range]struct{}{} // several provisioners may share a connection
	provisioners.Exprs(func(_ Role, x *lang.Expr) bool {
		for i := range x.Refs {
			ref := &x.Refs[i]
			if _, again := seen[ref.Range]; again {
				continue
			}
			seen[ref.Range] = struct{}{}
			c.checkDestroyRef(m, b, ref)
		}
		return true
	})
}

// checkDestroyRef checks one reference of a destroy-time provisioner. b is the resource being destroyed, nil
// for a removed block; a value that needs b in order to be opened could not be had once b is going away.
func (c *compiler) checkDestroyRef(m *Module, b *Resource, ref *lang.Ref) {
	if !m.lastsUntilDestroy(ref) {
		c.diags = append(c.diags, diag.At(ref.Range, "Invalid reference from destroy provisioner", config.DestroyReferences)...)
		return
	}
	if b == nil {
		return
	}
	path := search{found: func(n Node) bool { return n == Node(b) }, follow: neededToOpen}
	for e := range m.references(ref) {
		if !path.visit(e) {
			continue
		}
		c.diags = append(c.diags, diag.At(ref.Range, "Ephemeral value depends on the destroyed resource",
			"When this provisioner runs, %s is about to be destroyed, and ephemeral resources are opened again for it. This value depends on that resource: %s. Use an ephemeral value that does not depend on it, or read what is needed through \"self\".",
			b.Address(), strings.Join(names(path.way), " ← "))...)
		return
	}
}

// neededToOpen reports whether evaluating a node, or opening it, needs the target of the edge.
func neededToOpen(from Node, e edge) bool {
	switch from.(type) {
	case *Value:
		return e.role&(InBody|InElement|inDependsOn|toCall) != 0
	case insideOf:
		return e.role == toPart
	default:
		return e.role&(InTrigger|InPrevention|Triggering) == 0
	}
}

// lastsUntilDestroy reports whether a destroy-time provisioner may use the reference. References by address
// to anything that is not ephemeral are rejected earlier, when the configuration is loaded.
func (m *Module) lastsUntilDestroy(ref *lang.Ref) bool {
	if ref.Kind == lang.Resource {
		return true
	}
	for to := range m.targets(ref) {
		return declaredEphemeral(to, map[Node]struct{}{})
	}
	return true // not declared, which is reported
}

// declaredEphemeral reports whether the target of a reference is ephemeral by its declaration; a local value
// is if one of its references is.
func declaredEphemeral(n Node, seen map[Node]struct{}) bool {
	switch b := n.(type) {
	case *Resource:
		return isEphemeral(b)
	case *Value:
		switch b.Kind {
		case VariableValue:
			return b.Variable.Ephemeral
		case OutputValue:
			return b.Output.Ephemeral
		}
		if _, again := seen[b]; again {
			return false
		}
		seen[b] = struct{}{}
		if slices.ContainsFunc(b.Expr.Refs, func(ref lang.Ref) bool { return ref.Kind == lang.Terraform && ref.Name == "applying" }) {
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
