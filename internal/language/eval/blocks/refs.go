package blocks

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// checkRefs reports references to objects that are not declared or not available where they are, and marks
// them as invalid.
func (m *Module) checkRefs(c *compiler) {
	for _, u := range c.sites[m] {
		for i := range u.refs {
			ref := &u.refs[i]
			if ref.Invalid {
				continue
			}
			diags := m.checkRef(*ref, u)
			ref.Invalid = diags.HasErrors()
			c.diags = append(c.diags, diags...)
		}
	}
}

// checkRef checks that a reference names something declared, and that each, count and self are available
// where it is.
func (m *Module) checkRef(ref lang.Ref, u site) diag.List {
	switch ref.Kind {
	case lang.Variable:
		if m.Variables[ref.Name] == nil {
			return m.undeclaredVariable(ref)
		}
	case lang.Local:
		if m.Locals[ref.Name] == nil {
			return m.undeclaredLocal(ref)
		}
	case lang.Output:
		if m.Outputs[ref.Name] == nil {
			return diag.At(ref.Range, "Reference to undeclared output value", "The module under test declares no output value named %q.%s",
				ref.Name, didYouMeanOr(ref.Name, keys(m.Outputs), "Its outputs are"))
		}
	case lang.Earlier:
		if m.Variables[config.EarlierRun(ref.Name)] == nil {
			return diag.At(ref.Range, "Reference to unavailable run block", "There is no earlier run block named %q in this file whose outputs are known.", ref.Name)
		}
	case lang.Resource:
		return m.checkResourceRef(ref, u)
	case lang.Module:
		return m.checkModuleRef(ref, u)
	case lang.Each:
		if u.repeat.ForEach == nil && !u.anyKey {
			return diag.At(ref.Range, `Reference to "each" in context without for_each`,
				`The "each" object can be used only in blocks whose for_each argument is set.%s`, elementHint(ref, ref.Name))
		}
	case lang.Count:
		if u.repeat.Count == nil && !u.anyKey {
			return diag.At(ref.Range, `Reference to "count" in non-counted context`,
				`The "count" object can be used only in blocks whose count argument is set.`)
		}
	case lang.Self:
		if u.beforeChange {
			return diag.At(ref.Range, `Invalid "self" reference`,
				`The trigger has events that come before the object is created or updated, so that there is no "self" yet. Move these events to a trigger of their own.`)
		}
		if !u.self {
			return diag.At(ref.Range, `Invalid "self" reference`,
				`The "self" object is available only in provisioner, connection, and postcondition blocks, where it is the resource instance itself. `+
					`Elsewhere, refer to the resource by its address.`)
		}
	}
	return nil
}

// elementHint says how a part of the current element of the dynamic block around a reference is named; "" if
// there is no such block or part.
func elementHint(ref lang.Ref, part string) string {
	n := len(ref.Iterators)
	if n == 0 || part != "key" && part != "value" {
		return ""
	}
	return fmt.Sprintf(" In the content of this dynamic block, the current element is %s.%s.", ref.Iterators[n-1], part)
}

func (m *Module) checkResourceRef(ref lang.Ref, u site) diag.List {
	if ref.Resource.Mode == addr.Action {
		return m.checkActionRef(ref, u)
	}
	if r := m.Config.Resources[ref.Resource]; r != nil && r.Check != nil && r.Check != u.check {
		return diag.At(ref.Range, "Reference to scoped resource",
			"%s is nested in the check %q, so only the assertions of that check can refer to it. To use it here, declare it outside of the check.", ref.Resource, r.Check.Name)
	}
	if b := m.Resources[ref.Resource]; b != nil {
		return b.checkRest(ref, u)
	}
	if m.Config.Resources[ref.Resource] != nil {
		return nil // declared, but it did not compile, which was reported
	}
	return m.undeclaredResource(ref)
}

// checkRest checks that a reference to an attribute names an instance, and that the attribute exists.
func (b *Resource) checkRest(ref lang.Ref, u site) diag.List {
	form := FormOf(b.Repeat)
	if ref.Index != nil && !form.Keyed() {
		return b.checkNoIndex(ref)
	}
	if len(ref.Rest) == 0 {
		return nil
	}
	attr, ok := ref.Rest[0].(hcl.TraverseAttr)
	if !ok {
		return nil
	}
	if form.Keyed() && ref.Index == nil {
		return missingKey(ref, b.Repeat, u, "resource", ref.Resource.String(), attr.Name)
	}
	return b.checkAttribute(ref)
}

// checkNoIndex refuses a constant index of a resource that has a single instance, unless the index is the
// name of an attribute.
func (b *Resource) checkNoIndex(ref lang.Ref) diag.List {
	if ref.Index.Expr != nil {
		return nil
	}
	if key := ref.Index.Key; key.Kind() == addr.KeyString && b.hasAttribute(key.Str()) {
		return nil
	}
	return diag.At(ref.Range, "Unexpected resource instance key",
		"%s has neither \"count\" nor \"for_each\" set, so it has one instance, and references to it have no index. Remove the brackets.", ref.Resource)
}

// missingKey reports a reference to an attribute of something repeated, of all instances at once.
func missingKey(ref lang.Ref, repeat Repetition, u site, what, object, attr string) diag.List {
	arg, key, all := "count", "[0]", object+"[*]."+attr
	if repeat.ForEach != nil {
		arg, key, all = "for_each", `["KEY"]`, "[for x in "+object+" : x."+attr+"]"
		if k, ok := firstKey(repeat.ForEach); ok {
			key = fmt.Sprintf("[%q]", k)
		}
	}
	switch {
	case repeat.Count != nil && u.repeat.Count != nil:
		key = "[count.index]"
	case repeat.ForEach != nil && u.repeat.ForEach != nil:
		key = "[each.key]"
	}
	return diag.At(ref.Range, "Missing "+what+" instance key",
		"Because %s has %q set, a reference to an attribute must say which instance it means, such as %s%s.%s. For the attribute of every instance: %s.",
		object, arg, object, key, attr, all)
}

// checkAttribute checks that the attribute that ref.Rest begins with exists.
func (b *Resource) checkAttribute(ref lang.Ref) diag.List {
	attr, ok := ref.Rest[0].(hcl.TraverseAttr)
	if !ok || b.hasAttribute(attr.Name) {
		return nil
	}
	if b.IsList() {
		return diag.At(attr.SrcRange, "Unsupported attribute", "A list has the attribute %q only, which has its results.", listAttribute)
	}
	block := b.Schema.Block
	names := slices.AppendSeq(slices.Collect(maps.Keys(block.Attributes)), maps.Keys(block.Blocks))
	return diag.At(attr.SrcRange, "Unsupported attribute", "This object has no argument, nested block, or exported attribute named %q.%s",
		attr.Name, didYouMeanOr(attr.Name, names, "It has"))
}

func (b *Resource) hasAttribute(name string) bool {
	if b.IsList() {
		return name == listAttribute
	}
	return b.Schema.Block.Attributes[name] != nil || b.Schema.Block.Blocks[name] != nil
}

// checkModuleRef checks a reference to an output of a called module. A reference inside try or can may name
// a missing output; evaluating it decides.
func (m *Module) checkModuleRef(ref lang.Ref, u site) diag.List {
	call := m.Calls[ref.Name]
	if call == nil {
		return m.undeclaredCall(ref)
	}
	if call.Child == nil || ref.Output == "" || ref.Guarded { // evaluating tells whether an output is missed
		return nil
	}
	if FormOf(call.Repeat).Keyed() && ref.Index == nil {
		return missingKey(ref, call.Repeat, u, "module", "module."+ref.Name, ref.Output)
	}
	if call.Child.Outputs[ref.Output] == nil {
		return call.undeclaredOutput(ref)
	}
	return nil
}

// attributePath returns the names in a traversal as a path.
func attributePath(t hcl.Traversal) cty.Path {
	var path cty.Path
	for _, step := range t {
		if attr, ok := step.(hcl.TraverseAttr); ok {
			path = append(path, cty.GetAttrStep{Name: attr.Name})
		}
	}
	return path
}
