package withheld

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// SameAt reports whether a configuration has the value of an object at a path, or none.
func SameAt(o, config cty.Value, path cty.Path) bool {
	was, err1 := path.Apply(o)
	is, err2 := path.Apply(config)
	return err1 == nil && err2 == nil && (is.IsNull() || is.RawEquals(was))
}

// IsImported reports whether the object of a withheld attribute is imported. The value is neither in the plan
// nor in the state, so the apply imports the object once more.
func IsImported(w plan.Withheld) bool { return w.Status == plan.WithheldImported }

// RecordOf returns the record of a withheld attribute of an object, nil if there is none.
func RecordOf(o *state.Object, path cty.Path) *state.Withheld {
	if o == nil {
		return nil
	}
	if i := slices.IndexFunc(o.Withheld, func(w state.Withheld) bool { return w.Path.Equals(path) }); i >= 0 {
		return &o.Withheld[i]
	}
	return nil
}

// ConsumersOf returns the instances that use the computed value which a change makes at a path, also those
// that the plan leaves out.
func ConsumersOf(c *plan.Change, path cty.Path) (to []addr.Instance) {
	for _, w := range c.Withheld {
		if w.Path.Equals(path) {
			to = slices.Concat(to, w.Consumers, w.Missed)
		}
	}
	return to
}
