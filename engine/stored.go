package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/ephemeral"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/state"
)

// recorded returns the object of an instance as a state has it, with its marks. One that is not there is
// unknown.
func (w *walk) recorded(t *future.Task, st *state.State, in *eval.Instance) cty.Value {
	op := w.instanceOp(in)
	absent := cty.UnknownVal(op.block().Type())
	o := st.Object(op.obj)
	if o == nil {
		return absent
	}
	v, ok := op.decoded(t, in, o)
	if !ok {
		return absent
	}
	return op.mark(v, o.Sensitive)
}

// decoded returns the value of a stored object. Only one that was stored under another schema needs its
// provider, to be upgraded.
func (op *objectOp) decoded(t *future.Task, in *eval.Instance, o *state.Object) (v cty.Value, ok bool) {
	if o.SchemaVersion == op.schema.Version && o.Flatmap == nil {
		if v, err := o.DecodeUnmarked(op.block().Type()); err == nil {
			return op.block().NullWriteOnly(v), true
		}
	}
	in.Prepare(t)
	op.inSlot(func() {
		session := ephemeral.NewSession(in, event.OpEvaluate)
		defer session.End()
		if op.p = op.providerFor(t, session, in); op.p != nil && !session.Failed() {
			plain := *o
			plain.Identity = nil // of no interest here
			var pr prior
			pr, ok = op.upgrade(&plain)
			v = pr.value
		}
	})
	return v, ok
}
