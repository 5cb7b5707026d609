package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/lang"
)

// origin is one way by which an expression may have become ephemeral: what it refers to, what that refers to, and so on to the source.
type origin struct {
	chain    []string
	ref      *lang.Ref // the reference in the expression itself
	applying bool      // the source is terraform.applying, which is no secret
}

// String returns the chain for messages.
func (o origin) String() string { return strings.Join(o.chain, " ← ") }

// origins finds the ephemeral sources of references of the module without evaluating anything. Each value on the way is looked into once.
func (m *moduleBlock) origins(refs []lang.Ref) []origin {
	return m.originsOf(refs, map[*valueBlock]struct{}{})
}

func (m *moduleBlock) originsOf(refs []lang.Ref, seen map[*valueBlock]struct{}) []origin {
	var out []origin
	for i := range refs {
		found := m.originsOfRef(&refs[i], seen)
		for j := range found {
			found[j].ref = &refs[i]
		}
		out = append(out, found...)
	}
	return out
}

func (m *moduleBlock) originsOfRef(ref *lang.Ref, seen map[*valueBlock]struct{}) []origin {
	switch ref.Kind {
	case lang.Variable:
		if v := m.variables[ref.Name]; v != nil && v.variable.Ephemeral {
			return v.origins("var."+ref.Name, m.parent, true, seen)
		}
	case lang.Local:
		if v := m.locals[ref.Name]; v != nil {
			return v.origins("local."+ref.Name, m, false, seen)
		}
	case lang.Module:
		return m.originsOfOutputs(ref, seen)
	case lang.Resource:
		if ref.Resource.Mode == addr.Ephemeral {
			return []origin{{chain: []string{joinAddr2(m.cfg.Path, ref.Resource.String())}}}
		}
	case lang.Terraform:
		if ref.Name == "applying" {
			return []origin{{chain: []string{ref.Root + ".applying"}, applying: true}}
		}
	}
	return nil
}

func (m *moduleBlock) originsOfOutputs(ref *lang.Ref, seen map[*valueBlock]struct{}) []origin {
	call := m.calls[ref.Name]
	if call == nil || call.child == nil {
		return nil
	}
	names := []string{ref.Output}
	if ref.Output == "" {
		names = slices.Sorted(maps.Keys(call.child.outputs))
	}
	var out []origin
	for _, name := range names {
		if o := call.child.outputs[name]; o != nil && o.output.Ephemeral {
			out = append(out, o.origins("module."+ref.Name+"."+name, call.child, true, seen)...)
		}
	}
	return out
}

// origins follows a value to the sources of its expression, which stands in m. A value that is declared ephemeral is a source itself if it has no other.
func (v *valueBlock) origins(name string, m *moduleBlock, declared bool, seen map[*valueBlock]struct{}) []origin {
	if v.kind != outputValue {
		name = joinAddr2(v.module.cfg.Path, name)
	} else {
		name = joinAddr2(v.module.parent.cfg.Path, name)
	}
	if _, ok := seen[v]; ok {
		return nil
	}
	seen[v] = struct{}{}
	var out []origin
	if v.expr != nil {
		out = m.originsOf(v.expr.Refs, seen)
	}
	for i := range out {
		out[i].chain = append([]string{name}, out[i].chain...)
	}
	if len(out) == 0 && declared {
		out = []origin{{chain: []string{name}}}
	}
	return out
}

// onlyApplying reports whether terraform.applying is the one ephemeral source of the expression.
func (m *moduleBlock) onlyApplying(x *lang.Expr) bool {
	found := m.origins(x.Refs)
	return len(found) > 0 && !slices.ContainsFunc(found, func(o origin) bool { return !o.applying })
}

// originAt returns where the part of a resource's body at rng became ephemeral; false if that cannot be told.
func (b *ResourceBlock) originAt(rngs ...hcl.Range) (origin, bool) {
	for _, rng := range rngs {
		for _, x := range b.body {
			for _, o := range b.module.origins(x.Refs) {
				if rng.Overlaps(o.ref.Range) {
					return o, true
				}
			}
		}
	}
	return origin{}, false
}

// dynamicRanges returns the ranges of the expressions that make the attribute at path in a dynamic block: of the attribute, then of for_each.
func dynamicRanges(body hcl.Body, path cty.Path) []hcl.Range {
	if len(path) == 0 {
		return nil
	}
	step, ok := path[0].(cty.GetAttrStep)
	if !ok {
		return nil
	}
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: step.Name}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "dynamic", LabelNames: []string{"type"}}, {Type: step.Name}},
	})
	if attr := content.Attributes[step.Name]; attr != nil {
		return []hcl.Range{attr.Expr.Range()}
	}
	rest := path[1:]
	if len(rest) > 0 {
		if _, index := rest[0].(cty.IndexStep); index {
			rest = rest[1:]
		}
	}
	var out, each []hcl.Range
	for _, block := range content.Blocks {
		if block.Type != "dynamic" {
			out = append(out, dynamicRanges(block.Body, rest)...)
			continue
		}
		if block.Labels[0] != step.Name {
			continue
		}
		inner, _, _ := block.Body.PartialContent(&hcl.BodySchema{
			Attributes: []hcl.AttributeSchema{{Name: "for_each"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "content"}},
		})
		for _, c := range inner.Blocks {
			out = append(out, dynamicRanges(c.Body, rest)...)
		}
		if attr := inner.Attributes["for_each"]; attr != nil {
			each = append(each, attr.Expr.Range())
		}
	}
	return append(out, each...)
}
