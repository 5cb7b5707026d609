package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// subject is the block, instance or attribute that a question is about.
type subject struct {
	block    blocks.Node   // nil if none declares it
	name     string        // of the block, in the address
	resource bool          // it is a resource or an instance of it
	instance addr.Instance // of a resource, the key may be missing; of anything else, there is only the module
	rest     hcl.Traversal // the attribute
	path     cty.Path      // the same
}

// About answers the question about an address: of a resource or an instance of it, a variable, local value or
// output, or a module, each but the last with an attribute after it if that is all that matters.
func (e *Explainer) About(address string) (*Answer, diag.List) {
	s, err := e.subject(address)
	if err != nil {
		return nil, diag.Errorf("Invalid address", "The text %q is not the address of something that can be explained: %s. It is written as in the configuration, such as aws_instance.web[0].ami, var.name, local.name, output.name or module.name.", address, err)
	}
	deferrals := deferralsOf(e, s.instance)
	if s.block == nil && len(e.instances[s.instance.Config()])+len(deferrals) == 0 {
		return nil, e.unknown(address, s)
	}
	if why := s.wrongKey(e); why != "" && len(deferrals) == 0 {
		return nil, diag.Errorf("Nothing has this address", "Neither the configuration nor the plan has %s: %s", address, why)
	}
	if s.path != nil && s.resource {
		if ds := e.checkAttribute(s); ds != nil {
			return nil, ds
		}
	}
	out := &Answer{Address: s.String()}
	if s.block != nil {
		out.Kind, out.Declared = kindOf(s.block), placeOf(blocks.Declared(s.block))
	} else {
		out.Kind = "resource"
	}
	e.happens(out, s)
	if s.block != nil {
		out.From, out.Marks, out.Users = e.from(s), e.marks(s), e.usersOf(s)
	}
	return out, nil
}

// String returns the address in canonical form.
func (s subject) String() string {
	name := ""
	if s.resource {
		name = s.instance.String()
	} else if s.block != nil {
		name = nameOf(s.block)
	}
	return s.with(name)
}

// with returns the address of the attribute of s in the object of the given name.
func (s subject) with(name string) string {
	if len(s.path) == 0 {
		return name
	}
	path := schema.PathString(s.path)
	if !strings.HasPrefix(path, "[") {
		name += "."
	}
	return name + path
}

// subject interprets an address. An error is the part of a sentence.
func (e *Explainer) subject(address string) (s subject, err error) {
	t, err := addr.ParseTraversal(address)
	if err != nil {
		return s, err
	}
	m, t, err := addr.SplitModule(t)
	if err != nil {
		return s, err
	}
	s.instance.Module = m
	if len(t) == 0 {
		s.name = m.Module().String()
		s.block = e.blocks[m.Module().String()]
		return s, nil
	}
	mod := e.config.Modules[m.Module()]
	first := addr.StepName(t[0])
	if mod != nil && len(t) > 1 {
		name := addr.StepName(t[1])
		if group := map[string]map[string]*blocks.Value{"var": mod.Variables, "local": mod.Locals, "output": mod.Outputs}[first]; group != nil {
			s.name, s.rest = m.Module().Join(first+"."+name), t[2:]
			if v := group[name]; v != nil {
				s.block = v
			}
			s.path, err = pathOf(s.rest)
			return s, err
		}
	}
	if mod != nil && !m.IsRoot() && mod.Outputs[first] != nil { // as a reference from outside is written
		s.block, s.rest = mod.Outputs[first], t[1:]
		s.path, err = pathOf(s.rest)
		return s, err
	}
	switch n := e.blocks[m.Module().Join(nameIn(t))].(type) {
	case *blocks.Provider, *blocks.Check:
		s.block = n
		return s, nil
	}
	r, t, err := addr.SplitResource(t)
	if err != nil {
		return s, err
	}
	s.resource, s.instance = true, addr.Instance{Module: m, Resource: r}
	s.name = s.instance.Config().String()
	if mod != nil && mod.Resources[r] != nil {
		s.block = mod.Resources[r]
	}
	if len(t) > 0 {
		if i, ok := t[0].(hcl.TraverseIndex); ok {
			if s.instance.Key, err = addr.KeyFromValue(i.Key); err != nil {
				return s, err
			}
			t = t[1:]
		}
	}
	s.rest = t
	s.path, err = pathOf(t)
	return s, err
}

// nameIn returns the name of a block in its module, if it is written with dots alone.
func nameIn(t hcl.Traversal) string {
	var names []string
	for _, step := range t {
		names = append(names, addr.StepName(step))
	}
	return strings.Join(names, ".")
}

// pathOf converts a traversal to a path.
func pathOf(t hcl.Traversal) (cty.Path, error) {
	var out cty.Path
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			out = out.GetAttr(step.Name)
		case hcl.TraverseIndex:
			out = out.Index(step.Key)
		default:
			return nil, fmt.Errorf("a splat names no single attribute")
		}
	}
	return out, nil
}

// unknown reports an address that neither the configuration nor the plan has. The suggestion has the same
// keys, if there is such an instance, and the same attribute.
func (e *Explainer) unknown(address string, s subject) diag.List {
	names := slices.Collect(maps.Keys(e.blocks))
	hint := ""
	if inside := s.inside(e); inside != "" {
		hint = fmt.Sprintf(" Did you mean %s?", inside)
	} else if near := diag.Nearest(s.name, names); near != "" {
		if r, ok := e.blocks[near].(*blocks.Resource); ok && s.resource {
			m, deep := s.instance.Module.In(r.Module.Config.Path)
			if i := (addr.Instance{Module: m, Resource: r.Config.Addr, Key: s.instance.Key}); deep && len(e.changes[i]) > 0 {
				near = i.String()
			}
		}
		if _, check := e.blocks[near].(*blocks.Check); !check { // a check has no attributes
			near = s.with(near)
		}
		hint = fmt.Sprintf(" Did you mean %s?", near)
	}
	return diag.Errorf("Nothing has this address", "Neither the configuration nor the plan has %s.%s", address, hint)
}

// wrongKey says that an instance key in the address of s is of a kind that the block can't have, and suggests
// an address; "" if it is not, or the plan has such an object, whose block was repeated in another way.
func (s subject) wrongKey(e *Explainer) string {
	t := addr.Target{Module: s.instance.Module, Key: s.instance.Key}
	if s.resource {
		t.Resource = &s.instance.Resource
	}
	why, instead := e.config.Tree.WrongKey(t)
	if why == "" || slices.ContainsFunc(e.plan.Changes, func(c *plan.Change) bool { return t.Selects(c.Addr) }) {
		return ""
	}
	if instead == "" {
		return why + ". Without a key, the address is that of all instances."
	}
	meant := s.String() // without the keys of modules
	if s.resource {
		meant = s.with(instead)
	}
	return fmt.Sprintf("%s. Did you mean %s?", why, meant)
}

// inside returns the address in the plan of a block nested in another: the plan lists a data source of a
// check as one of the module. It is "" if s names none.
func (s subject) inside(e *Explainer) string {
	mod := e.config.Modules[s.instance.Module.Module()]
	if mod == nil || s.instance.Resource.Type != "check" || len(s.rest) == 0 {
		return ""
	}
	r, rest, err := addr.SplitResource(s.rest)
	if err != nil || mod.Resources[r] == nil {
		return ""
	}
	at := subject{}
	if at.path, err = pathOf(rest); err != nil {
		return ""
	}
	return at.with(addr.Instance{Module: s.instance.Module, Resource: r}.String())
}

// has reports whether something may be at the path of s in the objects of a resource. Parts of no fixed type
// are looked for in the objects themselves.
func (e *Explainer) has(b *blocks.Resource, s subject) bool {
	v := cty.UnknownVal(b.Schema.Block.Type())
	for _, step := range s.path {
		if v.Type() == cty.DynamicPseudoType {
			return b.Schema.Block.InWriteOnly(s.path) || e.anyHas(b, s)
		}
		var err error
		if v, err = step.Apply(v); err != nil {
			return false
		}
	}
	return true
}

// anyHas reports whether an object of a resource has something at the path of s, also if none is known.
func (e *Explainer) anyHas(b *blocks.Resource, s subject) bool {
	found := false
	for _, c := range e.instances[s.instance.Config()] {
		before, after, err := c.Sides()
		if err != nil {
			return true
		}
		for _, v := range []cty.Value{before, after} {
			if v == cty.NilVal || v.IsNull() {
				continue
			}
			if found = true; mayHave(markSensitive(b, v), s.path) {
				return true
			}
		}
	}
	return !found
}

// mayHave reports whether a value has something at path. One that is secret or not known may have anything.
func mayHave(v cty.Value, path cty.Path) bool {
	for _, step := range path {
		if v.IsMarked() || !v.IsKnown() {
			return true
		}
		var err error
		if v, err = step.Apply(v); err != nil {
			return false
		}
	}
	return true
}

// checkAttribute reports an attribute that the type of a resource lacks.
func (e *Explainer) checkAttribute(s subject) diag.List {
	b, ok := s.block.(*blocks.Resource)
	if !ok {
		return nil
	}
	name := addr.StepName(s.rest[0])
	names := b.Schema.Block.Names()
	if slices.Contains(names, name) {
		if !e.has(b, s) {
			return diag.Errorf("No such attribute", "%s has nothing at %s: a part of it does not exist, or is an element of a set, which has no key.", b.Address(), schema.PathString(s.path))
		}
		return nil
	}
	if name == "" {
		return diag.Errorf("No such attribute", "After the key of an instance, %q must have the name of an attribute.", s.String())
	}
	hint := ""
	if near := diag.Nearest(name, names); near != "" {
		hint = fmt.Sprintf(" Did you mean %q?", near)
	}
	return diag.Errorf("No such attribute", "The type %s has no argument, attribute or block named %q.%s", b.Config.Addr.Type, name, hint)
}
