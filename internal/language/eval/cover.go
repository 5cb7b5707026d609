package eval

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// cover notes an outcome of a point. Validation exercises nothing.
func (r *Run) cover(k coverage.Kind, at hcl.Range, o coverage.Outcome) {
	if r.opt.Phase != Validating {
		r.opt.Coverage.Note(k, at, o)
	}
}

// coverOutputs notes which outputs a reference reads. Of a module, more may be evaluated, to be shared.
func (r *Run) coverOutputs(to target, ref *lang.Ref) {
	switch {
	case r.opt.Coverage == nil:
	case to.value != nil && to.value.block.Output != nil:
		r.cover(coverage.Output, to.value.block.Range, coverage.Read)
	case to.call != nil && to.call.block.Child != nil:
		for name, o := range to.call.block.Child.Outputs {
			if ref.Reads(name) {
				r.cover(coverage.Output, o.Range, coverage.Read)
			}
		}
	}
}
