package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// eachData returns each and count for the given key.
func (r *expander) eachData(k addr.Key) *eachData {
	if !r.repeat.Repeated() {
		return nil
	}
	return &eachData{key: k, of: r}
}

// eachData has the values of each and count within one instance.
type eachData struct {
	key addr.Key
	of  *expander
}

func (r *eachData) generic() bool {
	return r.key == addr.AnyKey || r.of.module.run.opt.Phase == Validating
}

// value returns the value of each.key, each.value or count.index, with the computed values that o has. If one
// instance represents all, as while validating, the key is unknown, but never null.
func (r *eachData) value(t *future.Task, o *Opened, kind lang.Kind, name string, via *hcl.Range) cty.Value {
	switch {
	case kind == lang.Count && r.generic():
		return cty.UnknownVal(cty.Number).RefineNotNull()
	case kind == lang.Count:
		return r.key.Value()
	case name == "key" && r.generic():
		return cty.UnknownVal(cty.String).RefineNotNull()
	case name == "key":
		return r.key.Value()
	case r.generic():
		return cty.DynamicVal
	}
	e := r.of.expand(t, via)
	i, ok := e.index(r.key)
	switch {
	case ok && e.set:
		return r.key.Value()
	case ok && len(e.values) > 0:
		return r.borrow(t, o, e.values[i])
	default:
		return cty.DynamicVal
	}
}
