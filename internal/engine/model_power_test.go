package engine_test

import (
	"errors"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/state"
)

// heldPower ends an apply as a kill does: from some point on, no provider is asked for a change and nothing
// is recorded.
type heldPower struct {
	mu   sync.Mutex
	left int // points until then; 0 for never
	off  bool
}

var errKilled = errors.New("the run was killed")

// point passes a point. It returns an error if the power is off.
func (p *heldPower) point() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return nil
	}
	if p.left--; p.left == 0 {
		p.left, p.off = 1, true
	}
	if p.off {
		return errKilled
	}
	return nil
}

// around has a change pass a point before and after the provider makes it.
func (p *heldPower) around(through func(provider.ApplyRequest, heldCall) (provider.ApplyResponse, diag.List)) func(provider.ApplyRequest, heldCall) (provider.ApplyResponse, diag.List) {
	return func(req provider.ApplyRequest, call heldCall) (provider.ApplyResponse, diag.List) {
		if err := p.point(); err != nil {
			return provider.ApplyResponse{}, diag.Errorf("Killed", "%s", err)
		}
		resp, diags := through(req, call)
		if err := p.point(); err != nil {
			return provider.ApplyResponse{}, diag.Errorf("Killed", "%s", err)
		}
		return resp, diags
	}
}

// heldJournal is a journal that the next run begins with if the power goes off.
type heldJournal struct {
	leakJournal
	power   *heldPower
	ends    sync.Mutex // protects changes
	changes []state.ObjectChange
}

// Begin implements state.Journal.
func (j *heldJournal) Begin(o addr.Object, action string) (uint64, error) {
	if err := j.power.point(); err != nil {
		return 0, err
	}
	return j.leakJournal.Begin(o, action)
}

// Commit implements state.Journal.
func (j *heldJournal) Commit(id uint64, changes ...state.ObjectChange) error {
	return j.end(changes, func() error { return j.leakJournal.Commit(id, changes...) })
}

// Fail implements state.Journal.
func (j *heldJournal) Fail(id uint64, changes ...state.ObjectChange) error {
	return j.end(changes, func() error { return j.leakJournal.Fail(id, changes...) })
}

func (j *heldJournal) end(changes []state.ObjectChange, write func() error) error {
	j.ends.Lock()
	defer j.ends.Unlock()
	if err := j.power.point(); err != nil {
		return err
	}
	j.changes = append(j.changes, changes...)
	return errors.Join(write(), j.power.point())
}
