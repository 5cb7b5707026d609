package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/state"
)

// unknownObject returns the unknown object of an instance.
func unknownObject(in *eval.Instance) cty.Value {
	if in.Resource.Block.IsList() {
		return eval.UnknownList()
	}
	v := cty.UnknownVal(in.Resource.Block.Schema.Block.Type())
	if len(in.Resource.Block.Computed) == 0 {
		return v
	}
	w := withheld.Attributes{Object: addr.Object{Instance: in.Addr()}}
	withhold(&w, in.Resource.Block)
	return object.Unknown(&w, v.Type())
}

// recorded returns the object of an instance in st, with its marks, unknown if there is none. It calls the
// provider only to upgrade an object stored under another schema.
func (w *walk) recorded(t *future.Task, st *state.State, in *eval.Instance) cty.Value {
	op := w.instanceOp(in)
	o := st.Object(op.Obj)
	if o == nil {
		return unknownObject(in)
	}
	managed := in.Config().Addr.Mode == addr.Managed
	if op.IsCurrent(o) || !managed {
		if v, ok := op.Live(o); ok {
			return v
		}
	}
	v := unknownObject(in)
	if !managed {
		return v // data objects are not upgraded
	}
	in.Prepare(t)
	op.walk.inSession(t, in, event.OpEvaluate, func(s *ephemeral.Session) {
		po := in.Provider(t)
		if po == nil || !op.Use(s.Provider(t, po, in.Addr()), po.Addr) {
			return
		}
		plain := *o
		plain.Identity = nil // not needed for the value
		if pr, ok := op.Upgrade(&plain); ok {
			v = op.Mark(pr.Value, object.Config{Sensitive: o.Sensitive}, o.Withheld)
		}
	})
	return v
}
