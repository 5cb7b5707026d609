package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/state"
)

// unknownObject returns the unknown object of an instance.
func unknownObject(in *eval.Instance) cty.Value {
	return cty.UnknownVal(in.Resource.Block.Schema.Block.Type())
}

// isCurrent reports whether a stored object needs no upgrade.
func (op *objectOp) isCurrent(o *state.Object) bool {
	return o.SchemaVersion == op.schema.Version && o.Flatmap == nil
}

// live decodes a stored object and adds its marks, without a provider call. It returns false if o is nil or
// does not fit the schema and must be upgraded.
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

// recorded returns the object of an instance in st, with its marks, unknown if there is none. It calls the
// provider only to upgrade an object stored under another schema.
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
		return v // data objects are not upgraded
	}
	in.Prepare(t)
	op.inSession(t, in, event.OpEvaluate, func(s *eval.Session) {
		if op.p = op.providerFor(t, s, in); op.p == nil || s.Failed() {
			return
		}
		plain := *o
		plain.Identity = nil // not needed for the value
		if pr, ok := op.upgrade(&plain); ok {
			v = op.mark(pr.value, o.Sensitive)
		}
	})
	return v
}
