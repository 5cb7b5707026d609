//go:build !mayfly_no_postgres

package postgres

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// claimKeys are claims in the form that statements take them in.
type claimKeys struct{ keys, modes []string }

func keysOf(c state.Claims) (out claimKeys) {
	for s, mode := range c {
		out.keys, out.modes = append(out.keys, s.Key()), append(out.modes, string(mode))
	}
	return out
}

// held is a run that has claims, or waits for some.
type held struct {
	run     string
	text    string // the stored form of info
	info    store.LockInfo
	waiting bool
	alive   bool
	begun   []state.Unfinished // if it is not alive
}

// conflict is a claim of another run on a key.
type conflict struct {
	key string
	*held
}

// noTicket is the ticket of a run that has not waited: all that wait come before it.
const noTicket = math.MaxInt64

// conflictsShown is how many conflicts an error shows at most.
const conflictsShown = 20

// conflicts returns claims of other runs that exclude the wanted ones: at most the given number, or all
// if that is 0. A claim of a run that waits counts if that has come first. The gate is held.
func (t *tx) conflicts(c *claim, ticket int64, wanted claimKeys, most int) ([]conflict, error) {
	limit := any(most)
	if most == 0 {
		limit = nil
	}
	var out []conflict
	runs := map[string]*held{}
	err := t.rows(func(scan func(...any) error) error {
		var key, status string
		var h held
		if err := scan(&key, &h.run, &h.text, &status, &h.alive); err != nil {
			return err
		}
		if runs[h.run] == nil {
			var err error
			if h.info, err = store.ParseLockInfo([]byte(h.text)); err != nil {
				return err
			}
			h.waiting = status == "waiting"
			runs[h.run] = &h
		}
		out = append(out, conflict{key, runs[h.run]})
		return nil
	}, `SELECT w.key, r.id, r.info, r.state, r.lease_until > clock_timestamp() AND r.state <> 'lapsed'
		FROM unnest($2::text[], $3::text[]) w(key, mode)
		JOIN mayfly.claims c ON c.workspace = $1 AND c.key = w.key AND NOT (c.mode::text = w.mode AND w.mode <> 'x')
		JOIN mayfly.runs r ON r.id = c.run
		WHERE r.id <> $4 AND (r.state IN ('claimed', 'lapsed') OR r.state = 'waiting' AND r.ticket < $5)
		ORDER BY r.ticket, w.key LIMIT $6`, c.workspace, pq.StringArray(wanted.keys), pq.StringArray(wanted.modes), c.run, ticket, limit)
	for _, h := range runs {
		if err == nil && !h.alive {
			h.begun, err = t.unfinished(h.run)
		}
	}
	return out, err
}

// dependOnAll gives lapsed runs that had claimed the whole state intents on the dependents of all blocks:
// they may still be creating an object, which may depend on any of them.
const dependOnAll = `INSERT INTO mayfly.claims (workspace, key, run, mode)
	SELECT r.workspace, 'on ' || b.block, r.run, 'i' FROM (SELECT DISTINCT c.workspace, c.run FROM mayfly.claims c JOIN mayfly.operations o ON o.run = c.run AND o.ended IS NULL
		WHERE c.run = ANY($1) AND c.key = '' AND NOT EXISTS (SELECT 1 FROM mayfly.objects x WHERE x.workspace = c.workspace AND x.address = o.key)) r
	CROSS JOIN LATERAL (SELECT DISTINCT block FROM mayfly.objects WHERE workspace = r.workspace) b ON CONFLICT DO NOTHING`

// reap ends runs whose lease has lapsed: their claims are free but for the ones on objects with an operation
// that has begun and not ended, and for the intents that belong to these. Without intents, others would read
// all instances of a resource while one of them may still be changing. The gate is held.
func (m *manager) reap(t *tx, workspace int64) error {
	// A run may have begun something, or renewed its lease, since these rows were read: then it has changed
	// its row, for which this waits.
	var lapsed []string
	err := t.rows(func(scan func(...any) error) error {
		var run string
		err := scan(&run)
		lapsed = append(lapsed, run)
		return err
	}, `SELECT id FROM mayfly.runs WHERE workspace = $1 AND folded_by IS NULL AND state = 'claimed' AND lease_until <= clock_timestamp() ORDER BY id FOR UPDATE`, workspace)
	if err == nil && len(lapsed) > 0 {
		_, err = t.exec(`UPDATE mayfly.runs SET state = 'lapsed', ended = clock_timestamp() WHERE id = ANY($1)`, pq.StringArray(lapsed))
	}
	if err == nil && len(lapsed) > 0 {
		_, err = t.exec(dependOnAll, pq.StringArray(lapsed))
	}
	var runs, intents []string
	if err == nil { // also for a run that had claimed the whole state
		err = t.rows(func(scan func(...any) error) error {
			var run, key string
			if err := scan(&run, &key); err != nil {
				return err
			}
			of, err := addr.ParseInstance(key)
			for _, s := range around(of) {
				runs, intents = append(runs, run), append(intents, s.Key())
			}
			return err
		}, `WITH open AS (SELECT DISTINCT o.key, o.run FROM mayfly.operations o JOIN mayfly.runs r ON r.id = o.run WHERE o.workspace = $1 AND o.ended IS NULL AND r.state = 'lapsed'),
			put AS (INSERT INTO mayfly.claims (workspace, key, run, mode) SELECT $1, key, run, 'x'::"char" FROM open ON CONFLICT DO NOTHING)
			SELECT run, key FROM open`, workspace)
	}
	if err == nil && len(runs) > 0 {
		_, err = t.exec(`INSERT INTO mayfly.claims (workspace, key, run, mode) SELECT DISTINCT $1::bigint, i.key, i.run, 'i'::"char" FROM unnest($2::uuid[], $3::text[]) i(run, key)
			ON CONFLICT (workspace, key, run) DO UPDATE SET mode = 'i'`, workspace, pq.StringArray(runs), pq.StringArray(intents))
	}
	if err == nil { // intents on dependents do not say which object they belong to
		_, err = t.exec(`DELETE FROM mayfly.claims c USING mayfly.runs r WHERE c.workspace = $1 AND r.id = c.run AND r.state = 'lapsed' AND c.key <> ''
			AND NOT EXISTS (SELECT 1 FROM mayfly.operations o WHERE o.workspace = $1 AND o.run = c.run AND o.ended IS NULL AND (o.key = c.key OR c.mode = 'i' AND starts_with(c.key, 'on ')))
			AND NOT EXISTS (SELECT 1 FROM unnest($2::uuid[], $3::text[]) i(run, key) WHERE i.run = c.run AND i.key = c.key)`, workspace, pq.StringArray(runs), pq.StringArray(intents))
	}
	if err == nil {
		_, err = t.exec(`UPDATE mayfly.claims c SET mode = 'i' FROM mayfly.runs r WHERE c.workspace = $1 AND r.id = c.run AND r.state = 'lapsed' AND c.key = ''`, workspace)
	}
	if err == nil {
		_, err = t.exec(`DELETE FROM mayfly.claims c USING mayfly.runs r WHERE c.workspace = $1 AND r.id = c.run AND r.state = 'lapsed' AND c.key = ''
			AND NOT EXISTS (SELECT 1 FROM mayfly.claims x WHERE x.run = c.run AND x.key <> '')`, workspace)
	}
	if err == nil {
		_, err = t.exec(`DELETE FROM mayfly.runs WHERE workspace = $1 AND folded_by IS NULL AND state = 'waiting' AND lease_until <= clock_timestamp()`, workspace)
	}
	return err
}

// around returns the sets of instances that an instance belongs to.
func around(a addr.Instance) []state.Subject {
	out := []state.Subject{{Kind: state.AllInstances, Addr: a.Abs().String()}, {Kind: state.AllWithin, Addr: a.Config().String()}}
	for m := a.Module; !m.IsRoot(); m, _, _ = m.Parent() {
		out = append(out, state.Subject{Kind: state.AllWithin, Addr: a.Config().String(), Within: m.String()})
	}
	return out
}

// claimedError returns the error for claims of other runs that are in the way of a scope. For the whole
// state, it is a lock's error.
func claimedError(scope *state.Scope, found []conflict) error {
	if scope == wholeState {
		return found[0].lockError()
	}
	e := &store.ClaimedError{}
	for _, f := range found {
		e.Conflicts = append(e.Conflicts, store.Conflict{Subject: state.DescribeKey(f.key), Run: f.info, Waiting: f.waiting, Lapsed: f.begun})
	}
	return e
}

// lockError returns the error for a claim that others have to wait for.
func (h *held) lockError() error {
	e := &store.LockError{Info: &h.info}
	if !h.alive && len(h.begun) > 0 {
		var sb strings.Builder
		for _, u := range h.begun {
			fmt.Fprintf(&sb, "\n  - %s (%s)", u.Object, u.Action)
		}
		e.Err = fmt.Errorf("the run has given no sign of life for some time, but these operations have begun and not ended, so their objects may still be changing:%s", sb.String())
	}
	return e
}

// holders returns the runs that have claims in a workspace, the oldest first.
func (t *tx) holders(workspace int64) (out []*held, err error) {
	err = t.rows(func(scan func(...any) error) error {
		h := &held{}
		if err := scan(&h.run, &h.text, &h.alive); err != nil {
			return err
		}
		var err error
		h.info, err = store.ParseLockInfo([]byte(h.text))
		out = append(out, h)
		return err
	}, `SELECT r.id, r.info, r.lease_until > clock_timestamp() AND r.state = 'claimed' FROM mayfly.runs r
		WHERE r.workspace = $1 AND r.state IN ('claimed', 'lapsed') AND EXISTS (SELECT 1 FROM mayfly.claims c WHERE c.run = r.id) ORDER BY r.ticket`, workspace)
	for _, h := range out {
		if err == nil {
			h.begun, err = t.unfinished(h.run)
		}
	}
	return out, err
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

// excluded returns an error if a run that is not one of the store's own has a claim. The gate is held.
func (m *manager) excluded(t *tx, workspace int64) error {
	if err := m.reap(t, workspace); err != nil {
		return err
	}
	all, err := t.holders(workspace)
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range all {
		if !m.store.noted(h.run) {
			errs = append(errs, h.lockError())
		}
	}
	return errors.Join(errs...)
}
