//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// activeViews show the runs that are under way to readers, who have no right on the tables.
const activeViews = `
CREATE OR REPLACE VIEW mayfly_views.outputs WITH (security_barrier) AS
	SELECT w.name AS workspace, o.name, o.sensitive, o.value,
		COALESCE((SELECT r.sealed FROM mayfly.results r WHERE r.workspace = o.workspace AND r.key = 'output ' || o.name), false) AS encrypted
	FROM mayfly.shown_outputs o JOIN mayfly.workspaces w ON w.id = o.workspace;
CREATE OR REPLACE VIEW mayfly_views.runs WITH (security_barrier) AS
	SELECT w.name AS workspace, r.info->>'ID' AS run, r.info->>'Who' AS who, lower(regexp_replace(r.info->>'Operation', '^OperationType', '')) AS command,
		r.info->>'Version' AS version, NULLIF(r.info->>'Info', '') AS note, r.info->>'Job' AS job,
		CASE WHEN r.state = 'claimed' AND r.lease_until > clock_timestamp() THEN 'running' WHEN r.state = 'claimed' THEN 'lapsed' WHEN r.state = 'forced' THEN 'force-unlock' ELSE r.state END AS status,
		r.began, r.ended, r.lease_until, r.changes, r.info
	FROM mayfly.runs r JOIN mayfly.workspaces w ON w.id = r.workspace;
CREATE VIEW mayfly_views.claims WITH (security_barrier) AS
	SELECT w.name AS workspace, r.info->>'ID' AS run, c.key, c.mode::text AS mode
	FROM mayfly.claims c JOIN mayfly.runs r ON r.id = c.run JOIN mayfly.workspaces w ON w.id = c.workspace;
CREATE VIEW mayfly_views.operations WITH (security_barrier) AS
	SELECT w.name AS workspace, r.info->>'ID' AS run, o.key AS address,
		CASE WHEN current_setting('server_encoding') = 'UTF8' THEN convert_from(o.object, 'UTF8')::jsonb #>> '{instance,deposed}' END AS deposed, o.action, o.began
	FROM mayfly.operations o JOIN mayfly.runs r ON r.id = o.run JOIN mayfly.workspaces w ON w.id = o.workspace WHERE o.ended IS NULL;
CREATE VIEW mayfly_views.openings WITH (security_barrier) AS
	SELECT w.name AS workspace, r.info->>'ID' AS run, o.instance, o.provider, o.since
	FROM mayfly.openings o JOIN mayfly.runs r ON r.id = o.run JOIN mayfly.workspaces w ON w.id = r.workspace;`

// Active implements store.Historian. It needs no right but to the views. Tables of an older version are
// brought up to date first, which takes another user.
func (m *manager) Active(ctx context.Context) (out []store.ActiveRun, err error) {
	read := func() error {
		return m.store.persist(ctx, func() (err error) {
			return viewing(ctx, m.store, func(t *tx) error {
				out, err = activeRuns(t, m.name)
				return err
			})
		})
	}
	err = read()
	if pe, is := errors.AsType[*pq.Error](err); is && (pe.Code == "42P01" || pe.Code == "3F000" || pe.Code == "42703") {
		if _, err = m.store.db(ctx); err == nil {
			err = read()
		}
	}
	return out, m.failed("read", err)
}

// viewing calls f in a transaction that sees all rows as they are at one moment. It makes no tables.
func viewing(ctx context.Context, s *Store, f func(*tx) error) error {
	pool := sql.OpenDB(s.connector)
	defer func() { _ = pool.Close() }() // which has no effect on the result
	t, err := pool.BeginTx(ctx, reading)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }() // nothing is to be kept
	return f(&tx{s, ctx, t})
}

// activeRuns returns the runs of a workspace that are under way, or have left begun operations, the oldest
// first.
func activeRuns(t *tx, workspace string) (out []store.ActiveRun, err error) {
	err = t.rows(func(scan func(...any) error) error {
		var r store.ActiveRun
		var text string
		var user sql.NullString
		if err := scan(&text, &user, &r.Status, &r.Began, &r.LeaseUntil); err != nil {
			return err
		}
		var err error
		r.Info, err = runInfo(text, user)
		out = append(out, r)
		return err
	}, `SELECT info, database_user, status, began, lease_until FROM mayfly_views.runs r WHERE workspace = $1
		AND (status = 'running' OR status = 'waiting' AND lease_until > clock_timestamp()
			OR status = 'lapsed' AND (ended IS NULL OR EXISTS (SELECT 1 FROM mayfly_views.claims c WHERE c.workspace = r.workspace AND c.run = r.run))) ORDER BY began`, workspace)
	byID := map[string]*store.ActiveRun{}
	for i := range out {
		byID[out[i].Info.ID] = &out[i]
	}
	if err == nil {
		err = activeClaims(t, workspace, byID)
	}
	if err == nil {
		err = activeOperations(t, workspace, byID)
	}
	if err == nil {
		err = t.rows(func(scan func(...any) error) error {
			var run string
			var o state.Opening
			err := scan(&run, &o.Instance, &o.Provider, &o.Since)
			if r := byID[run]; r != nil {
				r.Openings = append(r.Openings, o)
			}
			return err
		}, `SELECT run, instance, provider, since FROM mayfly_views.openings WHERE workspace = $1 ORDER BY since, instance`, workspace)
	}
	return out, err
}

// activeClaims adds their claims to runs.
func activeClaims(t *tx, workspace string, runs map[string]*store.ActiveRun) error {
	return t.rows(func(scan func(...any) error) error {
		var run, key, mode string
		err := scan(&run, &key, &mode)
		if r := runs[run]; r != nil {
			r.Claims = append(r.Claims, store.ActiveClaim{Subject: state.DescribeKey(key), Mode: state.ClaimMode(mode)})
		}
		return err
	}, `SELECT run, key, mode FROM mayfly_views.claims WHERE workspace = $1 ORDER BY mode = 'x' DESC, key`, workspace)
}

// activeOperations adds the operations to runs that they have begun and not ended.
func activeOperations(t *tx, workspace string, runs map[string]*store.ActiveRun) error {
	return t.rows(func(scan func(...any) error) error {
		var run, address string
		var deposed sql.NullString
		var o store.ActiveOperation
		err := scan(&run, &address, &deposed, &o.Action, &o.Since)
		if err != nil || runs[run] == nil {
			return err
		}
		o.Object.Deposed = addr.Deposed(deposed.String)
		if o.Object.Instance, err = addr.ParseInstance(address); err != nil {
			return fmt.Errorf("reading the operation on %s: %w", address, err)
		}
		runs[run].Operations = append(runs[run].Operations, o)
		return nil
	}, `SELECT run, address, deposed, action, began FROM mayfly_views.operations WHERE workspace = $1 ORDER BY began, address`, workspace)
}
