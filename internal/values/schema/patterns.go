package schema

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Patterns are paths of attributes, in which an index step with an unknown key stands for every element. They
// don't lead into sets.
type Patterns []cty.Path

// EveryElement is the step of a pattern that stands for every element of a list or map.
var EveryElement cty.PathStep = cty.IndexStep{Key: cty.DynamicVal}

// PatternString renders a pattern as the configuration has it.
func PatternString(p cty.Path) string { return strings.ReplaceAll(PathString(p), "[...]", "[*]") }

// Matches reports whether the path leads to or into a value that one of the patterns names.
func (ps Patterns) Matches(path cty.Path) bool { return ps.matching(path) != nil }

// matching returns the pattern that the path leads to or into, nil if there is none.
func (ps Patterns) matching(path cty.Path) cty.Path {
	for _, p := range ps {
		if len(p) <= len(path) && matchSteps(p, path[:len(p)]) {
			return p
		}
	}
	return nil
}

// Alike reports whether one of the patterns names the values at both paths: they are equal but for the keys
// of elements that it stands for.
func (ps Patterns) Alike(a, b cty.Path) bool {
	p := ps.matching(a)
	return p != nil && len(p) == len(b) && len(a) == len(b) && matchSteps(p, b)
}

func matchSteps(pattern, path cty.Path) bool {
	for i, step := range pattern {
		if !matchStep(step, path[i]) {
			return false
		}
	}
	return true
}

func matchStep(pattern, step cty.PathStep) bool {
	switch p := pattern.(type) {
	case cty.GetAttrStep:
		return step == p
	case cty.IndexStep:
		index, ok := step.(cty.IndexStep)
		return ok && (!p.Key.IsKnown() || index.Key.RawEquals(p.Key))
	}
	return false
}

// Outside returns the paths that don't lead to or into a value that the patterns name.
func (ps Patterns) Outside(paths []cty.Path) []cty.Path {
	if len(ps) == 0 {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), ps.Matches)
}

// Find returns the paths of the values in v that the patterns name and that are not null. Unknown values
// count; values within something unknown don't. v may have marks.
func (ps Patterns) Find(v cty.Value) []cty.Path {
	var found []cty.Path
	for _, p := range ps {
		found = find(found, v, p, nil)
	}
	return found
}

func find(found []cty.Path, v cty.Value, pattern, at cty.Path) []cty.Path {
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		return found
	case len(pattern) == 0:
		if slices.ContainsFunc(found, at.Equals) {
			return found
		}
		return append(found, at.Copy())
	case !v.IsKnown():
		return found
	}
	if step, ok := pattern[0].(cty.IndexStep); ok && !step.Key.IsKnown() {
		if ty := v.Type(); ty.IsSetType() || !v.CanIterateElements() {
			return found
		}
		for it := v.ElementIterator(); it.Next(); {
			key, one := it.Element()
			found = find(found, one, pattern[1:], append(at, elementStep(v.Type(), key)))
		}
		return found
	}
	part, err := pattern[0].Apply(v)
	if err != nil {
		return found
	}
	return find(found, part, pattern[1:], append(at, pattern[0]))
}

// elementStep returns the step to an element by its key; elements of objects are attributes.
func elementStep(ty cty.Type, key cty.Value) cty.PathStep {
	if ty.IsObjectType() {
		return cty.GetAttrStep{Name: key.AsString()}
	}
	return cty.IndexStep{Key: key}
}

// NullAt returns v, an object of the block's type without marks, with null at the paths. Types that the
// schema leaves open are not kept, since they tell of the value.
func (b *Block) NullAt(v cty.Value, paths []cty.Path) cty.Value {
	for _, path := range paths {
		old, err := path.Apply(v)
		if err != nil {
			continue
		}
		v = Put(v, path, cty.NullVal(b.nullType(path, old.Type())))
	}
	return v
}

// Settable reports whether a configuration can set the value at a path, or a value around it.
func (b *Block) Settable(path cty.Path) bool {
	for i := range path {
		if a := b.AttributeAt(path[:i+1]); a != nil && a.Computed && !a.Optional {
			return false
		}
	}
	return true
}

// ComputedAt reports whether a provider may give the value at a path, or a value around it.
func (b *Block) ComputedAt(path cty.Path) bool {
	for i := range path {
		if a := b.AttributeAt(path[:i+1]); a != nil && a.Computed {
			return true
		}
	}
	return false
}

// EveryElementOf renders a path with [*] in place of each index and key, which may be secret themselves.
func EveryElementOf(path cty.Path) string {
	out := slices.Clone(path)
	for i, step := range path {
		if _, ok := step.(cty.IndexStep); ok {
			out[i] = EveryElement
		}
	}
	return PatternString(out)
}

// nullType returns the type of a null that stands at a path for a value of a type.
func (b *Block) nullType(path cty.Path, ty cty.Type) cty.Type {
	for i := len(path); i > 0; i-- {
		a := b.AttributeAt(path[:i])
		if _, named := path[i-1].(cty.GetAttrStep); !named || a == nil {
			continue // it leads into the value of an attribute, or to an element
		}
		declared := a.ValueType()
		for _, step := range path[i:] {
			declared = StepType(declared, step)
		}
		if declared.HasDynamicTypes() && (i == len(path) || !ty.IsPrimitiveType()) {
			return declared
		}
		return ty
	}
	return ty
}
