//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// unrecorded are the facts about the instances of a workspace that have no rows. Late results came after the
// claims of their runs were gone, and stay until a run that has read them has a new result for the instance.
// Freed operations belong to runs that were freed by force, and their results have not come.
type unrecorded struct {
	late  []store.LateResult
	freed []store.FreedOperation // of runs that no run with claims has found yet
	names state.RowSet           // of both
	ids   []lateID
}

// lateID names a late result.
type lateID struct {
	run, address, deposed string
	batch                 int64
}

// unrecordedOf selects the late results and freed operations in the workspace with the name $1. A late
// result has the number of its batch.
const unrecordedOf = `SELECT l.run, false AS freed, l.batch AS number, l.address, l.deposed, l.sealed, l.body, '' AS action, l.at
		FROM mayfly.workspaces w JOIN mayfly.late l ON l.workspace = w.id WHERE w.name = $1
	UNION ALL SELECT o.run, true, o.id, o.key, '', false, o.object, o.action, o.began
		FROM mayfly.workspaces w JOIN mayfly.operations o ON o.workspace = w.id JOIN mayfly.runs r ON r.id = o.run WHERE w.name = $1 AND o.ended IS NULL AND r.state = 'forced'`

// unrecordedRow is a row of unrecordedOf.
type unrecordedRow struct {
	lateID
	freed  bool
	sealed bool
	body   []byte
	action string
	at     time.Time
	run    store.LockInfo
	found  bool // by a run with claims
}

// unrecorded returns the late results and freed operations in a workspace.
func (t *tx) unrecorded(workspace string) (*unrecorded, error) {
	out := &unrecorded{names: state.RowSet{}}
	err := t.rows(func(scan func(...any) error) error {
		var r unrecordedRow
		var info string
		if err := scan(&r.lateID.run, &r.freed, &r.batch, &r.address, &r.deposed, &r.sealed, &r.body, &r.action, &r.at, &info, &r.found); err != nil {
			return err
		}
		var err error
		if r.run, err = store.ParseLockInfo([]byte(info)); err == nil {
			err = out.add(t.Store, r)
		}
		if err != nil {
			return fmt.Errorf("reading what is not recorded about %s: %w", r.address, err)
		}
		return nil
	}, `SELECT u.*, r.info, r.folded_by IS NOT NULL FROM (`+unrecordedOf+`) u JOIN mayfly.runs r ON r.id = u.run ORDER BY u.at, u.address, u.deposed`, workspace)
	return out, err
}

// add adds a late result, or an operation.
func (u *unrecorded) add(s *Store, r unrecordedRow) error {
	name, version, err := r.name(r.freed)
	if err != nil {
		return err
	}
	u.names[name] = version
	if r.freed {
		c, err := state.DecodeChange(r.body)
		if !r.found {
			u.freed = append(u.freed, store.FreedOperation{Unfinished: state.Unfinished{Object: c.Object, Action: r.action}, Run: r.run, Began: r.at})
		}
		return err
	}
	late := store.LateResult{Run: r.run, At: r.at}
	if r.body != nil {
		late.Change, err = s.unseal(r.sealed, r.body)
	} else {
		late.Change.Object.Deposed = addr.Deposed(r.deposed)
		late.Change.Object.Instance, err = addr.ParseInstance(r.address)
	}
	u.late, u.ids = append(u.late, late), append(u.ids, r.lateID)
	return err
}

// name returns the name for scopes, of a late result or of an operation with this number.
func (id lateID) name(freed bool) (state.RowName, state.Version, error) {
	version, err := uuid.Parse(id.run)
	if freed {
		return state.FreedOperation(id.address, id.run, id.batch), state.Version(version), err
	}
	return state.LateResult(id.address, id.run, id.batch), state.Version(version), err
}

// settling returns the runs and batches of the late results that the run has read and settles by new results
// for instances. It settles none that came after that: no plan has shown it.
func (c *claim) settling(settles func(address string) bool) (runs pq.StringArray, batches []int64) {
	for _, id := range c.read {
		if settles(id.address) {
			runs, batches = append(runs, id.run), append(batches, id.batch)
		}
	}
	return runs, batches
}

// settle is a part of a statement that settles late results about the instances of given, as far as the two
// parameters from the n-th on name them.
func settle(n int) string {
	return fmt.Sprintf(`
settled AS (DELETE FROM mayfly.late l USING given g, unnest($%d::uuid[], $%d::bigint[]) u(run, batch) WHERE l.run = u.run AND l.batch = u.batch AND l.workspace = g.workspace AND l.address = g.address),`, n, n+1)
}

// settleAll settles all late results that the run has read, as a push does.
func settleAll(t *tx, c *claim) error {
	runs, batches := c.settling(func(string) bool { return true })
	_, err := t.exec(`DELETE FROM mayfly.late l USING unnest($1::uuid[], $2::bigint[]) u(run, batch) WHERE l.run = u.run AND l.batch = u.batch`, runs, pq.Array(batches))
	return err
}

// moveLate moves late results that the run has read to the new addresses of their instances.
func moveLate(t *tx, c *claim) error {
	for _, id := range c.read {
		if to, moved := c.scope.Moved[id.address]; moved {
			if err := moveResult(t, id, to); err != nil {
				return fmt.Errorf("moving the late result for %s: %w", id.address, err)
			}
		}
	}
	return nil
}

// moveResult moves a late result. If the same batch has one for the new address, it stays where it is.
func moveResult(t *tx, id lateID, to string) error {
	instance, err := addr.ParseInstance(to)
	if err != nil {
		return err
	}
	var sealed bool
	var body []byte
	if _, err = t.one(`SELECT sealed, body FROM mayfly.late WHERE run = $1 AND batch = $2 AND address = $3 AND deposed = $4`, []any{id.run, id.batch, id.address, id.deposed}, &sealed, &body); err != nil {
		return err
	}
	if body != nil {
		change, err := t.unseal(sealed, body)
		if err != nil {
			return err
		}
		change.Object.Instance = instance
		if body, sealed, err = t.seal(state.EncodeChange(change)); err != nil {
			return err
		}
	}
	_, err = t.exec(`UPDATE mayfly.late l SET address = $5, sealed = $6, body = $7 WHERE run = $1 AND batch = $2 AND address = $3 AND deposed = $4
		AND NOT EXISTS (SELECT 1 FROM mayfly.late o WHERE o.run = $1 AND o.batch = $2 AND o.address = $5 AND o.deposed = $4)`, id.run, id.batch, id.address, id.deposed, to, sealed, body)
	return err
}

// sealLate encrypts late results by the present rules. Those that cannot be read stay as they are.
func (t *tx) sealLate(workspace int64) error {
	if t.opt.Cipher == nil {
		return nil
	}
	type result struct {
		run, address, deposed string
		batch                 int64
		sealed                bool
		body                  []byte
	}
	var all []result
	err := t.rows(func(scan func(...any) error) error {
		var r result
		err := scan(&r.run, &r.batch, &r.address, &r.deposed, &r.sealed, &r.body)
		all = append(all, r)
		return err
	}, `SELECT run, batch, address, deposed, sealed, body FROM mayfly.late WHERE workspace = $1 AND body IS NOT NULL`, workspace)
	for _, r := range all {
		if err != nil {
			return err
		}
		c, unreadable := t.unseal(r.sealed, r.body)
		if unreadable != nil {
			continue
		}
		if r.body, r.sealed, err = t.seal(state.EncodeChange(c)); err == nil {
			_, err = t.exec(`UPDATE mayfly.late SET sealed = $5, body = $6 WHERE run = $1 AND batch = $2 AND address = $3 AND deposed = $4`, r.run, r.batch, r.address, r.deposed, r.sealed, r.body)
		}
	}
	return err
}

// longUnit is more bytes than an address has that fits into all indexes however little it can be compressed.
const longUnit = 2500

// fits fails if the result of a run on one of some units might not fit into an index of the server. Late
// results and replaced versions have the longest rows there, and an operation must not come to nothing
// because of them after its provider has carried it out. How much the server can compress an address is not
// known here, so a row is written and removed.
func fits(t *tx, c *claim, units []string) error {
	var long []string
	for _, u := range units {
		if len(u) > longUnit {
			long = append(long, u)
		}
	}
	if len(long) == 0 {
		return nil
	}
	_, err := t.exec(`INSERT INTO mayfly.late (run, batch, workspace, address, deposed, sealed) SELECT $1, 0, $2, u, '00000000', false FROM unnest($3::text[]) u`, c.run, c.workspace, pq.StringArray(long))
	if err == nil {
		_, err = t.exec(`DELETE FROM mayfly.late WHERE run = $1 AND batch = 0`, c.run)
	}
	return err
}
