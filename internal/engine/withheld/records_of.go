package withheld

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// SameAt reports whether a configuration has no other value at a path than an object has.
func SameAt(o, config cty.Value, path cty.Path) bool {
	was, err1 := path.Apply(o)
	is, err2 := path.Apply(config)
	return err1 == nil && err2 == nil && (is.IsNull() || is.RawEquals(was))
}

// IsImported reports whether an attribute is withheld of an object that is imported. Its value is neither in
// the plan nor in the state, so that the apply imports the object once more.
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

// ConsumersOf returns the instances that are to get a computed value which a change makes.
func ConsumersOf(c *plan.Change, path cty.Path) (to []addr.Instance) {
	for _, w := range c.Withheld {
		if w.Path.Equals(path) {
			to = slices.Concat(to, w.Consumers, w.Missed)
		}
	}
	return to
}
