package blocks

import (
	"cmp"

	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// Form is how a block is repeated.
type Form uint8

// The forms of repetition.
const (
	Single  Form = iota // one instance without a key
	Counted             // count
	ForEach             // for_each
	Enabled             // one instance or none
)

// Keyed reports whether instances have keys.
func (r Form) Keyed() bool { return r == Counted || r == ForEach }

// Repetition has the arguments that decide how many instances a block has. At most one of them is set.
type Repetition struct{ Count, ForEach, Enabled *lang.Expr }

// Repeated reports whether any of the arguments is set.
func (r Repetition) Repeated() bool { return r.Count != nil || r.ForEach != nil || r.Enabled != nil }

// Expr returns the argument that is set, nil if none is.
func (r Repetition) Expr() *lang.Expr { return cmp.Or(r.Count, r.ForEach, r.Enabled) }

// Argument returns the name of the argument that decides how often a block is there.
func (r Repetition) Argument() string {
	switch FormOf(r) {
	case Counted:
		return "count"
	case ForEach:
		return "for_each"
	default:
		return "enabled"
	}
}

// FormOf returns the form that the arguments give a block.
func FormOf(r Repetition) Form {
	switch {
	case r.Count != nil:
		return Counted
	case r.ForEach != nil:
		return ForEach
	case r.Enabled != nil:
		return Enabled
	default:
		return Single
	}
}
