package engine

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/journal"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// reportUnavailable reports an argument whose value cannot be had. all are the parts of the configuration
// that are made of computed values; why says why the argument is needed, "" if that is clear.
func reportUnavailable(op *objectOp, all []value.ComputedPart, path cty.Path, why string) {
	var of []value.Computed
	for _, part := range all {
		if part.Of.Past && part.Path.Equals(path) && !op.walk.computed.Miss(part.Of, op.Obj.Instance) {
			of = append(of, part.Of)
		}
	}
	if len(of) == 0 {
		return
	}
	diags := op.walk.computed.Unavailable(computed.Use{
		User: fmt.Sprintf("The argument %s of %s", schema.PathString(path), op.Obj), When: computed.ThisRun, Instance: op.Obj.Instance,
	}, of)
	diags[0].Path, diags[0].Detail = path, why+diags[0].Detail
	op.Report(diags)
}

// endDelivered ends the entry of an operation on a consumer of computed values, which has taken them. In the
// same write it strikes the resource out of the records of those who owed it something. The writes take their
// places one after the other, or one could restore a line that another has struck out; then they wait
// together.
func endDelivered(a *applier, entry *journal.Entry, consumer addr.Instance, change state.ObjectChange) bool {
	if !a.deliveries.IsConsumer(consumer) {
		return entry.End(false, change)
	}
	return enqueueDelivered(a, entry, consumer, change)()
}

// enqueueDelivered is endDelivered until the write has its place. Wait returns when it is durable.
func enqueueDelivered(a *applier, entry *journal.Entry, consumer addr.Instance, change state.ObjectChange) (wait func() bool) {
	a.delivering.Lock()
	defer a.delivering.Unlock()
	changes := []state.ObjectChange{change}
	block := consumer.Config()
	for _, producer := range a.deliveries.Take(consumer) {
		o, config := a.req.State.Object(addr.Object{Instance: producer})
		if o == nil {
			continue
		}
		if list, changed := state.Deliver(o.Withheld, &block); changed {
			n := o.Clone()
			n.Withheld = list
			changes = append(changes, state.ObjectChange{Object: addr.Object{Instance: producer}, Provider: config, New: n})
		}
	}
	return entry.Enqueue(changes...)
}

// oweFirst records, before an update, that the consumers of the computed values which it may make have yet to
// get them: the run may die before it knows the answer. A value that the state still has is taken out with
// that. It returns the journal entry for the update, nil if that cannot begin.
func oweFirst(ia *instanceApply, entry *journal.Entry) *journal.Entry {
	o := ia.a.object(ia.Obj)
	owing := slices.DeleteFunc(slices.Clone(ia.change.Withheld), func(w plan.Withheld) bool { return len(w.Consumers)+len(w.Missed) == 0 })
	if ia.change.Action != plan.Update || o == nil || len(owing) == 0 {
		return entry
	}
	if slices.ContainsFunc(owing, func(w plan.Withheld) bool { return withheld.RecordOf(o, w.Path) == nil }) {
		o = ia.object(ia.prior.Value, ia.prior.Private, ia.prior.Identity, object.Applied{Failed: true})
	}
	if o == nil {
		entry.End(true)
		return nil
	}
	o = o.Clone()
	o.Withheld = slices.Clone(o.Withheld)
	for i := range o.Withheld {
		w := &o.Withheld[i]
		for _, r := range computed.BlocksOf(withheld.ConsumersOf(ia.change, w.Path)) {
			if w.Computed && !slices.Contains(w.Owed, r) {
				w.Owed = append(slices.Clip(w.Owed), r)
			}
		}
	}
	if !entry.End(false, ia.changeTo(o)) {
		return nil
	}
	return ia.a.journal.Begin(ia.Obj, string(event.OpUpdate))
}

// reportMissed reports new computed values of an updated object which not all consumers take in this apply.
// The plan could not know whether there would be any; of a creation, it has said so.
func reportMissed(ia *instanceApply, o *state.Object) {
	if ia.change.Action != plan.Update {
		return
	}
	for _, w := range ia.change.Withheld {
		missed := slices.DeleteFunc(slices.Clone(w.Missed), ia.a.deferred.Covers)
		if len(missed) == 0 {
			continue
		}
		had, has := withheld.RecordOf(ia.prior.Object, w.Path), withheld.RecordOf(o, w.Path)
		if has == nil || had != nil && had.Value() == has.Value() {
			continue
		}
		ia.Report(diag.Errorf("New value was not delivered",
			"The provider made a new value of %s in this update, and this apply did not send it to %s. The value exists no longer, as ephemeral_attributes keeps it out of the state. Change the versions of the arguments that use it, so that they take a new one, and make that with the option -replace=%s.",
			computed.Name(ia.Obj.Instance, w.Path), computed.Names(computed.BlocksOf(missed)), diag.Argument(ia.Obj.Instance.String())))
	}
}

// keepForLater has the run keep the computed values of an object that deferred objects use.
func keepForLater(ia *instanceApply, v cty.Value) {
	for _, w := range ia.change.Withheld {
		if !w.Computed || !slices.ContainsFunc(w.Missed, ia.a.deferred.Covers) {
			continue
		}
		if made, err := w.Path.Apply(v); err == nil && !made.IsNull() {
			ia.a.req.Memory.Keep(ia.Obj.Instance, w.Path, made)
		}
	}
}
