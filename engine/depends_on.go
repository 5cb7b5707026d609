package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
)

// heldUses returns what depends_on holds open while the object at the address is read or destroyed, for a
// claim.
func heldUses(t *future.Task, run *eval.Run, a addr.Instance) []eval.Use {
	if in := run.HeldInstance(t, a); in != nil {
		return in.HeldUses(t)
	}
	return nil
}

// prepareHold demands what holding needs, outside of a slot. It returns the function that holds until the
// session ends, within the slot; false means that something could not be opened, which was reported.
func (w *walk) prepareHold(t *future.Task, run *eval.Run, a addr.Instance) func(*eval.Session) bool {
	in := run.HeldInstance(t, a)
	if in == nil {
		return func(*eval.Session) bool { return true }
	}
	in.PrepareHeld(t)
	return func(s *eval.Session) bool {
		in.Hold(t, s)
		return !s.Failed()
	}
}
