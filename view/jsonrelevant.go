package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/plan"
)

type jsonRelevant struct {
	Resource  string `json:"resource"`
	Attribute []any  `json:"attribute"`
}

// relevance finds the attributes that contributed to the changes of a plan: those that the configurations of changed instances, changed outputs
// and all outputs of modules refer to, also by way of local values, variables and modules. It goes by what stands in the configuration, each
// block once per module instance.
type relevance struct {
	tree    *config.Tree
	schemas ConfigSchemas
	seen    map[relevantPlace]bool
	found   map[string]jsonRelevant // by its text
}

// relevantPlace is something that is written in a module, in one instance of the module. In an instance without keys it stands for all of them.
type relevantPlace struct {
	in   addr.ModuleInstance
	name string // a reference such as local.x, or a resource's address
}

// relevant lists the attributes in the order of their resources.
func relevant(p *plan.Plan, tree *config.Tree, s ConfigSchemas) []jsonRelevant {
	r := &relevance{tree: tree, schemas: s, seen: map[relevantPlace]bool{}, found: map[string]jsonRelevant{}}
	called := map[addr.ModuleInstance]map[string][]addr.ModuleInstance{} // the instances in the plan, by their parent and call
	known := map[addr.ModuleInstance]bool{}
	for _, c := range p.Changes {
		for _, m := range c.Addr.Module.Path() {
			if known[m] {
				continue
			}
			known[m] = true
			parent, call, _ := m.Parent()
			if called[parent] == nil {
				called[parent] = map[string][]addr.ModuleInstance{}
			}
			called[parent][call] = append(called[parent][call], m)
		}
		if c.Action != plan.NoOp && c.Action != plan.Forget {
			r.resource(c.Addr.Module, c.Addr.Resource)
		}
	}
	for _, o := range p.Outputs {
		if o.Action != plan.NoOp && tree.Root.Outputs[o.Name] != nil {
			r.expression(addr.RootInstance, tree.Root, tree.Root.Outputs[o.Name].Expr)
		}
	}
	if p.Mode != plan.Destroy {
		r.outputs(addr.RootInstance, tree.Root, called)
	}
	out := make([]jsonRelevant, 0, len(r.found))
	keys := make([]string, 0, len(r.found))
	for key := range r.found {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(strings.Compare(r.found[a].Resource, r.found[b].Resource), strings.Compare(a, b))
	})
	for _, key := range keys {
		out = append(out, r.found[key])
	}
	return out
}

// outputs looks at the outputs of the modules that m calls: of the instances in the plan, and of those that are there in any case.
func (r *relevance) outputs(in addr.ModuleInstance, m *config.Module, called map[addr.ModuleInstance]map[string][]addr.ModuleInstance) {
	for name, child := range m.Children {
		of := called[in][name]
		if c := m.Calls[name]; c != nil && c.Repeat.Count == nil && c.Repeat.ForEach == nil {
			of = []addr.ModuleInstance{in.Child(name, addr.NoKey)}
		}
		for _, i := range of {
			for output, o := range child.Outputs {
				if r.once(i, "output."+output) {
					r.expression(i, child, o.Expr)
				}
			}
			r.outputs(i, child, called)
		}
	}
}

// once reports whether a place is met for the first time.
func (r *relevance) once(in addr.ModuleInstance, name string) bool {
	place := relevantPlace{in, name}
	if r.seen[place] {
		return false
	}
	r.seen[place] = true
	return true
}

// resource looks at what a resource block refers to. What says how many instances there are contributes if an argument depends on the instance.
func (r *relevance) resource(in addr.ModuleInstance, a addr.Resource) {
	m := r.tree.Modules[in.Module()]
	if m == nil || m.Resources[a] == nil || !r.once(in, "resource "+a.String()) {
		return
	}
	res := m.Resources[a]
	if r.schemas == nil {
		return
	}
	s := r.schemas.Resource(m.ProviderFor(res.ProviderRef().Name), a.Mode, a.Type)
	if s == nil {
		return
	}
	for _, t := range bodyReferences(res.Body, s.Block) {
		switch t.RootName() {
		case "each":
			r.expression(in, m, res.Repeat.ForEach)
		case "count":
			r.expression(in, m, res.Repeat.Count)
		default:
			r.reference(in, m, t)
		}
	}
}

func (r *relevance) expression(in addr.ModuleInstance, m *config.Module, expr hcl.Expression) {
	if expr == nil {
		return
	}
	for _, t := range expr.Variables() {
		r.reference(in, m, t)
	}
}

// reference follows a reference to the attributes of resources that it leads to.
func (r *relevance) reference(in addr.ModuleInstance, m *config.Module, t hcl.Traversal) {
	name := attrStep(t, 1)
	switch root := t.RootName(); root {
	case "each", "count", "self", "path", "terraform", "tofu", "ephemeral":
	case "local":
		if l := m.Locals[name]; l != nil && r.once(in, "local."+name) {
			r.expression(in, m, l.Expr)
		}
	case "var":
		if m.Call == nil || m.Parent == nil || !r.once(in, "var."+name) {
			return
		}
		if attr := m.Call.Inputs[name]; attr != nil {
			parent, _, _ := in.Parent()
			r.expression(parent, m.Parent, attr.Expr)
		}
	case "module":
		r.module(in, m, name, t)
	case "data":
		r.attribute(in, m, addr.Resource{Mode: addr.Data, Type: name, Name: attrStep(t, 2)}, t[min(3, len(t)):])
	case "resource":
		r.attribute(in, m, addr.Resource{Mode: addr.Managed, Type: name, Name: attrStep(t, 2)}, t[min(3, len(t)):])
	default:
		r.attribute(in, m, addr.Resource{Mode: addr.Managed, Type: root, Name: name}, t[min(2, len(t)):])
	}
}

// module follows a reference to a module: to one output, or to all of them if it names none.
func (r *relevance) module(in addr.ModuleInstance, m *config.Module, call string, t hcl.Traversal) {
	child := m.Children[call]
	if child == nil {
		return
	}
	rest := t[min(2, len(t)):]
	key, rest := keyStep(rest)
	i := in.Child(call, key)
	for name, o := range child.Outputs {
		if only := attrStep(rest, 0); only != "" && only != name {
			continue
		}
		if r.once(i, "output."+name) {
			r.expression(i, child, o.Expr)
		}
	}
}

// attribute notes an attribute of a resource that exists in the configuration.
func (r *relevance) attribute(in addr.ModuleInstance, m *config.Module, a addr.Resource, rest hcl.Traversal) {
	if m.Resources[a] == nil {
		return
	}
	key, rest := keyStep(rest)
	out := jsonRelevant{Resource: addr.Instance{Module: in, Resource: a, Key: key}.String(), Attribute: []any{}}
	for _, step := range rest {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			out.Attribute = append(out.Attribute, step.Name)
			continue
		case hcl.TraverseIndex:
			if key := valueJSON(step.Key); key != nil && step.Key.IsKnown() {
				out.Attribute = append(out.Attribute, key)
				continue
			}
		}
		break
	}
	if text, err := json.Marshal(out); err == nil {
		r.found[string(text)] = out
	}
}

// attrStep returns the name at a position of a reference, "" if something else stands there.
func attrStep(t hcl.Traversal, at int) string {
	if at >= len(t) {
		return ""
	}
	step, _ := t[at].(hcl.TraverseAttr)
	return step.Name
}

// keyStep takes an instance key off the beginning of the rest of a reference.
func keyStep(t hcl.Traversal) (addr.Key, hcl.Traversal) {
	if len(t) == 0 {
		return addr.NoKey, t
	}
	step, ok := t[0].(hcl.TraverseIndex)
	if !ok || !step.Key.IsKnown() || step.Key.IsNull() || step.Key.IsMarked() {
		return addr.NoKey, t
	}
	switch step.Key.Type() {
	case cty.String:
		return addr.StringKey(step.Key.AsString()), t[1:]
	case cty.Number:
		n, _ := step.Key.AsBigFloat().Int64()
		return addr.IntKey(int(n)), t[1:]
	}
	return addr.NoKey, t
}
