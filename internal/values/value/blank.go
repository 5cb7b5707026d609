package value

import "github.com/zclconf/go-cty/cty"

// Blank returns v with unknown values in place of the computed ones that this run has made and that are not
// stored. They keep their marks, also the marks of their parts. It reports whether there are any.
func Blank(v cty.Value) (blank cty.Value, found bool) {
	if len(MadeOf(v)) == 0 {
		return v, false
	}
	blank, err := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if !isMade(part.Marks()) {
			return part, nil
		}
		found = true
		bare, inner := part.UnmarkDeep()
		return cty.UnknownVal(bare.Type()).WithMarks(part.Marks(), inner), nil
	})
	if err != nil { // the function returns none
		return cty.DynamicVal, true
	}
	return blank, found
}

// IsBlank reports whether part of v is unknown only because Blank has replaced a value that it is made of.
func IsBlank(v cty.Value) bool {
	if !IsMarked(v) {
		return false
	}
	bare, found := v.UnmarkDeepWithPaths()
	for _, at := range found {
		if !isMade(at.Marks) {
			continue
		}
		if part, err := at.Path.Apply(bare); err != nil || !part.IsWhollyKnown() {
			return true
		}
	}
	return false
}

// isMade reports whether one of the marks is of a computed value that this run has made.
func isMade(marks cty.ValueMarks) bool {
	for m := range marks {
		if c, ok := m.(Computed); ok && !c.Past && c.Version != "" {
			return true
		}
	}
	return false
}
