package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// Pattern checks a pattern against the schema, and returns it with the kind of steps that values have: an
// element of a map may be written like an attribute. It must lead to an attribute or into the value of one,
// and not into a set. The error describes the mistake in the path, for people.
func (b *Block) Pattern(path cty.Path) (cty.Path, error) {
	at := place{attrs: b.Attributes, blocks: b.Blocks}
	out := make(cty.Path, 0, len(path))
	for i, step := range path {
		next, normal, err := at.step(step)
		if err != nil {
			return nil, fmt.Errorf("%s %w", describePlace(path[:i]), err)
		}
		at, out = next, append(out, normal)
	}
	if at.ty == cty.NilType && at.attr == nil {
		return nil, fmt.Errorf("%s is a nested block. Name an attribute in it", describePlace(path))
	}
	return out, nil
}

func describePlace(path cty.Path) string {
	if len(path) == 0 {
		return "this object"
	}
	return fmt.Sprintf("%q", PatternString(path))
}

// place is where a path has led to in a schema.
type place struct {
	attr   *Attribute // that the last step named
	attrs  map[string]*Attribute
	blocks map[string]*NestedBlock
	many   Nesting  // of the objects that have attrs and blocks, if an element must be named first
	ty     cty.Type // of a value without attributes of its own in the schema; NilType otherwise
}

// step returns the place that a step leads to, and the step as values have it.
func (p place) step(step cty.PathStep) (place, cty.PathStep, error) {
	if p.ty != cty.NilType {
		return p.stepInto(step)
	}
	switch p.many {
	case List, Map:
		index, ok := step.(cty.IndexStep)
		if name, isName := step.(cty.GetAttrStep); isName && p.many == Map {
			index, ok = cty.IndexStep{Key: cty.StringVal(name.Name)}, true
		}
		if !ok || !isKey(index.Key, p.many == Map) {
			return p, nil, errors.New("has elements. Name one of them by its key in brackets, or all of them by [*]")
		}
		return place{attrs: p.attrs, blocks: p.blocks}, index, nil
	case Set:
		return p, nil, errors.New("is a set, whose elements have no address of their own. Name an attribute that is not in a set")
	}
	name, ok := step.(cty.GetAttrStep)
	if !ok {
		return p, nil, errors.New("has attributes, not elements. Write the name of one after a dot")
	}
	if a := p.attrs[name.Name]; a != nil {
		if a.Nested == nil {
			return place{attr: a, ty: a.ValueType()}, step, nil
		}
		return place{attr: a, attrs: a.Nested.Attributes, many: several(a.Nested.Nesting)}, step, nil
	}
	if nested := p.blocks[name.Name]; nested != nil {
		return place{attrs: nested.Attributes, blocks: nested.Blocks, many: several(nested.Nesting)}, step, nil
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(p.attrs)), maps.Keys(p.blocks))
	return p, nil, fmt.Errorf("has no argument or nested block named %q.%s", name.Name, diag.DidYouMean(name.Name, names))
}

// several returns the nesting if it makes several objects, and 0 otherwise.
func several(n Nesting) Nesting {
	if n == List || n == Set || n == Map {
		return n
	}
	return 0
}

// isKey reports whether a key is one of a map or of a list. An unknown one stands for all.
func isKey(key cty.Value, inMap bool) bool {
	return !key.IsKnown() || key.Type() == cty.String == inMap
}

// stepInto is step within the value of an attribute.
func (p place) stepInto(step cty.PathStep) (place, cty.PathStep, error) {
	name, isName := step.(cty.GetAttrStep)
	index, isIndex := step.(cty.IndexStep)
	within := func(ty cty.Type, step cty.PathStep) (place, cty.PathStep, error) {
		return place{attr: p.attr, ty: ty}, step, nil
	}
	if isIndex && index.Key.IsKnown() && index.Key.Type() == cty.String && (p.ty.IsObjectType() || p.ty == cty.DynamicPseudoType) {
		name, isName = cty.GetAttrStep{Name: index.Key.AsString()}, true // values of objects have attributes
	}
	switch ty := p.ty; {
	case ty == cty.DynamicPseudoType && isName:
		return within(ty, name)
	case ty == cty.DynamicPseudoType:
		return within(ty, step)
	case ty.IsSetType():
		return p, nil, errors.New("is a set, whose elements have no address of their own. Name the whole of it")
	case ty.IsMapType() && isName:
		return within(ty.ElementType(), cty.IndexStep{Key: cty.StringVal(name.Name)})
	case ty.IsCollectionType() && isIndex && isKey(index.Key, ty.IsMapType()):
		return within(ty.ElementType(), step)
	case ty.IsObjectType() && isName && ty.HasAttribute(name.Name):
		return within(ty.AttributeType(name.Name), name)
	case ty.IsTupleType() && isIndex && StepType(ty, step) != cty.DynamicPseudoType:
		return within(StepType(ty, step), step)
	}
	return p, nil, errors.New("has no such part")
}
