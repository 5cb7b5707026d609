package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// evaluateMade evaluates the configuration with others in place of computed values, for the records of the
// attributes that are made of them. of are the parts of the configuration that are.
func evaluateMade(t *future.Task, op *objectOp, o *eval.Opened, in *eval.Instance, of []value.ComputedPart) {
	if op.Withheld.Made == nil && slices.ContainsFunc(of, func(part value.ComputedPart) bool { return op.Withheld.Names.Matches(part.Path) }) {
		op.Withheld.Made = madeOf(t, op, o, in, of, nil)
	}
}

// sameAdopted reports whether an object without changes outside stays as it is although the values at the
// missing paths cannot be had, if values which are taken out of the state just now count as the ordinary ones
// that they were when the configuration was sent. adopted reports whether a value is one of these.
func sameAdopted(t *future.Task, op *objectOp, o *eval.Opened, in *eval.Instance, stored *state.Object, cfg object.Config, missing []cty.Path, adopted func(value.Computed) bool) bool {
	if !slices.ContainsFunc(cfg.Computed, func(part value.ComputedPart) bool { return adopted(part.Of) }) {
		return false
	}
	made := op.Withheld.Made
	defer func() { op.Withheld.Made = made }()
	op.Withheld.Made = madeOf(t, op, o, in, cfg.Computed, adopted)
	return op.Withheld.Unavailable(stored, cfg.Value, missing)
}

// remade returns the attributes of an object that are to be recorded anew because they are made of values
// that the apply takes out of the state. of are the parts of the configuration made of computed values.
func remade(ip *instancePlan, of []value.ComputedPart) (out []plan.Withheld) {
	for _, w := range ip.stored.Withheld {
		if !w.Computed && !withheld.Ignores(&ip.Withheld, w.Path) && slices.ContainsFunc(of, func(part value.ComputedPart) bool {
			return ip.planner.computed.TakenOut(part.Of) && (part.Path.HasPrefix(w.Path) || w.Path.HasPrefix(part.Path))
		}) {
			out = append(out, plan.Withheld{Path: w.Path, Status: plan.WithheldVersion})
		}
	}
	return out
}

// remadeUnneeded is remade for an object that stays as it is because its versions do: it is nil unless the
// attributes are known to be made of the same values as before, without opening anything.
func remadeUnneeded(ip *instancePlan, cfg cty.Value, of []value.ComputedPart) []plan.Withheld {
	out := remade(ip, of)
	if len(out) == 0 {
		return nil
	}
	op, config := &ip.objectOp, object.Config{Value: cfg, Computed: of}
	if !sameAdopted(ip.t, op, eval.NewOpened(nil), ip.in, ip.stored, config, missingIn(op, config), ip.planner.computed.TakenOut) {
		return nil
	}
	return out
}

// recordRemade carries out the plan of remade, for the records of an object that stays as it is.
func recordRemade(ia *instanceApply, records []state.Withheld) {
	for _, w := range ia.change.Withheld {
		if w.Status != plan.WithheldVersion {
			continue
		}
		if i := slices.IndexFunc(records, func(r state.Withheld) bool { return r.Path.Equals(w.Path) }); i >= 0 {
			records[i] = ia.Withheld.Remade(records[i], ia.config.Value)
		}
	}
}

// noteTakenOut notes the values that a change takes out of the state, or imports and does not store.
func noteTakenOut(u *computed.Uses, c *plan.Change) {
	for _, w := range c.Withheld {
		if withheld.IsTakenOut(w) {
			u.TakeOut(computed.Name(c.Addr, w.Path))
		}
	}
}

// madeOf evaluates the configuration for evaluateMade. Values that keep reports stay as they are.
func madeOf(t *future.Task, op *objectOp, o *eval.Opened, in *eval.Instance, of []value.ComputedPart, keep func(value.Computed) bool) []withheld.Made {
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
	all := []withheld.Made{}
	for _, got := range eval.StandIns(t, in, o, whole, keep) {
		plain, faults := value.Storable(got.Value, block.Type())
		if len(faults) > 0 {
			return []withheld.Made{}
		}
		others := slices.DeleteFunc(op.Withheld.Names.Find(plain), isMade)
		made := withheld.Made{Value: block.NullAt(plain, others)}
		for _, part := range got.Of {
			made.Of = append(made.Of, withheld.MadeOf{Path: part.Path, Version: part.Version})
		}
		all = append(all, made)
	}
	return all
}
