package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/ephemeral"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/state"
)

// unknownObject stands for the object of an instance when nothing is known of it.
func unknownObject(in *eval.Instance) cty.Value {
	return cty.UnknownVal(in.Resource.Block.Schema.Block.Type())
}

// isCurrent reports whether a stored object needs no upgrade.
func (op *objectOp) isCurrent(o *state.Object) bool {
	return o.SchemaVersion == op.schema.Version && o.Flatmap == nil
}

// live returns the value of a stored object with its marks. It asks no provider, so that false means that
// there is no object, or that it does not fit the schema and must be upgraded. o may be nil.
func (op *objectOp) live(o *state.Object) (cty.Value, bool) {
	if o == nil {
		return cty.NilVal, false
	}
	v, err := o.DecodeUnmarked(op.block().Type())
	if err != nil {
		return cty.NilVal, false
	}
	return op.mark(op.block().NullWriteOnly(v), o.Sensitive), true
}

// recorded returns the object of an instance as a state has it, with its marks. One that is not there is
// unknown. Only one that was stored under another schema needs its provider, to be upgraded.
func (w *walk) recorded(t *future.Task, st *state.State, in *eval.Instance) cty.Value {
	op := w.instanceOp(in)
	o := st.Object(op.obj)
	if o == nil {
		return unknownObject(in)
	}
	managed := in.Config().Addr.Mode == addr.Managed
	if op.isCurrent(o) || !managed {
		if v, ok := op.live(o); ok {
			return v
		}
	}
	v := unknownObject(in)
	if !managed {
		return v // there is no upgrade for what was read
	}
	in.Prepare(t)
	op.inSlot(func() {
		s := ephemeral.NewSession(in, event.OpEvaluate)
		defer s.End()
		if op.p = op.providerFor(t, s, in); op.p == nil || s.Failed() {
			return
		}
		plain := *o
		plain.Identity = nil // of no interest here
		if pr, ok := op.upgrade(&plain); ok {
			v = op.mark(pr.value, o.Sensitive)
		}
	})
	return v
}
