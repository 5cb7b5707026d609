//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// CheckUnlock implements store.Recoverer.
func (m *manager) CheckUnlock(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.unlockable(ctx, id)
	return err
}

// Unfinished implements store.Unfinisher.
func (m *manager) Unfinished(ctx context.Context, id string) ([]state.Unfinished, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, err := m.unlockable(ctx, id)
	if err != nil {
		return nil, err
	}
	return held.begun, nil
}

// suspect gives the objects of operations that a freed run has begun a new version, which is the run's. The
// former version stays in the history with the run that made it.
const suspect = `WITH freed AS (SELECT DISTINCT p.workspace, p.key, p.run FROM mayfly.operations p JOIN mayfly.runs r ON r.id = p.run
	WHERE p.run = $1 AND p.ended IS NULL AND r.state = 'forced'),
marked AS (INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT workspace, key, 'object', run FROM freed ON CONFLICT DO NOTHING),
replaced AS (INSERT INTO mayfly.past (workspace, address, deposed, version, run, at, sealed, body, shown, next_run, until)
	SELECT o.workspace, o.address, o.deposed, o.version, o.run, o.at, o.sealed, o.body, o.shown, f.run, statement_timestamp()
	FROM freed f JOIN mayfly.objects o ON o.workspace = f.workspace AND o.address = f.key)
UPDATE mayfly.objects o SET version = gen_random_uuid(), run = f.run, at = statement_timestamp() FROM freed f
WHERE o.workspace = f.workspace AND o.address = f.key`

// ForceUnlock implements store.Recoverer. The next run lists the operations that the run has begun and not
// ended.
func (m *manager) ForceUnlock(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, err := m.unlockable(ctx, id)
	if err != nil {
		return err
	}
	return m.store.again(ctx, nil, func(t *tx) error {
		workspace, err := t.gate(m.name)
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.runs SET state = 'forced', ended = clock_timestamp() WHERE id = $1 AND state IN ('claimed', 'lapsed')`, held.run)
		}
		if err == nil {
			_, err = t.exec(`DELETE FROM mayfly.claims c USING mayfly.runs r WHERE r.id = c.run AND r.id = $1 AND r.state = 'forced'`, held.run)
		}
		if err == nil { // plans that were made before may have seen the objects as they were before the operations
			_, err = t.exec(suspect, held.run)
		}
		if err == nil && len(held.begun) > 0 {
			err = ensureState(t, workspace, held.info.Version)
		}
		return err
	})
}

// ensureState stores an empty state if there is none. Plans from before have another lineage then, and later
// plans find the operations that were freed.
func ensureState(t *tx, workspace int64, version string) error {
	f, err := state.NewFile(version, rand.Reader)
	if err != nil {
		return err
	}
	b, err := store.Encode(f, t.opt.Cipher)
	if err == nil {
		_, err = t.exec(`UPDATE mayfly.workspaces SET document = $2, serial = serial + 1 WHERE id = $1 AND document = ''`, workspace, b)
	}
	return err
}

// shortestID is how much of the ID of a run names it, as the list of runs shows it.
const shortestID = 8

// unlockable returns the run whose claims have that ID, or the only one whose ID begins so. m.mu is held.
func (m *manager) unlockable(ctx context.Context, id string) (*held, error) {
	all, err := m.holders(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, store.ErrNotLocked
	}
	var beginning []*held
	for _, h := range all {
		switch {
		case h.info.ID == id && id != "":
			return h, nil
		case len(id) >= shortestID && strings.HasPrefix(h.info.ID, id):
			beginning = append(beginning, h)
		}
	}
	if len(beginning) == 1 {
		return beginning[0], nil
	}
	return nil, &store.LockError{Info: &all[0].info, Err: fmt.Errorf("the lock's ID is not %q", id)}
}

// RefuseRun implements store.Recoverer.
func (*manager) RefuseRun(context.Context, store.LockInfo) error { return nil }
