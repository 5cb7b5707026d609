package ephemeral

import (
	"context"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/lease"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
)

// unconfigured stands for a provider whose configuration has unknown parts, in a pool that defers. It is
// never called.
var unconfigured provider.Reader = unconfiguredProvider{}

type unconfiguredProvider struct{ provider.Reader }

// known returns a provider of the pool, nil for one that is unconfigured, which h notes then.
func (h *holding) known(p provider.Reader) provider.Reader {
	if p == unconfigured {
		h.unconfigured = true
		return nil
	}
	return p
}

// Unconfigured reports whether the session was asked for a provider whose configuration has unknown parts.
func (s *Session) Unconfigured() bool { return s.unconfigured }

// OutOfReach returns the instances that the session was asked for and that cannot be opened before a later
// plan. Their objects are unknown.
func (s *Session) OutOfReach() []*eval.Instance { return s.outOfReach }

// PutOff returns the dependencies on the instances that the session lacks because their providers have put
// off opening them.
func (s *Session) PutOff() (deps []plan.Dep) {
	for _, in := range s.putOff {
		deps = append(deps, plan.Dep{Resource: in.Addr().Abs(), Key: in.Addr().Key})
	}
	return deps
}

func (r *Rules) outOfReach(t *future.Task, in *eval.Instance) bool {
	return r.OutOfReach != nil && r.OutOfReach(t, in)
}

// unreachable returns the result for an instance that cannot be opened before a later plan, because
// the providers of the given instances have put off opening them, if there are any: its object is unknown.
func (o *opener) unreachable(putOff ...*eval.Instance) lease.Thing[content] {
	return lease.Thing[content]{
		Value: content{object: eval.Unopened(o.in), outOfReach: true, putOff: putOff},
		Close: func(context.Context) {},
		After: o.s.End,
	}
}

// lacks reports whether the instance needs a provider or another instance that cannot be had before a later
// plan.
func (o *opener) lacks() bool { return o.s.unconfigured || len(o.s.outOfReach) > 0 }

// putOff reports whether a provider has put off an opening, where it may.
func (o *opener) putOff(resp provider.OpenResponse) bool { return o.Deferring && resp.Deferred != "" }
