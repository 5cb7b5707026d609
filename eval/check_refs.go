package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// checkRefs reports references to what is not declared or not available where they are, and marks them as invalid.
func (m *moduleBlock) checkRefs(c *compiler) {
	for _, u := range c.uses[m] {
		for i := range u.refs {
			ref := &u.refs[i]
			if ref.Invalid {
				continue
			}
			diags := m.checkRef(*ref, u, c)
			ref.Invalid = diags.HasErrors()
			c.diags = append(c.diags, diags...)
		}
	}
}

func (m *moduleBlock) checkRef(ref lang.Ref, u use, c *compiler) diag.List {
	switch ref.Kind {
	case lang.Variable:
		return undeclared(ref, "input variable", `variable "`+ref.Name+`" {}`, m.variables)
	case lang.Local:
		return undeclared(ref, "local value", "", m.locals)
	case lang.Resource:
		return m.checkResourceRef(ref, u, c)
	case lang.Module:
		return m.checkModuleRef(ref)
	case lang.Each:
		if u.repeat.forEach == nil && !u.anyKey {
			return diag.At(ref.Range, `Reference to "each" in context without for_each`,
				`The "each" object can be used only in blocks whose for_each argument is set.`)
		}
	case lang.Count:
		if u.repeat.count == nil && !u.anyKey {
			return diag.At(ref.Range, `Reference to "count" in non-counted context`,
				`The "count" object can be used only in blocks whose count argument is set.`)
		}
	case lang.Self:
		if !u.self {
			return diag.At(ref.Range, `Invalid "self" reference`,
				`The "self" object is available only in provisioner, connection and postcondition blocks, where it is the resource instance itself.`)
		}
	}
	return nil
}

func undeclared(ref lang.Ref, what, add string, declared map[string]*valueBlock) diag.List {
	if declared[ref.Name] != nil {
		return nil
	}
	detail := "This module declares no " + what + ` named "` + ref.Name + `".`
	if near := Nearest(ref.Name, slices.Sorted(maps.Keys(declared))); near != "" {
		detail += ` Did you mean "` + near + `"?`
	} else if add != "" {
		detail += " It can be declared with: " + add
	}
	return diag.At(ref.Range, "Reference to undeclared "+what, "%s", detail)
}

func (m *moduleBlock) checkResourceRef(ref lang.Ref, u use, c *compiler) diag.List {
	if r := m.cfg.Resources[ref.Resource]; r != nil && r.Check != nil && r.Check != u.check {
		return diag.At(ref.Range, "Reference to scoped resource",
			"%s is nested in the check %q, and nothing but the assertions of that check can refer to it. Declare it outside of the check to use it here.", ref.Resource, r.Check.Name)
	}
	if b := m.resources[ref.Resource]; b != nil {
		return b.checkRest(ref)
	}
	if m.cfg.Resources[ref.Resource] != nil {
		return nil // declared, but it did not compile, which was reported
	}
	detail := "This module declares no " + ref.Resource.Mode.String() + ` "` + ref.Resource.Type + `" "` + ref.Resource.Name + `".`
	var names []string
	for r := range m.cfg.Resources {
		if r.Type == ref.Resource.Type && r.Name == ref.Resource.Name {
			return diag.At(ref.Range, "Reference to undeclared resource", "%s There is %s: refer to that instead.", detail, r)
		}
		names = append(names, r.String())
	}
	slices.Sort(names)
	if near := Nearest(ref.Resource.String(), names); near != "" {
		detail += ` Did you mean "` + near + `"?`
	} else if ref.Resource.Mode == addr.Managed && ref.Root != "resource" {
		detail += m.hintForRoot(ref)
	}
	return diag.At(ref.Range, "Reference to undeclared resource", "%s", detail)
}

// checkRest checks the attribute that a reference names, and that it says of which instance.
func (b *ResourceBlock) checkRest(ref lang.Ref) diag.List {
	if len(ref.Rest) == 0 {
		return nil
	}
	attr, ok := ref.Rest[0].(hcl.TraverseAttr)
	if !ok {
		return nil
	}
	if form := formOf(b.repeat); form.keyed() && ref.Index == nil {
		arg, example := "count", "[count.index]"
		if form == ForEach {
			arg, example = "for_each", "[each.key]"
		}
		return diag.At(ref.Range, "Missing resource instance key",
			"Because %s has %q set, a reference must say which instance it means, such as the one with the key of the referring block: %s%s.%s",
			ref.Resource, arg, ref.Resource, example, attr.Name)
	}
	return b.checkAttribute(ref)
}

// checkAttribute checks that the attribute that ref.Rest begins with exists.
func (b *ResourceBlock) checkAttribute(ref lang.Ref) diag.List {
	attr, ok := ref.Rest[0].(hcl.TraverseAttr)
	if !ok {
		return nil
	}
	block := b.Schema.Block
	if block.Attributes[attr.Name] != nil || block.Blocks[attr.Name] != nil {
		return nil
	}
	detail := "This object has no argument, nested block, or exported attribute named \"" + attr.Name + "\"."
	names := slices.AppendSeq(slices.Collect(maps.Keys(block.Attributes)), maps.Keys(block.Blocks))
	slices.Sort(names)
	if near := Nearest(attr.Name, names); near != "" {
		detail += ` Did you mean "` + near + `"?`
	}
	return diag.At(attr.SrcRange, "Unsupported attribute", "%s", detail)
}

// hintForRoot recognises a variable, local or module written without its prefix.
func (m *moduleBlock) hintForRoot(ref lang.Ref) string {
	switch {
	case m.variables[ref.Root] != nil:
		return ` An input variable has that name: write "var.` + ref.Root + `".`
	case m.locals[ref.Root] != nil:
		return ` A local value has that name: write "local.` + ref.Root + `".`
	case m.calls[ref.Root] != nil:
		return ` A module call has that name: write "module.` + ref.Root + `".`
	}
	return ""
}

func (m *moduleBlock) checkModuleRef(ref lang.Ref) diag.List {
	call := m.calls[ref.Name]
	if call == nil {
		detail := `This module has no call named "` + ref.Name + `".`
		if near := Nearest(ref.Name, slices.Sorted(maps.Keys(m.calls))); near != "" {
			detail += ` Did you mean "` + near + `"?`
		}
		return diag.At(ref.Range, "Reference to undeclared module", "%s", detail)
	}
	if call.child == nil || ref.Output == "" || call.repeat.repeated() && ref.Index == nil {
		return nil
	}
	if call.child.outputs[ref.Output] == nil {
		detail := `The module called by "` + ref.Name + `" has no output named "` + ref.Output + `".`
		if near := Nearest(ref.Output, slices.Sorted(maps.Keys(call.child.outputs))); near != "" {
			detail += ` Did you mean "` + near + `"?`
		}
		return diag.At(ref.Range, "Unsupported attribute", "%s", detail)
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
