package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/state"
)

// recorded returns the object of an instance as a state has it, with its marks. One that is not there is
// unknown.
func (w *walk) recorded(t *future.Task, st *state.State, in *eval.Instance) cty.Value {
	s := &subject{walk: w, obj: addr.Object{Instance: in.Addr()}, schema: in.Resource.Block.Schema, source: in.Resource.Block.Provider}
	absent := cty.UnknownVal(s.block().Type())
	o := st.Object(s.obj)
	if o == nil {
		return absent
	}
	v, ok := s.decoded(t, in, o)
	if !ok {
		return absent
	}
	return s.marked(v, o.Sensitive)
}

// decoded returns the value of a stored object. Only one that was stored under another schema needs its
// provider, to be upgraded.
func (s *subject) decoded(t *future.Task, in *eval.Instance, o *state.Object) (v cty.Value, ok bool) {
	if o.SchemaVersion == s.schema.Version && o.Flatmap == nil {
		if v, err := o.DecodeUnmarked(s.block().Type()); err == nil {
			return s.block().NullWriteOnly(v), true
		}
	}
	in.Prepare(t)
	s.inSlot(func() {
		session := sessionOf(in, event.OpEvaluate)
		defer session.End()
		if s.p = s.providerFor(t, session, in); s.p != nil && !session.Failed() {
			plain := *o
			plain.Identity = nil // of no interest here
			var pr prior
			pr, ok = s.upgraded(&plain)
			v = pr.value
		}
	})
	return v, ok
}
