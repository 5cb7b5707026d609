package engine

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// evaluateCheck evaluates the assertions of a check. The check must have been prepared. If announce is set, a
// warning names each assertion that only the apply can decide.
func (w *walk) evaluateCheck(t *future.Task, c *eval.Check, announce bool) {
	in := c.Nested()
	if in != nil {
		if why, failed := w.unread.Load(in.Addr()); failed {
			c.Fail(why.(string))
			return
		}
	}
	ran := w.inSession(t, nil, "", func(s *ephemeral.Session) {
		if in != nil && in.Config().Addr.Mode == addr.Ephemeral { // whether or not an assertion refers to it
			s.Open(t, []eval.Need{{Instance: in}})
		}
		if in != nil && s.Failed() {
			// The provider's diagnostics stay out of a message that is stored: they may quote a secret.
			c.Fail(fmt.Sprintf("%s could not be opened.", in.Addr()))
			return
		}
		c.Evaluate(t, s.Opened, announce)
	})
	if !ran {
		c.Undecided()
	}
}
