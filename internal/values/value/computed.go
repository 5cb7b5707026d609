package value

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// Computed marks an ephemeral value that a provider has computed for an attribute that is kept out of the
// state (E96), and everything that is made of it. The attribute is unknown in runs other than the one that
// makes the value.
type Computed struct {
	By      string // the attribute, with the address of its object
	Version string // tells the value from earlier and later ones of the attribute; "" if it is not made yet
	Number  uint64 // the result of fingerprint() for the value; 0 if that is not known, or for values made of it
	Type    string // of the value, as TypeName names it; "" for values made of it
	Past    bool   // the value existed only in an earlier run
	// ByPolicy says that a policy of the root module keeps the value out of the state, so that the modules
	// that the value goes through need not know of that.
	ByPolicy bool
}

// MadeOf returns the Computed marks in v, once each.
func MadeOf(v cty.Value) []Computed {
	if !IsMarked(v) {
		return nil
	}
	var out []Computed
	seen := map[Computed]struct{}{}
	for _, part := range PathsMadeOf(v) {
		if _, again := seen[part.Of]; !again {
			seen[part.Of], out = struct{}{}, append(out, part.Of)
		}
	}
	return out
}

// Derived returns v, which an operation has made of other values, marked so that it does not have the
// fingerprint of a computed value.
func Derived(v cty.Value) cty.Value {
	return withMarks(v, func(m any) any {
		if c, ok := m.(Computed); ok {
			c.Number, c.Type = 0, ""
			return c
		}
		return m
	})
}

// TypeName names a type so that different types have different names.
func TypeName(ty cty.Type) string { return ty.GoString() }

// Whole returns the computed value that v is, without anything that has changed it. It returns false if v is
// something else that is made of computed values, and nil for a value that is made of none, or of which that
// is not known yet.
func Whole(v cty.Value) (*Computed, bool) {
	made := MadeOf(v)
	if len(made) == 0 {
		return nil, true
	}
	_, marks := v.Unmark()
	for _, c := range made {
		if _, own := marks[c]; !own || c.Type != TypeName(v.Type()) && c.Type != TypeName(cty.DynamicPseudoType) && v.Type() != cty.DynamicPseudoType {
			return nil, false
		}
	}
	if len(made) == 1 {
		return &made[0], true
	}
	return nil, !v.IsKnown() && !slices.ContainsFunc(made, func(c Computed) bool { return c.Past })
}

// withMarks returns v with each mark in it replaced.
func withMarks(v cty.Value, replace func(any) any) cty.Value {
	if len(MadeOf(v)) == 0 {
		return v
	}
	raw, found := v.UnmarkDeepWithPaths()
	for i, at := range found {
		marks := cty.ValueMarks{}
		for m := range at.Marks {
			marks[replace(m)] = struct{}{}
		}
		found[i].Marks = marks
	}
	return raw.MarkWithPaths(found)
}

// KnownOnceMade reports whether v has no unknown parts but the ones that are made of computed values which
// this run has yet to make.
func KnownOnceMade(v cty.Value) bool {
	if v.IsWhollyKnown() {
		return true
	}
	rest, err := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		for m := range part.Marks() {
			if c, ok := m.(Computed); ok && !c.Past {
				return cty.NullVal(part.Type()), nil
			}
		}
		return part, nil
	})
	return err == nil && rest.IsWhollyKnown()
}

// ComputedPart is a part of a value that is made of a computed value.
type ComputedPart struct {
	Path cty.Path
	Of   Computed
}

// IsUnmade reports whether the part of a value is made of a computed value that does not exist yet.
func (p ComputedPart) IsUnmade(in cty.Value) bool {
	v, err := p.Path.Apply(in)
	return err == nil && !v.IsKnown() && !p.Of.Past && p.Of.Version == ""
}

// PathsMadeOf returns the parts of v that are made of computed values, outermost first, one for each value
// that a part is made of.
func PathsMadeOf(v cty.Value) (parts []ComputedPart) {
	if !IsMarked(v) {
		return nil
	}
	_, found := v.UnmarkDeepWithPaths()
	for _, at := range found {
		for m := range at.Marks {
			if c, ok := m.(Computed); ok {
				parts = append(parts, ComputedPart{at.Path, c})
			}
		}
	}
	return parts
}
