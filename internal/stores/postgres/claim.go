//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// claim is the claim of a run on the whole state, and the row of the run.
type claim struct {
	*Store
	run       string // its number in the database, which no other run ever has
	workspace int64
	serial    uint64 // of the stored state when it was claimed
	info      store.LockInfo
	alone     bool             // it was claimed without the lock, and ends with the run or the write
	found     *store.Recovered // left by runs before; nil for none
	stop      context.CancelFunc
	batches   int64 // that journals have sent
	numbers   int64 // of operations and openings; protected by the journal
}

// held is a claim of another run.
type held struct {
	run   string
	text  string // the stored form of info
	info  store.LockInfo
	alive bool
	begun []state.Unfinished
}

// take claims the whole state. It fails with a *store.LockError if another run has a claim. m.mu is held.
func (m *manager) take(ctx context.Context, info store.LockInfo, alone bool) error {
	id, err := uuid.NewRandomFromReader(rand.Reader)
	if err != nil {
		return fmt.Errorf("choosing the number of a run: %w", err)
	}
	if info.Created.IsZero() {
		made, err := store.NewLockInfo(info.Operation, info.Version, time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		info = made
	}
	info.Path = m.path()
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	c := &claim{Store: m.store, run: id.String(), info: info, alone: alone}
	err = m.store.again(ctx, nil, func(t *tx) error {
		if _, err := t.exec(`INSERT INTO mayfly.workspaces (name) VALUES ($1) ON CONFLICT DO NOTHING`, m.name); err != nil {
			return err
		}
		if c.workspace, err = t.gate(m.name); err != nil {
			return err
		}
		repeated, err := t.one(`SELECT 1 FROM mayfly.runs WHERE id = $1`, []any{c.run}, new(int))
		if err == nil && !repeated {
			err = m.free(t, c.workspace)
		}
		if err == nil {
			c.found, err = m.fold(t, c)
		}
		if err == nil {
			_, err = t.one(`SELECT serial FROM mayfly.workspaces WHERE id = $1`, []any{c.workspace}, &c.serial)
		}
		if err == nil && !repeated {
			_, err = t.exec(`INSERT INTO mayfly.runs (id, workspace, state, info, lease_until) VALUES ($1, $2, 'claimed', $3, clock_timestamp() + $4 * interval '1 microsecond')`, c.run, c.workspace, string(text), m.store.opt.Lease.Microseconds())
		}
		if err == nil && !repeated {
			_, err = t.exec(`INSERT INTO mayfly.claims (workspace, key, run, mode) VALUES ($1, '', $2, 'x')`, c.workspace, c.run)
		}
		return err
	})
	if err != nil {
		return err
	}
	var beating context.Context
	beating, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { _ = bug.Call(func() { c.beat(beating) }) }()
	m.claim = c
	m.store.note(c.run, true)
	return nil
}

// beat renews the lease until ctx ends. A lease that has lapsed is not renewed.
func (c *claim) beat(ctx context.Context) {
	ticker := time.NewTicker(c.opt.Lease / 6)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// If this fails, the server refuses the next operation, or the next beat succeeds.
		_ = c.once(ctx, nil, func(t *tx) error {
			_, err := t.exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() + $2 * interval '1 microsecond' WHERE id = $1 AND state = 'claimed' AND lease_until > clock_timestamp()`, c.run, c.opt.Lease.Microseconds())
			return err
		})
	}
}

// free takes away the claims of runs whose lease has lapsed and that have no operation under way. It fails
// with a *store.LockError if a claim is left. The gate is held.
func (m *manager) free(t *tx, workspace int64) error {
	h, err := t.holder(workspace)
	if err != nil || h == nil {
		return err
	}
	if !h.alive && len(h.begun) == 0 {
		// The run may have begun something, or renewed its lease, since these rows were read: then it has
		// changed its row, on which this waits.
		reaped, err := t.one(`SELECT 1 FROM mayfly.runs WHERE id = $1 AND lease_until <= clock_timestamp() FOR UPDATE`, []any{h.run}, new(int))
		if err == nil {
			h, err = t.holder(workspace)
		}
		if err != nil {
			return err
		}
		if reaped && h != nil && !h.alive && len(h.begun) == 0 {
			_, err = t.exec(`UPDATE mayfly.runs SET state = 'lapsed', ended = clock_timestamp() WHERE id = $1`, h.run)
			if err == nil {
				_, err = t.exec(`DELETE FROM mayfly.claims WHERE run = $1`, h.run)
			}
			return err
		}
	}
	return h.lockError()
}

// lockError returns the error for a claim that others have to wait for; nil for none.
func (h *held) lockError() error {
	if h == nil {
		return nil
	}
	e := &store.LockError{Info: &h.info}
	if !h.alive {
		var sb strings.Builder
		for _, u := range h.begun {
			fmt.Fprintf(&sb, "\n  - %s (%s)", u.Object, u.Action)
		}
		e.Err = fmt.Errorf("the run has given no sign of life for some time, but these operations have begun and not ended, so their objects may still be changing:%s", sb.String())
	}
	return e
}

// holder returns the claim on a workspace; nil for none.
func (t *tx) holder(workspace int64) (*held, error) {
	var h held
	found, err := t.one(`SELECT r.id, r.info, r.lease_until > clock_timestamp() FROM mayfly.claims c JOIN mayfly.runs r ON r.id = c.run WHERE c.workspace = $1 LIMIT 1`, []any{workspace}, &h.run, &h.text, &h.alive)
	if err != nil || !found {
		return nil, err
	}
	if h.info, err = store.ParseLockInfo([]byte(h.text)); err != nil {
		return nil, err
	}
	h.begun, err = t.unfinished(h.run)
	return &h, err
}

// unfinished returns the operations that a run has begun and not ended.
func (t *tx) unfinished(run string) (out []state.Unfinished, err error) {
	err = t.rows(func(scan func(...any) error) error {
		var object []byte
		var action string
		if err := scan(&object, &action); err != nil {
			return err
		}
		change, err := state.DecodeChange(object)
		out = append(out, state.Unfinished{Object: change.Object, Action: action})
		return err
	}, `SELECT object, action FROM mayfly.operations WHERE run = $1 AND ended IS NULL ORDER BY id`, run)
	return out, err
}

// held returns the claim on the workspace; nil for none. m.mu is held.
func (m *manager) held(ctx context.Context) (h *held, err error) {
	err = m.store.again(ctx, reading, func(t *tx) error {
		var workspace int64
		if _, err := t.one(`SELECT id FROM mayfly.workspaces WHERE name = $1`, []any{m.name}, &workspace); err != nil {
			return err
		}
		h, err = t.holder(workspace)
		return err
	})
	return h, err
}

// holder returns the claim of another run as an error; nil for none. m.mu is held.
func (m *manager) holder(ctx context.Context) (*store.LockError, error) {
	h, err := m.held(ctx)
	if err != nil || h == nil {
		return nil, err
	}
	return &store.LockError{Info: &h.info}, nil
}

// fold adds the changes of runs that are not alive to the serial, and returns the traces of those that did
// not end as they should. Runs that this one has folded before count again: the answer may have been lost.
// The gate is held.
func (m *manager) fold(t *tx, c *claim) (*store.Recovered, error) {
	type left struct {
		id, state string
		commits   int
		folded    sql.NullString
	}
	var runs []left
	err := t.rows(func(scan func(...any) error) error {
		var l left
		err := scan(&l.id, &l.state, &l.commits, &l.folded)
		runs = append(runs, l)
		return err
	}, `SELECT id, state, commits, folded_by FROM mayfly.runs WHERE workspace = $1 AND id <> $2 AND (folded_by IS NULL OR folded_by = $2) ORDER BY began`, c.workspace, c.run)
	all, some := &store.Recovered{Path: m.path(), Saved: true}, false
	for _, l := range runs {
		if err == nil && !l.folded.Valid && l.commits > 0 {
			_, err = t.exec(`UPDATE mayfly.workspaces SET serial = serial + 1 WHERE id = $1`, c.workspace)
		}
		if err == nil && l.state != "ended" {
			all.Changes, some = all.Changes+l.commits, true
			var begun []state.Unfinished
			begun, err = t.unfinished(l.id)
			all.Unfinished = append(all.Unfinished, begun...)
		}
		if err == nil && l.state != "ended" {
			all.Open, err = t.openings(all.Open, l.id)
		}
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.runs SET folded_by = $2 WHERE id = $1`, l.id, c.run)
		}
	}
	if !some {
		all = nil
	}
	return all, err
}

// openings appends the ephemeral instances that a run has left open.
func (t *tx) openings(open []state.Opening, run string) ([]state.Opening, error) {
	err := t.rows(func(scan func(...any) error) error {
		var o state.Opening
		err := scan(&o.Instance, &o.Provider, &o.Since)
		open = append(open, o)
		return err
	}, `SELECT instance, provider, since FROM mayfly.openings WHERE run = $1 ORDER BY id`, run)
	return open, err
}

// fence fails unless the claim is still there, and keeps it until the transaction ends.
func (c *claim) fence(t *tx) error {
	there, err := t.one(`SELECT 1 FROM mayfly.runs WHERE id = $1 AND state = 'claimed' FOR NO KEY UPDATE`, []any{c.run}, new(int))
	if err == nil && !there {
		return fmt.Errorf("%w: it was released by force, or not renewed in time", store.ErrLockLost)
	}
	return err
}

// forget removes the records of operations that the stored rows have the results of.
func (c *claim) forget(t *tx) error {
	_, err := t.exec(`UPDATE mayfly.operations SET ended = clock_timestamp() WHERE run = $1 AND ended IS NULL`, c.run)
	if err == nil {
		_, err = t.exec(`DELETE FROM mayfly.openings WHERE run = $1`, c.run)
	}
	return err
}

// release gives the claim back. A run that has begun and not ended is left for the next one to find. m.mu is
// held.
func (m *manager) release(ctx context.Context) error {
	c, ending := m.claim, "ended"
	c.stop()
	if m.journal != nil {
		m.journal.stop()
		ending = "left"
	}
	err := m.store.again(ctx, nil, func(t *tx) error {
		_, err := t.exec(`UPDATE mayfly.runs SET state = $2, ended = clock_timestamp() WHERE id = $1 AND state = 'claimed'`, c.run, ending)
		if err == nil {
			_, err = t.exec(`DELETE FROM mayfly.claims WHERE run = $1`, c.run)
		}
		return err
	})
	m.claim, m.journal = nil, nil
	m.store.note(c.run, false)
	return err
}
