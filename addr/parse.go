package addr

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// ParseTraversal parses the text of an address into a traversal. Errors are the part of a sentence that names
// the text.
func ParseTraversal(s string) (hcl.Traversal, error) {
	if excess := bounds.Native([]byte(s), ""); excess != nil {
		return nil, excess.Err
	}
	t, diags := hclsyntax.ParseTraversalAbs([]byte(s), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, errors.New(explain(s, diags[0]))
	}
	return t, nil
}

// explain tells the mistake in the text of an address, as the part of a sentence that names the text.
func explain(s string, d *hcl.Diagnostic) string {
	if bare := strings.Contains(s, "[") && !strings.ContainsAny(s, `"'`); bare {
		return `a key that is not a number must be in double quotes. In a shell, put the whole address in single quotes, as in 'aws_instance.web["eu"]'`
	}
	why := strings.TrimSuffix(d.Detail, ".")
	return strings.ToLower(why[:1]) + why[1:]
}

// ParseModuleInstance parses an address such as `module.a["x"].module.b`. The empty string is the root.
func ParseModuleInstance(s string) (ModuleInstance, error) {
	if s == "" {
		return RootInstance, nil
	}
	t, err := ParseTraversal(s)
	if err != nil {
		return RootInstance, err
	}
	m, rest, err := SplitModule(t)
	if err == nil && len(rest) > 0 {
		err = errors.New("there is unexpected text after the module path")
	}
	return m, err
}

// ParseInstance parses the absolute address of a resource instance.
func ParseInstance(s string) (Instance, error) {
	t, err := ParseTraversal(s)
	if err != nil {
		return Instance{}, err
	}
	target, err := TargetFromTraversal(t)
	if err != nil {
		return Instance{}, err
	}
	if target.Resource == nil {
		return Instance{}, errors.New("it names a module, not a resource")
	}
	return Instance{target.Module, *target.Resource, target.Key}, nil
}

// Target is an address that selects objects: a module instance, a resource, or one instance.
type Target struct {
	Module   ModuleInstance
	Resource *Resource // nil selects everything in the module
	Key      Key       // NoKey selects all instances of the resource
	// ModuleKeyless reports that the last module step has no key, so that all instances of the call are
	// selected.
	ModuleKeyless bool
}

// ParseTarget parses the argument of -target, -exclude, `state` commands and the like.
func ParseTarget(s string) (Target, error) {
	t, err := ParseTraversal(s)
	if err != nil {
		return Target{}, err
	}
	return TargetFromTraversal(t)
}

// TargetFromTraversal interprets a traversal, as it stands in moved, removed and import blocks, as a target.
func TargetFromTraversal(t hcl.Traversal) (Target, error) {
	m, rest, err := SplitModule(t)
	if err != nil {
		return Target{}, err
	}
	target := Target{Module: m}
	if len(rest) == 0 {
		_, _, key := m.Parent()
		target.ModuleKeyless = !m.IsRoot() && key == NoKey
		return target, nil
	}
	r, rest, err := SplitResource(rest)
	if err != nil {
		return Target{}, err
	}
	target.Resource = &r
	if len(rest) > 0 {
		idx, ok := rest[0].(hcl.TraverseIndex)
		if !ok || len(rest) > 1 {
			return Target{}, fmt.Errorf("there is unexpected text after the resource %s", r)
		}
		if target.Key, err = KeyFromValue(idx.Key); err != nil {
			return Target{}, err
		}
	}
	return target, nil
}

// String returns the address that the target was parsed from, in canonical form.
func (t Target) String() string {
	if t.Resource == nil {
		return t.Module.String()
	}
	return Instance{t.Module, *t.Resource, t.Key}.String()
}

// Selects reports whether the target covers the instance. A module step without a key covers all instances of
// that call.
func (t Target) Selects(i Instance) bool {
	if t.Resource != nil {
		return *t.Resource == i.Resource && (t.Key == NoKey || t.Key == i.Key) && matchModule(t.Module, i.Module, true)
	}
	return matchModule(t.Module, i.Module, false)
}

// SelectsModule reports whether the target covers objects in m that have no resource address of their own.
func (t Target) SelectsModule(m ModuleInstance) bool {
	return t.Resource == nil && matchModule(t.Module, m, false)
}

// Touches reports whether the target selects the resource or any of its instances.
func (t Target) Touches(r AbsResource) bool {
	if t.Resource != nil {
		return *t.Resource == r.Resource && matchModule(t.Module, r.Module, true)
	}
	return matchModule(t.Module, r.Module, false)
}

// matchModule reports whether m is (exact) or lies at or below pattern, where a step without a key matches
// any key.
func matchModule(pattern, m ModuleInstance, exact bool) bool {
	p, q := pattern.Path(), m.Path()
	if len(q) < len(p) || exact && len(q) != len(p) {
		return false
	}
	for i := range p {
		_, pc, pk := p[i].Parent()
		_, qc, qk := q[i].Parent()
		if pc != qc || pk != NoKey && pk != qk {
			return false
		}
	}
	return true
}

// SplitModule reads the leading module steps of a traversal and returns the remaining steps. These begin with
// a root, as if they stood in the module, unless the step after it is not a name.
func SplitModule(t hcl.Traversal) (ModuleInstance, hcl.Traversal, error) {
	m := RootInstance
	for len(t) > 0 && StepName(t[0]) == "module" {
		if len(t) < 2 || StepName(t[1]) == "" {
			return m, nil, fmt.Errorf("\"module\" must be followed by the name of a module call")
		}
		name := StepName(t[1])
		t = t[2:]
		key := NoKey
		if len(t) > 0 {
			if idx, ok := t[0].(hcl.TraverseIndex); ok {
				k, err := KeyFromValue(idx.Key)
				if err != nil {
					return m, nil, err
				}
				key, t = k, t[1:]
			}
		}
		m = m.Child(name, key)
	}
	if len(t) > 0 {
		if a, ok := t[0].(hcl.TraverseAttr); ok {
			t = append(hcl.Traversal{hcl.TraverseRoot{Name: a.Name, SrcRange: a.SrcRange}}, t[1:]...)
		}
	}
	return m, t, nil
}

// SplitResource reads the type and name of a resource, with its mode before them, off a traversal that is not
// empty, and returns the remaining steps. The mode is returned with errors too.
func SplitResource(t hcl.Traversal) (Resource, hcl.Traversal, error) {
	r := Resource{}
	switch StepName(t[0]) {
	case "data":
		r.Mode, t = Data, t[1:]
	case "ephemeral":
		r.Mode, t = Ephemeral, t[1:]
	case "list":
		r.Mode, t = List, t[1:]
	case "action":
		r.Mode, t = Action, t[1:]
	case "resource":
		t = t[1:]
	}
	if len(t) < 2 || StepName(t[0]) == "" || StepName(t[1]) == "" {
		return r, nil, fmt.Errorf("a resource address needs a type and a name")
	}
	r.Type, r.Name = StepName(t[0]), StepName(t[1])
	return r, t[2:], nil
}

// StepName returns the name in a step of a traversal, or "" if the step is something else, such as an index.
func StepName(s hcl.Traverser) string {
	switch s := s.(type) {
	case hcl.TraverseRoot:
		return s.Name
	case hcl.TraverseAttr:
		return s.Name
	default:
		return ""
	}
}

// KeyFromValue converts the value of an index step to an instance key. The value must be a known string or
// whole number.
func KeyFromValue(v cty.Value) (Key, error) {
	v, _ = v.Unmark()
	if v.IsKnown() && !v.IsNull() {
		switch v.Type() {
		case cty.String:
			return StringKey(v.AsString()), nil
		case cty.Number:
			bf := v.AsBigFloat()
			n, acc := bf.Int64()
			if acc == big.Exact && n >= 0 {
				return IntKey(int(n)), nil
			}
			return NoKey, fmt.Errorf("an instance key must be a whole number, zero or greater")
		}
	}
	return NoKey, fmt.Errorf("an instance key must be a string or a whole number")
}
