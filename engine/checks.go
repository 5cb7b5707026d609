package engine

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
)

// evaluateCheck evaluates the assertions of a check. What the check needs must have been prepared. With
// announce set, the results of what cannot be decided now are announced for later.
func (w *walk) evaluateCheck(t *future.Task, c *eval.Check, announce bool) {
	in := c.Nested()
	if in != nil {
		if why, failed := w.unread.Load(in.Addr()); failed {
			c.Fail(why.(string))
			return
		}
	}
	ran := w.inSlot(func() {
		s := eval.NewSession()
		defer s.End()
		c.OpenNested(t, s)
		if in != nil && s.Failed() {
			// What the provider said is not repeated in a message that is stored.
			c.Fail(fmt.Sprintf("%s could not be opened.", in.Addr()))
			return
		}
		c.Evaluate(t, s, announce)
	})
	if !ran {
		c.Undecided()
	}
}
