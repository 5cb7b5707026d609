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
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
)

type jsonRelevant struct {
	Resource  string `json:"resource"`
	Attribute []any  `json:"attribute"`
}

// relevance finds the attributes that contributed to the changes of a plan: those that the configurations of
// changed instances, changed outputs and all outputs of modules refer to, also by way of local values,
// variables and modules. It goes by what stands in the configuration, each block once per module instance.
type relevance struct {
	tree    *config.Tree
	schemas Schemas
	seen    map[relevantPlace]bool
	found   map[string]relevantAttribute // by its text
}

// relevantAttribute is an attribute, or a whole object if the path is empty. Where the key of an instance of
// a resource or module is missing, the attribute is one of all instances.
type relevantAttribute struct {
	jsonRelevant
	of   addr.Instance
	path cty.Path
}

// relevantPlace is something that is written in a module, in one instance of the module. In an instance
// without keys it stands for all of them.
type relevantPlace struct {
	in   addr.ModuleInstance
	name string // a reference such as local.x, or a resource's address
}

// relevant returns the attributes for a document.
func relevant(p *plan.Plan, tree *config.Tree, s Schemas) []jsonRelevant {
	attributes := relevantAttributes(p, tree, s)
	out := make([]jsonRelevant, len(attributes))
	for i, a := range attributes {
		out[i] = a.jsonRelevant
	}
	return out
}

// relevantAttributes lists the attributes in the order of their resources.
func relevantAttributes(p *plan.Plan, tree *config.Tree, s Schemas) []relevantAttribute {
	r := &relevance{tree: tree, schemas: s, seen: map[relevantPlace]bool{}, found: map[string]relevantAttribute{}}
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
	if p.Mode == plan.Destroy {
		r.data(p.Base)
	}
	out := make([]relevantAttribute, 0, len(r.found))
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

// data looks at the data sources of a state that is destroyed: they go with it, though no change tells so.
func (r *relevance) data(st *state.State) {
	if st == nil {
		return
	}
	for a := range st.AllInstances() {
		if a.Resource.Mode == addr.Data {
			r.resource(a.Module, a.Resource)
		}
	}
}

// outputs looks at the outputs of the modules that m calls: of the instances in the plan, and of those that
// are there in any case.
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

// resource looks at what a resource block refers to.
func (r *relevance) resource(in addr.ModuleInstance, a addr.Resource) {
	r.arguments(in, a, "")
}

// arguments looks at what an argument or the blocks of a name refer to, or all of a resource block if name is
// "". What says how many instances there are contributes if they depend on the instance.
func (r *relevance) arguments(in addr.ModuleInstance, a addr.Resource, name string) {
	m := r.tree.Modules[in.Module()]
	if m == nil || m.Resources[a] == nil || r.schemas == nil || !r.once(in, "resource "+a.String()+"."+name) {
		return
	}
	res := m.Resources[a]
	s := r.schemas.Resource(m.ProviderFor(res.ProviderRef().Name), a.Mode, a.Type)
	if s == nil {
		return
	}
	for _, t := range bodyReferences(res.Body, partOf(s.Block, name)) {
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

// partOf returns the schema of one attribute or block type of b; all of it if name is "".
func partOf(b *schema.Block, name string) *schema.Block {
	if name == "" {
		return b
	}
	out := &schema.Block{}
	if attr := b.Attributes[name]; attr != nil {
		out.Attributes = map[string]*schema.Attribute{name: attr}
	}
	if block := b.Blocks[name]; block != nil {
		out.Blocks = map[string]*schema.NestedBlock{name: block}
	}
	return out
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

// attribute notes an attribute of a resource that exists in the configuration, and follows what its argument
// refers to.
func (r *relevance) attribute(in addr.ModuleInstance, m *config.Module, a addr.Resource, rest hcl.Traversal) {
	if m.Resources[a] == nil {
		return
	}
	key, rest := keyStep(rest)
	of := addr.Instance{Module: in, Resource: a, Key: key}
	found := relevantAttribute{jsonRelevant: jsonRelevant{Resource: of.String(), Attribute: []any{}}, of: of}
	for _, step := range rest {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			found.Attribute, found.path = append(found.Attribute, step.Name), found.path.GetAttr(step.Name)
			continue
		case hcl.TraverseIndex:
			if key := valueJSON(step.Key); key != nil && step.Key.IsKnown() {
				found.Attribute, found.path = append(found.Attribute, key), found.path.Index(step.Key)
				continue
			}
		}
		break
	}
	if text, err := json.Marshal(found.jsonRelevant); err == nil {
		r.found[string(text)] = found
	}
	r.arguments(in, a, attrStep(rest, 0))
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
