package value

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// RedactedDeep is Redacted for the marks of values and all that is nested in them.
func RedactedDeep(vals ...cty.Value) (string, bool) {
	marks := cty.ValueMarks{}
	for _, v := range vals {
		if IsMarked(v) {
			_, more := v.UnmarkDeep()
			maps.Copy(marks, more)
		}
	}
	return Redacted(marks)
}

// HasKeys reports whether values of the type have keys or attribute names anywhere. Errors about converting a
// value tell them.
func HasKeys(ty cty.Type) bool {
	switch {
	case ty.IsMapType() || ty.IsObjectType():
		return true
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), HasKeys)
	case ty.IsCollectionType():
		return HasKeys(ty.ElementType())
	default:
		return false
	}
}
