package eval

import "github.com/mayfly-iac/mayfly/lang"

// Repeat is the form of repetition.
type Repeat uint8

// The forms of repetition.
const (
	Single  Repeat = iota // one instance without a key
	Counted               // count
	ForEach               // for_each
	Enabled               // one instance or none
)

// keyed reports whether instances are told apart by keys.
func (r Repeat) keyed() bool { return r == Counted || r == ForEach }

type repetition struct{ count, forEach, enabled *lang.Expr }

func (r repetition) repeated() bool { return r.count != nil || r.forEach != nil || r.enabled != nil }

// argument returns the name of the argument that decides how often a block is there.
func (r repetition) argument() string {
	switch formOf(r) {
	case Counted:
		return "count"
	case ForEach:
		return "for_each"
	default:
		return "enabled"
	}
}

func formOf(r repetition) Repeat {
	switch {
	case r.count != nil:
		return Counted
	case r.forEach != nil:
		return ForEach
	case r.enabled != nil:
		return Enabled
	default:
		return Single
	}
}
