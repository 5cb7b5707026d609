package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
)

// heldUses returns, for a claim, what depends_on holds open while the object at the address is read or
// destroyed.
func heldUses(t *future.Task, run *eval.Run, a addr.Instance) []eval.Use {
	if in := run.HeldInstance(t, a); in != nil {
		return in.HeldUses(t)
	}
	return nil
}

// prepareHold demands what holding needs; the task must not be in a slot. The returned function, which runs
// within a slot, holds it open until the session ends. It returns false if something could not be opened,
// which was reported.
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
