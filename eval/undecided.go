package eval

import (
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval/blocks"
)

// reportUndecided reports that the instances of a block cannot be told yet, if that is news: nothing of the
// block is left out on purpose, and it does not follow from an error that was reported, or from another block
// whose instances cannot be told.
func (r *expander) reportUndecided(diags diag.List) {
	run := r.module.run
	if r.isExcluded() || run.Diags.HasCertainErrors() {
		return
	}
	if !r.module.block.RepetitionNeeds(r.repeat, func(n blocks.Node) bool { return run.undecided.has(n) }) {
		run.Report(diags.WithAddress(r.name))
	}
}

// isExcluded reports whether nothing of the block is wanted.
func (r *expander) isExcluded() bool {
	of := r.module.run.opt.Excluded
	return of != nil && r.target != nil && of(*r.target)
}
