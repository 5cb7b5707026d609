package value

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// StandIns makes other values for computed ones, which are to find out whether those are still the same: each
// tells only the version of the value. A text or a number is another one for each version. A truth value
// cannot be, so an evaluation has to be done with both. The form of a collection is as secret as the value
// is: one that stands in has as many elements as an expression can do with. StandIns belongs to one
// goroutine.
type StandIns struct {
	Elements int      // of collections
	Keys     []string // of maps; elements are numbered if there are none
	True     bool     // truth values are true
	// Keep reports whether a computed value that is known stays as it is. Nil for none.
	Keep func(Computed) bool
	Uses StandInUses
}

// StandInUses says of which kinds the values were that others stand in for, as far as the kind matters.
type StandInUses struct{ Bool, Elements, Map bool }

// Add adds the kinds of other values.
func (u *StandInUses) Add(other StandInUses) {
	u.Bool, u.Elements, u.Map = u.Bool || other.Bool, u.Elements || other.Elements, u.Map || other.Map
}

// stoodIn marks everything that is made of a value that stands in for one of a version.
type stoodIn struct{ version string }

// Replace returns v with others in place of its computed values, but for those to keep. It is unknown where
// the version is not known yet, or the type leaves the form open. Marks Computed go, and all others stay.
func (s *StandIns) Replace(v cty.Value) cty.Value {
	if len(MadeOf(v)) == 0 {
		return v
	}
	out, err := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		bare, marks := part.Unmark()
		kept := cty.ValueMarks{}
		var computed *Computed
		for m := range marks {
			if c, ok := m.(Computed); ok {
				computed = &c
				continue
			}
			kept[m] = struct{}{}
		}
		switch {
		case computed == nil:
			return part, nil
		case s.Keep != nil && s.Keep(*computed) && bare.IsWhollyKnown():
		case computed.Version == "":
			bare = cty.UnknownVal(bare.Type())
		default:
			bare = s.of(bare.Type(), computed.Version)
			kept[stoodIn{computed.Version}] = struct{}{}
		}
		return bare.WithMarks(kept), nil
	})
	if err != nil { // the function returns none
		return cty.DynamicVal
	}
	return out
}

// of returns a value of a type for a name.
func (s *StandIns) of(ty cty.Type, name string) cty.Value {
	switch {
	case ty == cty.String:
		return cty.StringVal("computed:" + name)
	case ty == cty.Number:
		h := fnv.New32a()
		h.Write([]byte(name))
		return cty.NumberUIntVal(uint64(h.Sum32()))
	case ty == cty.Bool:
		s.Uses.Bool = true
		return cty.BoolVal(s.True)
	case ty.IsObjectType():
		attrs := map[string]cty.Value{}
		for attr, of := range ty.AttributeTypes() {
			attrs[attr] = s.of(of, name+"."+attr)
		}
		return cty.ObjectVal(attrs)
	case ty.IsTupleType():
		var list []cty.Value
		for i, of := range ty.TupleElementTypes() {
			list = append(list, s.of(of, fmt.Sprintf("%s[%d]", name, i)))
		}
		return cty.TupleVal(list)
	case ty.IsMapType() && !ty.HasDynamicTypes():
		s.Uses.Elements, s.Uses.Map = true, true
		return cty.MapVal(s.elements(ty, name))
	case ty.IsCollectionType() && !ty.HasDynamicTypes():
		s.Uses.Elements = true
		var list []cty.Value
		for i := range s.Elements {
			list = append(list, s.of(ty.ElementType(), fmt.Sprintf("%s[%d]", name, i)))
		}
		if ty.IsSetType() {
			return cty.SetVal(list)
		}
		return cty.ListVal(list)
	}
	return cty.UnknownVal(ty)
}

// elements returns the elements of a map.
func (s *StandIns) elements(ty cty.Type, name string) map[string]cty.Value {
	keys := s.Keys
	if len(keys) == 0 {
		for i := range s.Elements {
			keys = append(keys, fmt.Sprintf("computed:%s[%d]", name, i))
		}
	}
	out := map[string]cty.Value{}
	for _, key := range keys {
		out[key] = s.of(ty.ElementType(), fmt.Sprintf("%s[%q]", name, key))
	}
	return out
}

// StoodInPart is a part of a value that is made of one that stands in for a computed value of a version.
type StoodInPart struct {
	Path    cty.Path
	Version string
}

// PartsStoodIn returns v without marks and its parts that are made of values which stand in for others, in
// the order of their versions.
func PartsStoodIn(v cty.Value) (bare cty.Value, parts []StoodInPart) {
	bare, found := v.UnmarkDeepWithPaths()
	for _, at := range found {
		for m := range at.Marks {
			if s, ok := m.(stoodIn); ok {
				parts = append(parts, StoodInPart{at.Path, s.version})
			}
		}
	}
	slices.SortFunc(parts, func(a, b StoodInPart) int { return cmp.Compare(a.Version, b.Version) })
	return bare, parts
}
