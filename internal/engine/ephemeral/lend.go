package ephemeral

import (
	"errors"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/lease"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// Lend has the pool keep the object of a managed instance, with computed values that are stored nowhere,
// until s has ended and nothing claims or uses it any more. Then it is dropped.
func (s *Session) Lend(in *eval.Instance, object cty.Value) {
	l, err := s.pool.keep(in, func() (lease.Thing[content], error) {
		return lease.Thing[content]{Value: content{object: object}, After: func() { eval.DropLent(in) }}, nil
	})
	if err == nil { // otherwise the run is ending
		s.releases = append(s.releases, l.Release)
	}
}

// keep takes a lease on the computed values of an instance, without waiting for anything.
func (p *Pool) keep(in *eval.Instance, open func() (lease.Thing[content], error)) (*lease.Lease[eval.Use, content], error) {
	use := eval.Use{Kind: eval.UseInstance, Instance: in.Addr()}
	return p.Acquire(use, func(<-chan struct{}) error { return p.dropped(in) }, open)
}

// dropped reports that values are needed which were dropped, as nothing was left that had announced a use of
// them.
func (p *Pool) dropped(in *eval.Instance) error {
	p.run.Report(diag.Bug(in.Addr().String(), errors.New("values that were dropped before their last use")))
	return errReported
}

// borrowed returns the object of a managed instance with its computed values. h holds a lease on it then, for
// which the operation does not have to hurry, as nothing is open for longer.
func (p *Pool) borrowed(h *holding, in *eval.Instance) cty.Value {
	l, err := p.keep(in, func() (thing lease.Thing[content], err error) { return thing, p.dropped(in) })
	var v content
	if err == nil {
		h.releases = append(h.releases, l.Release)
		v, err = l.Value(p.opt.Ctx)
	}
	if err != nil {
		p.reportAcquire(eval.Use{Kind: eval.UseInstance, Instance: in.Addr()}, err)
		h.failed = true
		return eval.Unopened(in)
	}
	return v.object
}

// borrower opens nothing, but adds computed values to an evaluation for which no operation holds them.
type borrower struct {
	*Pool
	*eval.Opened
	holding
}

// Open implements eval.Opener.
func (b *borrower) Open(_ *future.Task, needs []eval.Need) {
	for _, n := range needs {
		if n.Resource.Block.Computed != nil {
			b.Add(n.Instance, b.borrowed(&b.holding, n.Instance))
		}
	}
}
