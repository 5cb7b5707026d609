package gone

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
)

// Blocks has the declarations of the configuration for objects of the state, also in blocks that a plan does
// not visit. It evaluates them in a run of its own, so that nothing gets into the plan for their sake.
type Blocks struct {
	run  func() *eval.Run
	seen map[plan.Dep]struct{} // by Unseen
}

// NewBlocks returns a Blocks that evaluates in the run that run returns.
func NewBlocks(run func() *eval.Run) Blocks {
	return Blocks{run: run, seen: map[plan.Dep]struct{}{}}
}

// Declare reports whether the configuration declares the instance. known is false if the keys of its block,
// or of a module call around it, are not known.
func (b Blocks) Declare(t *future.Task, a addr.Instance) (declared, known bool) {
	in, known := b.run().Find(t, a)
	return in != nil, known
}

// Why returns why the configuration does not declare an instance.
func (b Blocks) Why(a addr.Instance) plan.Reason { return b.run().WhyGone(a) }

// Deps returns the dependencies that the configuration declares for an instance, nil if it has no block for
// it.
func (b Blocks) Deps(t *future.Task, a addr.Instance) []plan.Dep {
	run := b.run()
	if !run.Declared(a) {
		return nil
	}
	return run.Module(a.Module).Resource(a.Resource).Instance(a.Key).Deps(t)
}

// Unseen returns the dependencies that no earlier call has had. It must not be called concurrently.
func (b Blocks) Unseen(deps []plan.Dep) (unseen []plan.Dep) {
	for _, d := range deps {
		if _, seen := b.seen[d]; !seen {
			b.seen[d], unseen = struct{}{}, append(unseen, d)
		}
	}
	return unseen
}
