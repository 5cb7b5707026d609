package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/plan"
)

// Triggered reports whether replace_triggered_by asks for the instance to be replaced: something that it
// names has a planned change, or, for a reference to an attribute, that attribute changes. changeFor gives
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
	// What all instances together do is the same for each instance of the block that refers to them, so it is
	// found out once.
	cell, _ := res.triggers.LoadOrStore(ref, &future.Cell[bool]{})
	got, cycle := cell.(*future.Cell[bool]).Get(sc.t, res, &ref.Range, func() bool {
		instances, _ := res.Instances(sc.t)
		return slices.ContainsFunc(instances, triggers)
	})
	if cycle != nil {
		sc.m.run.reportCycle(cycle)
	}
	return got
}

// attributeChanges reports whether the change alters what the traversal leads to; the whole object if it is
// empty.
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
	x, xd := rest.TraverseRel(before)
	y, yd := rest.TraverseRel(after)
	if xd.HasErrors() || yd.HasErrors() {
		return xd.HasErrors() != yd.HasErrors()
	}
	return !y.IsWhollyKnown() || !x.RawEquals(y)
}

// WhyGone returns why the configuration doesn't declare an instance that the state has.
func (r *Run) WhyGone(a addr.Instance) plan.Reason {
	m := r.Root
	t := &future.Task{}
	for _, step := range a.Module.Path() {
		_, name, key := step.Parent()
		call := m.calls[name]
		if call == nil || call.block.Child == nil {
			return plan.DeleteNoConfig // as other engines have it: no module instance is left that could lack the resource
		}
		if !call.expand(t, nil).has(key) {
			return plan.DeleteNoModule
		}
		m = call.Child(key)
	}
	res := m.resources[a.Resource]
	if res == nil {
		return plan.DeleteNoConfig
	}
	switch e := res.expand(t, nil); {
	case e.form == blocks.Enabled && a.Key == addr.NoKey:
		return plan.DeleteDisabled
	case e.form == blocks.Counted && a.Key.Kind() == addr.KeyInt:
		return plan.DeleteCountIndex
	case e.form == blocks.ForEach && a.Key.Kind() == addr.KeyString:
		return plan.DeleteEachKey
	}
	return plan.DeleteRepetition
}

// Find returns the instance at an address, nil if the configuration has no such instance. ok is false if that
// could not be told, for a reason that was reported.
func (r *Run) Find(t *future.Task, a addr.Instance) (in *Instance, ok bool) {
	m := r.Root
	for _, step := range a.Module.Path() {
		_, name, key := step.Parent()
		call := m.calls[name]
		if call == nil || call.block.Child == nil {
			return nil, true
		}
		if e := call.expand(t, nil); e.failed || !e.has(key) {
			return nil, !e.failed
		}
		m = call.Child(key)
	}
	res := m.resources[a.Resource]
	if res == nil {
		return nil, true
	}
	if e := res.expand(t, nil); e.failed || !e.has(a.Key) {
		return nil, !e.failed
	}
	return res.Instance(a.Key), true
}

// Declared reports whether the configuration has a block for the instance, whatever its repetition says.
func (r *Run) Declared(a addr.Instance) bool {
	m := r.Module(a.Module)
	return m != nil && m.resources[a.Resource] != nil
}
