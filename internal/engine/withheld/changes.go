package withheld

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// MakesComputed reports whether a change makes a computed value, or may.
func MakesComputed(c *plan.Change) bool {
	if c.Action == plan.NoOp || c.Action == plan.Delete || c.Action == plan.Forget || c.Deposed != addr.Current {
		return false
	}
	return slices.ContainsFunc(c.Withheld, func(w plan.Withheld) bool { return w.Computed && w.Status.Differs() })
}

// TakesOutComputed reports whether a change takes a computed value out of the state, or imports one.
func TakesOutComputed(c *plan.Change) bool { return slices.ContainsFunc(c.Withheld, IsTakenOut) }

// IsTakenOut reports whether the apply has a computed value that is not stored from then on.
func IsTakenOut(w plan.Withheld) bool {
	return w.Computed && (w.Status == plan.WithheldStored || w.Status == plan.WithheldImported)
}
