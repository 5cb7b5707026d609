package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/plan"
)

// TriggerKeys reports errors in the keys in brackets within replace_triggered_by. Triggered does not report
// them, since it follows a reference with an invalid key to all instances.
func (in *Instance) TriggerKeys(t *future.Task) diag.List {
	var diags diag.List
	sc := in.scope(t, nil)
	for _, x := range in.Resource.Block.TriggerKeys {
		if _, plain := sc.ownKey(x); plain {
			continue
		}
		v, more := in.Run().eval(sc, x)
		diags = append(diags, more...)
		if !more.HasErrors() && v.IsKnown() && (v.IsNull() || !v.Type().IsPrimitiveType()) {
			diags = append(diags, diag.At(x.Range(), "Invalid index", "A key in brackets must be a string or a number.")...)
		}
	}
	return diags.WithAddress(in.Addr().String())
}

// Triggered reports whether replace_triggered_by requires the instance to be replaced: an object that it
// names has a planned change, or, for a reference to an attribute, that attribute changes. changeFor returns
// the planned change of an instance.
func (in *Instance) Triggered(t *future.Task, changeFor func(addr.Instance) *plan.Change) bool {
	sc := in.scope(t, nil)
	for _, x := range in.Resource.Block.Triggers {
		for i := range x.Refs {
			ref := &x.Refs[i]
			if ref.Kind == lang.Resource && sc.triggeredBy(ref, changeFor) {
				return true
			}
		}
	}
	return false
}

func (sc *scope) triggeredBy(ref *lang.Ref, changeFor func(addr.Instance) *plan.Change) bool {
	to := sc.resolve(ref)
	res := to.resource
	if res == nil || ref.Resource.Mode != addr.Managed {
		return false
	}
	triggers := func(in *Instance) bool {
		sc.m.run.Stats.Evaluations.Add(1)
		in.Value(sc.t, &ref.Range)
		c := changeFor(in.Addr())
		return c != nil && attributeChanges(c, ref.Rest)
	}
	if !to.all && res.repeat.Repeated() {
		return res.expand(sc.t, &ref.Range).has(to.key) && triggers(res.Instance(to.key))
	}
	// All instances together give the same answer to each instance of the block that refers to them, so it is
	// computed once.
	cell, _ := res.triggers.LoadOrStore(ref, &future.Cell[bool]{})
	got, cycle := cell.(*future.Cell[bool]).Get(sc.t, res, &ref.Range, func() bool {
		instances, _ := res.Instances(sc.t)
		return slices.ContainsFunc(instances, triggers)
	})
	if cycle != nil {
		sc.m.run.ReportCycle(cycle)
	}
	return got
}

// attributeChanges reports whether the change alters the target of the traversal, or anything if the
// traversal is empty.
func attributeChanges(c *plan.Change, rest hcl.Traversal) bool {
	switch c.Action {
	case plan.NoOp, plan.Read:
		return false
	case plan.Create:
		return true
	}
	if len(rest) == 0 {
		return true
	}
	before, errB := c.Before.Unmarked()
	after, errA := c.After.Unmarked()
	if errB != nil || errA != nil || before == cty.NilVal || after == cty.NilVal {
		return true
	}
	if withheldChanges(c, rest) {
		return true
	}
	x, xd := rest.TraverseRel(before)
	y, yd := rest.TraverseRel(after)
	if xd.HasErrors() || yd.HasErrors() {
		return xd.HasErrors() != yd.HasErrors()
	}
	return !y.IsWhollyKnown() || !x.RawEquals(y)
}

// withheldChanges reports whether the change gives another value to a withheld attribute that the traversal
// leads to, or through or into.
func withheldChanges(c *plan.Change, rest hcl.Traversal) bool {
	if len(c.Withheld) == 0 {
		return false
	}
	path := blocks.Path(rest)
	return slices.ContainsFunc(c.Withheld, func(w plan.Withheld) bool {
		return w.Status.Differs() && (w.Path.HasPrefix(path) || path.HasPrefix(w.Path))
	})
}
