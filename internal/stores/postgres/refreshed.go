//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// refreshed has the times at which objects were last read: one for all of a workspace, with the run that has
// noted it, and one each for those that were read alone since. The time for all counts for rows that are not
// newer, or that the same run has written.
const refreshed = `
ALTER TABLE mayfly.workspaces ADD COLUMN refreshed timestamptz, ADD COLUMN refreshed_by uuid;
CREATE TABLE mayfly.refreshed (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	address text NOT NULL,
	at timestamptz NOT NULL,
	PRIMARY KEY (workspace, address)
);`

// NoteReads implements state.ReadNoter.
func (j *journal) NoteReads(r state.Reads) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads = &r
}

// noteReads notes when objects were read by the plan of a run. Addresses without objects are forgotten. The
// gate is held.
func noteReads(t *tx, c *claim, r *state.Reads) error {
	if r == nil {
		return nil
	}
	if r.All {
		_, err := t.exec(`WITH each AS (DELETE FROM mayfly.refreshed WHERE workspace = $1 AND at <= $2)
			UPDATE mayfly.workspaces SET refreshed = $2, refreshed_by = $3 WHERE id = $1 AND (refreshed IS NULL OR refreshed < $2)`, c.workspace, r.At, c.run)
		return err
	}
	if len(r.Instances) == 0 {
		return nil
	}
	addresses := make([]string, len(r.Instances))
	for i, a := range r.Instances {
		addresses[i] = a.String()
	}
	_, err := t.exec(`WITH g AS (SELECT a.address, EXISTS (SELECT 1 FROM mayfly.objects o WHERE o.workspace = $1 AND o.address = a.address AND o.deposed = '') AS there
				FROM (SELECT DISTINCT address FROM unnest($2::text[]) u(address)) a),
			gone AS (DELETE FROM mayfly.refreshed r USING g WHERE r.workspace = $1 AND r.address = g.address AND NOT g.there)
		INSERT INTO mayfly.refreshed AS r (workspace, address, at) SELECT $1, g.address, $3 FROM g WHERE g.there
		ON CONFLICT (workspace, address) DO UPDATE SET at = excluded.at WHERE r.at < excluded.at`, c.workspace, pq.StringArray(addresses), r.At)
	return err
}

// LastRead implements store.ChangeReader. It reads addresses, and no objects.
func (p place) LastRead(ctx context.Context, age time.Duration) (out []addr.Instance, err error) {
	err = p.failed("read", p.store.again(ctx, reading, func(t *tx) error {
		out = nil
		return t.rows(func(scan func(...any) error) error {
			var address string
			if err := scan(&address); err != nil {
				return err
			}
			a, err := addr.ParseInstance(address)
			if err == nil && a.Resource.Mode == addr.Managed {
				out = append(out, a)
			}
			return err
		}, `SELECT o.address FROM mayfly.objects o JOIN mayfly.workspaces w ON w.id = o.workspace LEFT JOIN mayfly.refreshed r ON r.workspace = o.workspace AND r.address = o.address
			WHERE w.name = $1 AND o.deposed = ''
			AND COALESCE(GREATEST(r.at, CASE WHEN o.at <= w.refreshed OR o.run = w.refreshed_by THEN w.refreshed END), '-infinity') < clock_timestamp() - $2 * interval '1 microsecond'
			ORDER BY o.address`, p.name, age.Microseconds())
	}))
	return out, err
}
