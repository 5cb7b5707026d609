package eval

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
)

// elementsWith returns the elements of for_each with the computed values that o has, or with others that
// stand in for them. An instance needs one of them, but few expressions can be evaluated for one alone, so
// they are kept for the others. There are none if there were errors. Where o lacks some computed values,
// elements may be unknown.
func (r *expander) elementsWith(t *future.Task, o *Opened) map[addr.Key]cty.Value {
	run, x := r.module.run, r.repeat.ForEach
	return r.elements.of(run, o, o.form(), func() map[addr.Key]cty.Value {
		all, diags := run.eval(r.module.scope(t).with(o), x)
		if !o.hasStandIns() {
			run.Report(diags.WithAddress(r.name)) // the values in the run may not have led to them
		}
		byKey := map[addr.Key]cty.Value{}
		if all, _ = all.Unmark(); diags.HasErrors() || !all.IsKnown() || all.IsNull() {
			return byKey
		}
		for it := all.ElementIterator(); it.Next(); {
			k, elem := it.Element()
			if key, err := addr.KeyFromValue(k); err == nil {
				byKey[key] = copied(x, elem)
			}
		}
		return byKey
	}).got
}
