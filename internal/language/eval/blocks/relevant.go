package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// Relevant returns the attributes that contributed to the changes of a plan, each once: those that the
// arguments of changed instances, changed outputs and all outputs of called modules refer to, also by way of
// local values, variables and modules. It goes by the source text, so each block is looked at once per module
// instance.
func (c *Config) Relevant(p *plan.Plan) []plan.RelevantAttribute {
	r := relevance{seen: map[placed]struct{}{}, found: map[relevantKey]struct{}{}}
	root := c.Modules[addr.RootModule]
	called := map[addr.ModuleInstance]map[string][]addr.ModuleInstance{} // the module instances in the plan, by parent and call
	known := map[addr.ModuleInstance]struct{}{}
	for _, change := range p.Changes {
		for _, m := range change.Addr.Module.Path() {
			if _, again := known[m]; again {
				continue
			}
			known[m] = struct{}{}
			parent, call, _ := m.Parent()
			if called[parent] == nil {
				called[parent] = map[string][]addr.ModuleInstance{}
			}
			called[parent][call] = append(called[parent][call], m)
		}
		if change.Action != plan.NoOp && change.Action != plan.Forget {
			r.resource(c, change.Addr)
		}
	}
	for _, change := range p.Outputs {
		if o := root.Outputs[change.Name]; o != nil && change.Action != plan.NoOp {
			r.from(addr.RootInstance, o, "")
		}
	}
	if p.Mode != plan.Destroy {
		r.outputs(addr.RootInstance, root, called)
	} else if p.Base != nil {
		for a := range p.Base.AllInstances() { // no change shows that the results of data sources go
			if a.Resource.Mode == addr.Data {
				r.resource(c, a)
			}
		}
	}
	return r.out
}

// relevance is one search. It follows references that contribute to a value. Repetition does so where an
// argument uses the key that it gave.
type relevance struct {
	seen  map[placed]struct{}
	found map[relevantKey]struct{}
	out   []plan.RelevantAttribute
}

// placed is a node in an instance of its module, or one argument of it.
type placed struct {
	in       addr.ModuleInstance
	n        Node
	argument string
}

type relevantKey struct {
	of   addr.Instance
	path string
}

func (r *relevance) resource(c *Config, a addr.Instance) {
	if m := c.Modules[a.Module.Module()]; m != nil && m.Resources[a.Resource] != nil {
		r.from(a.Module, m.Resources[a.Resource], "")
	}
}

// outputs follows the outputs of the modules that m calls: of the instances in the plan, and of those that
// exist in any case.
func (r *relevance) outputs(in addr.ModuleInstance, m *Module, called map[addr.ModuleInstance]map[string][]addr.ModuleInstance) {
	for name, call := range diag.InOrder(m.Calls) {
		if call.Child == nil {
			continue
		}
		instances := called[in][name]
		if !FormOf(call.Repeat).Keyed() {
			instances = []addr.ModuleInstance{in.Child(name, addr.NoKey)}
		}
		for _, i := range instances {
			r.from(i, outputsOf{call.Child}, "")
			r.outputs(i, call.Child, called)
		}
	}
}

// from follows the references of a node, or of one argument of it.
func (r *relevance) from(in addr.ModuleInstance, n Node, argument string) {
	at := placed{in, n, argument}
	if _, again := r.seen[at]; again {
		return
	}
	r.seen[at] = struct{}{}
	if v, ok := n.(*Value); ok && v.Kind == VariableValue {
		in, _, _ = in.Parent() // where its expression is
	}
	for e := range n.edges {
		switch {
		case e.role == toOutput:
			r.from(in, e.to, "")
		case e.role == InBody && (argument == "" || e.expr.Argument == argument), e.role == InRepetition && usesKey(n, argument):
			r.reference(in, e.to, e.ref)
		}
	}
}

// usesKey reports whether a resource's arguments, or one of them, use the key of the instance.
func usesKey(n Node, argument string) bool {
	r, ok := n.(*Resource)
	return ok && slices.ContainsFunc(r.Body, func(x *lang.Expr) bool {
		return (argument == "" || x.Argument == argument) && slices.ContainsFunc(x.Refs, func(ref lang.Ref) bool {
			return ref.Kind == lang.Each || ref.Kind == lang.Count
		})
	})
}

// reference notes the target of a reference in a module instance, and goes on from there. A reference counts
// up to its first computed key: the rest is a part of some instance, and documents name all of them.
func (r *relevance) reference(in addr.ModuleInstance, to Node, ref *lang.Ref) {
	key, rest := addr.NoKey, ref.Rest
	computed := ref.Each != nil
	if ref.Index != nil {
		key = ref.Index.Key
		computed = computed || ref.Index.Expr != nil
	}
	if ref.Kind == lang.Module {
		in = in.Child(ref.Name, key)
	}
	switch b := to.(type) {
	case *Resource:
		if isEphemeral(b) {
			return
		}
		if computed {
			rest = nil
		}
		r.add(addr.Instance{Module: in, Resource: b.Config.Addr, Key: key}, staticPath(rest))
		r.from(in, b, firstName(rest))
	case *Value:
		if computed && b.Kind == OutputValue {
			to = outputsOf{b.Module}
		}
		r.from(in, to, "")
	default:
		r.from(in, to, "")
	}
}

func (r *relevance) add(of addr.Instance, path cty.Path) {
	key := relevantKey{of, schema.PathString(path)}
	if _, again := r.found[key]; !again {
		r.found[key] = struct{}{}
		r.out = append(r.out, plan.RelevantAttribute{Instance: of, Path: path})
	}
}

// firstName returns the name that a traversal begins with, "" if it begins with something else.
func firstName(t hcl.Traversal) string {
	if len(t) == 0 {
		return ""
	}
	attr, _ := t[0].(hcl.TraverseAttr)
	return attr.Name
}

// staticPath returns the steps of a traversal up to the first that is neither a name nor a known key.
func staticPath(t hcl.Traversal) cty.Path {
	var path cty.Path
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			path = path.GetAttr(step.Name)
			continue
		case hcl.TraverseIndex:
			if step.Key.IsKnown() && !step.Key.IsNull() && !step.Key.IsMarked() {
				path = path.Index(step.Key)
				continue
			}
		}
		break
	}
	return path
}
