package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// evaluateMade evaluates the configuration with others in place of computed values, for the records of the
// attributes that are made of them. of are the parts of the configuration that are.
func evaluateMade(t *future.Task, op *objectOp, o *eval.Opened, in *eval.Instance, of []value.ComputedPart) {
	if op.Withheld.Made != nil || !slices.ContainsFunc(of, func(part value.ComputedPart) bool { return op.Withheld.Names.Matches(part.Path) }) {
		return
	}
	block := op.Block()
	isMade := func(path cty.Path) bool {
		return slices.ContainsFunc(of, func(part value.ComputedPart) bool { return part.Path.HasPrefix(path) || path.HasPrefix(part.Path) })
	}
	whole := func(v cty.Value) bool {
		return !slices.ContainsFunc(op.Withheld.Names.Find(v), func(path cty.Path) bool {
			got, err := path.Apply(v)
			return isMade(path) && err == nil && !got.IsWhollyKnown()
		})
	}
	op.Withheld.Made = []withheld.Made{}
	for _, got := range eval.StandIns(t, in, o, whole) {
		plain, faults := value.Storable(got.Value, block.Type())
		if len(faults) > 0 {
			op.Withheld.Made = []withheld.Made{}
			return
		}
		others := slices.DeleteFunc(op.Withheld.Names.Find(plain), isMade)
		made := withheld.Made{Value: block.NullAt(plain, others)}
		for _, part := range got.Of {
			made.Of = append(made.Of, withheld.MadeOf{Path: part.Path, Version: part.Version})
		}
		op.Withheld.Made = append(op.Withheld.Made, made)
	}
}
