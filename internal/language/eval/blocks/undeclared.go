package blocks

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// few is how many names a message lists where none is near.
const few = 8

// didYouMeanOr proposes the candidate nearest to name. If none is near, it lists the candidates, if they are
// few, after the words in otherwise.
func didYouMeanOr(name string, candidates []string, otherwise string) string {
	if proposal := diag.DidYouMean(name, candidates); proposal != "" || len(candidates) == 0 || len(candidates) > few {
		return proposal
	}
	return " " + otherwise + " " + diag.Names(candidates) + "."
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// undeclaredVariable explains a reference to a variable that the module does not declare, with the name
// that was probably meant.
func (m *Module) undeclaredVariable(ref lang.Ref) diag.List {
	hint := " To declare it, write: variable \"" + ref.Name + "\" {}"
	if m.Locals[ref.Name] != nil {
		hint = " Did you mean local." + ref.Name + "?"
	} else if near := diag.Nearest(ref.Name, keys(m.Variables)); near != "" {
		hint = " Did you mean var." + near + "?"
	} else if m.Parent != nil && m.Parent.Variables[ref.Name] != nil {
		hint = " The module that calls this one does, but a module has only what it is given." + hint + ", and in the call: " + ref.Name + " = var." + ref.Name
	}
	return diag.At(ref.Range, "Reference to undeclared input variable", "This module declares no input variable named %q.%s", ref.Name, hint)
}

// undeclaredLocal explains a reference to a local value that the module does not declare.
func (m *Module) undeclaredLocal(ref lang.Ref) diag.List {
	hint := ""
	if m.Variables[ref.Name] != nil {
		hint = " Did you mean var." + ref.Name + "?"
	} else if near := diag.Nearest(ref.Name, keys(m.Locals)); near != "" {
		hint = " Did you mean local." + near + "?"
	}
	return diag.At(ref.Range, "Reference to undeclared local value", "This module declares no local value named %q.%s", ref.Name, hint)
}

// undeclaredCall explains a reference to a module that is not called here.
func (m *Module) undeclaredCall(ref lang.Ref) diag.List {
	hint := ""
	if near := diag.Nearest(ref.Name, keys(m.Calls)); near != "" {
		hint = " Did you mean module." + near + indexFor(ref, m.Calls[near].Config.Repeat) + "?"
	}
	if calls := keys(m.Calls); hint == "" && len(calls) > 0 && len(calls) <= few {
		hint = " The modules called here are " + diag.Names(calls) + "."
		if len(calls) == 1 {
			hint = " The only one is " + diag.Names(calls) + "."
		}
	}
	return diag.At(ref.Range, "Reference to undeclared module", "No module named %q is called here.%s", ref.Name, hint)
}

// undeclaredOutput returns the error for an output that the module does not declare. The hint covers the
// usual causes, most specific first: something inside the module was meant, a variable, a misspelling, or
// remote-state syntax.
func (call *Call) undeclaredOutput(ref lang.Ref) diag.List {
	outputs, hint := keys(call.Child.Outputs), ""
	switch inner := firstName(ref.Rest); {
	case call.Child.declaresType(ref.Output) || len(outputs) == 0:
		hint = " To use a value from within the module, declare an output for it there."
	case call.Child.Variables[ref.Output] != nil:
		hint = " It has a variable of that name: to use its value here, declare an output for it there."
	case diag.Nearest(ref.Output, outputs) != "":
		hint = diag.DidYouMean(ref.Output, outputs)
	case ref.Output == "outputs" && call.Child.Outputs[inner] != nil:
		hint = " Did you mean module." + ref.Name + "." + inner + "?"
	case len(outputs) == 1:
		hint = " Its only output is " + diag.Names(outputs) + "."
	case len(outputs) <= few:
		hint = " Its outputs are " + diag.Names(outputs) + "."
	}
	return diag.At(ref.Range, "Unsupported attribute", "module.%s has no output named %q.%s", ref.Name, ref.Output, hint)
}

func (m *Module) declaresType(name string) bool {
	return slices.ContainsFunc(m.Config.Order, func(r *config.Resource) bool { return r.Addr.Type == name || name == r.Addr.Mode.String() })
}

func (m *Module) undeclaredResource(ref lang.Ref) diag.List {
	what := map[addr.Mode]string{addr.Managed: "resource", addr.Data: "data source", addr.Ephemeral: "ephemeral resource", addr.List: "list"}[ref.Resource.Mode]
	return diag.At(ref.Range, "Reference to undeclared resource", "This module declares no %s %q %q.%s", what, ref.Resource.Type, ref.Resource.Name, m.resourceHint(ref))
}

// resourceHint says which declared object a reference to an undeclared resource may mean.
func (m *Module) resourceHint(ref lang.Ref) string {
	if ref.Resource.Mode == addr.List && len(m.Config.Queries) == 0 {
		return " Lists are declared in query files, for the command query. Nothing else can refer to their results."
	}
	if near := m.nearestResource(ref.Resource); near != nil {
		return " Did you mean " + near.Addr.String() + indexFor(ref, near.Repeat) + "?"
	}
	if ref.Resource.Mode == addr.Managed && ref.Root != "resource" {
		if meant := m.meantByRoot(ref); meant != "" {
			return " Did you mean " + meant + "?"
		}
	}
	for up := m.Parent; up != nil; up = up.Parent {
		if up.Config.Resources[ref.Resource] != nil {
			return " A module that calls this one does, but a module can refer to nothing outside of it. Declare a variable here, and pass the value in from there."
		}
	}
	for _, name := range keys(m.Config.Children) {
		if child := m.Config.Children[name]; child.Resources[ref.Resource] != nil {
			return " The module " + name + " does: declare an output for the value there, and refer to module." + name + ".OUTPUT."
		}
	}
	if hint := elementHint(ref, ref.Resource.Name); hint != "" {
		return hint
	}
	return m.sameType(ref.Resource)
}

// sameType lists the declared resources of the type of r, if they are few.
func (m *Module) sameType(r addr.Resource) string {
	var same []string
	for _, known := range m.Config.Order {
		if known.Addr.Type == r.Type && known.Addr.Mode == r.Mode {
			same = append(same, known.Addr.String())
		}
	}
	if n := len(same); n == 0 || n > few {
		return ""
	}
	return " It declares " + diag.Series("and", same) + "."
}

// nearestResource returns the declared resource that is most like r: one of the same type and name in another
// mode, one of the same type, or one of the same name; nil if there is none.
func (m *Module) nearestResource(r addr.Resource) *config.Resource {
	names, types := map[string]*config.Resource{}, map[string]*config.Resource{}
	for _, known := range m.Config.Order {
		k := known.Addr
		switch {
		case k.Type == r.Type && k.Name == r.Name:
			return known
		case k.Type == r.Type && k.Mode == r.Mode:
			names[k.Name] = known
		case k.Name == r.Name && k.Mode == r.Mode:
			types[k.Type] = known
		}
	}
	if near := diag.Nearest(r.Name, keys(names)); near != "" {
		return names[near]
	}
	return types[diag.Nearest(r.Type, keys(types))]
}

// indexFor returns the key of a reference, in brackets, if an instance of a block with the given repetition
// can have it. A key that must be evaluated is left out.
func indexFor(ref lang.Ref, r config.Repetition) string {
	if ref.Index == nil || ref.Index.Expr != nil || !r.Allows(ref.Index.Key) {
		return ""
	}
	return ref.Index.Key.String()
}

// meantByRoot recognises a variable, local value, or module that is written without its prefix, or with
// another word for it.
func (m *Module) meantByRoot(ref lang.Ref) string {
	root, name := ref.Root, ref.Resource.Name
	switch {
	case m.Variables[root] != nil:
		return "var." + root + "." + name
	case m.Locals[root] != nil:
		return "local." + root + "." + name
	case m.Calls[root] != nil:
		return "module." + root + "." + name
	}
	prefix := config.Prefix(root)
	if prefix == "" {
		prefix = diag.Nearest(root, []string{"var", "local", "module", "data", "ephemeral", "each", "count", "path", "self", "terraform", "tofu"})
	}
	switch {
	case prefix == "":
		return ""
	case prefix == "var" && m.Variables[name] == nil, prefix == "local" && m.Locals[name] == nil, prefix == "module" && m.Calls[name] == nil:
		return ""
	}
	return prefix + "." + name
}

// firstKey returns the first key that a for_each argument has, if it is written out there.
func firstKey(x *lang.Expr) (string, bool) {
	if call, diags := hcl.ExprCall(x.Source); !diags.HasErrors() && call.Name == "toset" && len(call.Arguments) == 1 {
		if items, diags := hcl.ExprList(call.Arguments[0]); !diags.HasErrors() && len(items) > 0 {
			return literalText(items[0])
		}
		return "", false
	}
	if pairs, diags := hcl.ExprMap(x.Source); !diags.HasErrors() && len(pairs) > 0 {
		return literalText(pairs[0].Key)
	}
	return "", false
}

// literalText returns the text that an expression is without any references.
func literalText(e hcl.Expression) (string, bool) {
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String || !v.IsKnown() || v.IsNull() || v.IsMarked() {
		return "", false
	}
	return v.AsString(), true
}
