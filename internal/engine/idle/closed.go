package idle

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Closed returns an Opened that opens nothing. It calls found for each ephemeral instance that an evaluation
// would open, with the computed values that its configuration is made of.
func Closed(found func(in *eval.Instance, made []value.Computed)) *eval.Opened {
	return eval.NewOpened(closed{found})
}

type closed struct {
	found func(in *eval.Instance, made []value.Computed)
}

// Open implements eval.Opener. Instances that it does not add count as unknown.
func (c closed) Open(t *future.Task, needs []eval.Need) {
	for _, n := range needs {
		if n.Config().Addr.Mode == addr.Ephemeral {
			v, _ := n.EvalBody(t, eval.NewOpened(c))
			c.found(n.Instance, value.MadeOf(v))
		}
	}
}
