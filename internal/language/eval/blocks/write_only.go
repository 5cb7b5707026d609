package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// checkWriteOnlyOutputs reports outputs of the root module that refer to write-only attributes, directly or
// through values of any module, and are not sensitive. Such an attribute is always null, but the author
// means the secret.
func (m *Module) checkWriteOnlyOutputs(c *compiler) {
	for _, o := range diag.InOrder(m.Outputs) {
		if o.Output.Sensitive || o.Output.Ephemeral {
			continue
		}
		s := writeOnlySearch{seen: map[*Value]struct{}{}}
		if found := s.expr(m, o.Expr, nil); found != "" {
			c.diags = append(c.diags, diag.At(o.Expr.Range(), "Output refers to a write-only attribute",
				"The output %q refers to a write-only attribute of %s, which holds a secret and is null when it is read. Do not output it, or add the argument\n    sensitive = true", o.Name, found)...)
		}
	}
}

type writeOnlySearch struct{ seen map[*Value]struct{} }

// expr returns the address of a resource if x refers to a write-only attribute of it, "" if there is none.
// The names are the attributes that are read from the value of x.
func (s *writeOnlySearch) expr(m *Module, x *lang.Expr, names *readNames) string {
	if x == nil || len(x.Refs) == 0 {
		return ""
	}
	names = &readNames{names: attributeNames(x.Expression), outer: names}
	for i := range x.Refs {
		if found := s.ref(m, &x.Refs[i], names); found != "" {
			return found
		}
	}
	return ""
}

// ref returns the address of the resource if the reference leads to one of its write-only attributes, also
// through values and outputs, "" otherwise.
func (s *writeOnlySearch) ref(m *Module, ref *lang.Ref, names *readNames) string {
	for to := range m.targets(ref) {
		switch b := to.(type) {
		case *Resource:
			path := attributePath(ref.Rest)
			if b.Schema.Block.InWriteOnly(path) || len(path) == 0 && names.any(b.topLevelWriteOnly) {
				return b.Address()
			}
		case *Value:
			return s.value(b, names)
		case outputsOf:
			return s.outputs(b.Module, names)
		}
	}
	return ""
}

func (s *writeOnlySearch) outputs(m *Module, names *readNames) string {
	for name, o := range diag.InOrder(m.Outputs) {
		if !names.any(func(read string) bool { return read == name }) {
			continue
		}
		if found := s.value(o, names); found != "" {
			return found
		}
	}
	return ""
}

func (s *writeOnlySearch) value(v *Value, names *readNames) string {
	if _, ok := s.seen[v]; ok {
		return ""
	}
	s.seen[v] = struct{}{}
	return s.expr(v.writtenIn(), v.Expr, names)
}

// readNames are the names of attributes that an expression reads, and those that the ones around it read of
// its value: shared, not copied, since chains of values are long.
type readNames struct {
	names []string
	outer *readNames
}

func (r *readNames) any(match func(string) bool) bool {
	for ; r != nil; r = r.outer {
		if slices.ContainsFunc(r.names, match) {
			return true
		}
	}
	return false
}

func (b *Resource) topLevelWriteOnly(name string) bool {
	a := b.Schema.Block.Attributes[name]
	return a != nil && a.WriteOnly
}

// attributeNames returns the names of all attributes that an expression reads of anything.
func attributeNames(e hcl.Expression) []string {
	native, ok := e.(hclsyntax.Node)
	if !ok {
		return nil
	}
	var out []string
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			out = append(out, stepNames(n.Traversal[1:])...)
		case *hclsyntax.RelativeTraversalExpr:
			out = append(out, stepNames(n.Traversal)...)
		case hcl.Expression:
			index, ok := hcl.UnwrapExpression(n).(*hclsyntax.IndexExpr)
			if !ok {
				return nil
			}
			if key, ok := index.Key.(*hclsyntax.TemplateExpr); ok && key.IsStringLiteral() {
				name, _ := key.Value(nil)
				out = append(out, name.AsString())
			}
		}
		return nil
	})
	return out
}

func stepNames(t hcl.Traversal) []string {
	var out []string
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			out = append(out, step.Name)
		case hcl.TraverseIndex:
			if step.Key.Type() == cty.String {
				out = append(out, step.Key.AsString())
			}
		}
	}
	return out
}
