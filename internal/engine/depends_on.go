package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// heldUses returns, for a claim, what depends_on holds open while the object at the address is read or
// destroyed.
func heldUses(t *future.Task, run *eval.Run, a addr.Instance) []eval.Use {
	if in := run.HeldInstance(t, a); in != nil {
		return in.HeldUses(t)
	}
	return nil
}

// prepareHeld demands what holding open needs; the task must not be in a slot. The returned functions, none
// or one, are for openTogether.
func (w *walk) prepareHeld(t *future.Task, run *eval.Run, a addr.Instance) []func(*future.Task, *eval.Session) {
	in := run.HeldInstance(t, a)
	if in == nil {
		return nil
	}
	in.PrepareHeld(t)
	return []func(*future.Task, *eval.Session){in.Hold}
}
