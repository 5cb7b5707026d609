// Package value extends cty values: the marks it puts on them, and Durable, the only form of a value that
// plan and state accept.
//
// It may import bounds, jsonvalue, schema and cty. It must not know configuration, plans or providers.
package value

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Mark is a mark that the engine puts on values. Marks police where a value may go; they never carry
// provenance.
type Mark string

// The marks.
const (
	Sensitive Mark = "sensitive" // hidden from people's output, kept in state
	Ephemeral Mark = "ephemeral" // must not reach state, plan, log or disk
	// EphemeralType marks ephemeral values whose type is not known without them, such as an object with
	// attributes that an ephemeral text names, or a tuple as long as an ephemeral list. Code that takes away
	// the mark Ephemeral must take away the type with it.
	EphemeralType Mark = "ephemeral type"
	// EphemeralKnown marks ephemeral values that are known, but may not be with other ephemeral values, such
	// as the result of a condition whose other branch is unknown. Code that takes away the mark Ephemeral
	// must leave an unknown value.
	EphemeralKnown Mark = "ephemeral known"
	// TypeValue marks the capsule that the console's type function returns.
	TypeValue Mark = "type"
)

// Deprecated marks a value that came from a deprecated output or variable.
type Deprecated struct {
	By      string // the address of the deprecated object
	Message string // the author's advice
}

// Has reports whether v itself carries the mark; nested values are not looked at.
func Has(v cty.Value, m Mark) bool { return v.HasMark(m) }

// IsMarked reports whether v or any value nested in it carries any mark.
func IsMarked(v cty.Value) bool { return schema.HoldsMarks(v) }

// Contains reports whether v or any value nested in it carries the mark. The walk is skipped for values
// without any mark.
func Contains(v cty.Value, m Mark) bool {
	if !IsMarked(v) {
		return false
	}
	_, pvm := v.UnmarkDeepWithPaths()
	for _, pm := range pvm {
		if _, ok := pm.Marks[m]; ok {
			return true
		}
	}
	return false
}

// PathsWith returns the paths of the values that carry the mark, outermost first.
func PathsWith(v cty.Value, m Mark) []cty.Path {
	if !IsMarked(v) {
		return nil
	}
	_, pvm := v.UnmarkDeepWithPaths()
	var paths []cty.Path
	for _, pm := range pvm {
		if _, ok := pm.Marks[m]; ok {
			paths = append(paths, pm.Path)
		}
	}
	return paths
}

// Unmark returns v without its own marks, and reports whether people must not see v: whether one of the marks
// is Sensitive or Ephemeral. Marks nested in v stay. Unlike cty's, it takes cty.NilVal.
func Unmark(v cty.Value) (raw cty.Value, secret bool) {
	if !v.IsMarked() {
		return v, false
	}
	raw, marks := v.Unmark()
	_, sensitive := marks[Sensitive]
	_, ephemeral := marks[Ephemeral]
	return raw, sensitive || ephemeral
}

// Redacted returns the text that stands in people's output for a value with the given marks, and whether it
// must be redacted at all.
func Redacted(marks cty.ValueMarks) (string, bool) {
	var words []string
	for _, m := range []Mark{Sensitive, Ephemeral} {
		if _, ok := marks[m]; ok {
			words = append(words, string(m))
		}
	}
	if len(words) == 0 {
		return "", false
	}
	text := strings.Join(words, ", ") + " value"
	for m := range marks {
		if c, ok := m.(Computed); ok && c.Past {
			return "(" + text + ", not available in this run)", true
		}
	}
	return "(" + text + ")", true
}
