package ephemeral

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// HeldUses returns, for a claim, the uses that depends_on holds open while the object at the address is read
// or destroyed.
func HeldUses(t *future.Task, run *eval.Run, a addr.Instance) []eval.Use {
	if in := run.HeldInstance(t, a); in != nil {
		return in.HeldUses(t)
	}
	return nil
}

// PrepareHeld returns the instances that depends_on holds open while the object at the address is read or
// destroyed, after demanding the objects that they need. The task must not be in a slot.
func PrepareHeld(t *future.Task, run *eval.Run, a addr.Instance) []eval.Need {
	in := run.HeldInstance(t, a)
	if in == nil {
		return nil
	}
	in.PrepareHeld(t)
	return in.Held(t)
}
