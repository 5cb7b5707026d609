//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// fold adds the changes of runs that have no claims any more to the serial, and returns the traces of those
// that did not end as they should. Runs that this one has folded before count again: the answer may have been
// lost. It sets the serial of the stored state. The gate is held.
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
	}, `SELECT id, state, commits, folded_by FROM (SELECT * FROM mayfly.runs WHERE workspace = $1 AND folded_by IS NULL UNION ALL SELECT * FROM mayfly.runs WHERE id = ANY($3::uuid[]) AND folded_by = $2) r
		WHERE id <> $2 AND state NOT IN ('waiting', 'claimed') AND NOT EXISTS (SELECT 1 FROM mayfly.claims c WHERE c.run = r.id) ORDER BY began`, c.workspace, c.run, pq.StringArray(c.folded))
	all, some, commits := &store.Recovered{Path: m.path(), Saved: true}, false, 0
	var folded []string
	for _, l := range runs {
		if folded = append(folded, l.id); !l.folded.Valid {
			commits += l.commits
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
	}
	c.folded = append(c.folded, folded...)
	if err == nil {
		_, err = t.one(`WITH folded AS (UPDATE mayfly.runs SET folded_by = $2 WHERE id = ANY($3::uuid[])) UPDATE mayfly.workspaces SET serial = serial + $4 WHERE id = $1 RETURNING serial`,
			[]any{c.workspace, c.run, pq.StringArray(folded), commits}, &c.serial)
	}
	if !some {
		all = nil
	}
	return all, err
}

// unfold leaves the runs that a run has folded to the next one, because it is refused and reports nothing. It
// takes back the marks of the run, which changes nothing.
func (m *manager) unfold(ctx context.Context, c *claim) error {
	return m.store.again(ctx, nil, func(t *tx) error {
		_, err := t.gate(m.name)
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.workspaces SET serial = serial - COALESCE((SELECT sum(commits) FROM mayfly.runs WHERE id = ANY($3::uuid[]) AND folded_by = $2), 0) WHERE id = $1`, c.workspace, c.run, pq.StringArray(c.folded))
		}
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.runs SET folded_by = NULL WHERE id = ANY($2::uuid[]) AND folded_by = $1`, c.run, pq.StringArray(c.folded))
		}
		if err == nil {
			err = unmark(t, c.run)
		}
		return err
	})
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
