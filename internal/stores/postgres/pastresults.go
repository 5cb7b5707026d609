//go:build !mayfly_no_postgres

package postgres

import (
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state/store"
)

// pastResultsTable has replaced versions of outputs and of results of checks. Nothing is known of versions
// before the migration that made it.
const pastResultsTable = `
ALTER TABLE mayfly.results ADD COLUMN at timestamptz NOT NULL DEFAULT clock_timestamp();
ALTER TABLE mayfly.workspaces ADD COLUMN results_forgotten timestamptz;
UPDATE mayfly.workspaces SET results_forgotten = clock_timestamp();
CREATE TABLE mayfly.past_results (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	key text NOT NULL,
	version uuid NOT NULL DEFAULT gen_random_uuid(),
	run uuid,
	at timestamptz NOT NULL,
	sealed boolean NOT NULL,
	body bytea NOT NULL,
	next_run uuid NOT NULL,
	until timestamptz NOT NULL,
	PRIMARY KEY (workspace, key, version)
);
CREATE INDEX past_results_until ON mayfly.past_results (workspace, until);`

// resultVersions is the statement that finds the versions of an output or a check.
const resultVersions = `SELECT '' AS deposed, run, at, NULL::uuid AS next_run, NULL::timestamptz AS until FROM mayfly.results WHERE workspace = $1 AND key = $2
	UNION ALL SELECT '', run, at, next_run, until FROM mayfly.past_results WHERE workspace = $1 AND key = $2 ORDER BY at DESC`

// pastResults adds the outputs and checks of its moment to a past: those with some keys, or all.
func pastResults(t *tx, workspace int64, past *store.Past, keys []string) error {
	return t.rows(func(scan func(...any) error) error { return result(t, past.State, scan) },
		`SELECT key, sealed, body FROM (SELECT key, sealed, body FROM mayfly.results WHERE workspace = $1 AND at <= $2 AND ($3::text[] IS NULL OR key = ANY($3))
		UNION ALL SELECT key, sealed, body FROM mayfly.past_results WHERE workspace = $1 AND at <= $2 AND until > $2 AND ($3::text[] IS NULL OR key = ANY($3))) r ORDER BY key COLLATE "C"`,
		workspace, past.At, pq.StringArray(keys))
}

// dropResults removes results, which become former versions.
func dropResults(t *tx, c *claim, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := t.exec(`WITH gone AS (DELETE FROM mayfly.results WHERE workspace = $1 AND key = ANY($3) RETURNING *)
		INSERT INTO mayfly.past_results (workspace, key, run, at, sealed, body, next_run, until) SELECT workspace, key, run, at, sealed, body, $2, statement_timestamp() FROM gone`,
		c.workspace, c.run, pq.StringArray(keys))
	return err
}

// storeResults stores rows of results. Replaced ones become former versions, which end at the very time at
// which the next ones begin. Rows with the same content have been there since they had it.
func storeResults(t *tx, c *claim, put resultRows) error {
	_, err := t.exec(`WITH given AS (SELECT * FROM unnest($3::text[], $4::bool[], $5::bytea[], $6::bool[], $7::bool[]) g(key, sealed, body, passed, same)),
		replaced AS (INSERT INTO mayfly.past_results (workspace, key, run, at, sealed, body, next_run, until)
			SELECT o.workspace, o.key, o.run, o.at, o.sealed, o.body, $2, statement_timestamp() FROM given g JOIN mayfly.results o ON o.workspace = $1 AND o.key = g.key WHERE NOT g.same)
		INSERT INTO mayfly.results (workspace, key, run, at, sealed, body, passed)
		SELECT $1, g.key, CASE WHEN g.same THEN o.run ELSE $2 END, CASE WHEN g.same THEN o.at ELSE statement_timestamp() END, g.sealed, g.body, g.passed
			FROM given g LEFT JOIN mayfly.results o ON o.workspace = $1 AND o.key = g.key
		ON CONFLICT (workspace, key) DO UPDATE SET run = excluded.run, at = excluded.at, sealed = excluded.sealed, body = excluded.body, passed = excluded.passed`,
		c.workspace, c.run, pq.StringArray(put.keys), pq.BoolArray(put.sealed), pq.ByteaArray(put.bodies), pq.BoolArray(put.passed), pq.BoolArray(put.same))
	return err
}

// forgetResults are parts of the statement of forgetPast.
const forgetResults = `
		old_results AS (SELECT key, version FROM mayfly.past_results WHERE workspace = $1 AND until < clock_timestamp() - $2 * interval '1 microsecond' ORDER BY until LIMIT $3),
		gone_results AS (DELETE FROM mayfly.past_results p USING old_results o WHERE p.workspace = $1 AND p.key = o.key AND p.version = o.version RETURNING p.until)`

// sealPastResults encrypts former versions of results by the present rules. Versions that cannot be read stay
// as they are.
func sealPastResults(t *tx, workspace int64) error {
	if t.opt.Cipher == nil {
		return nil
	}
	key, version := "", "00000000-0000-0000-0000-000000000000"
	for {
		var keys, versions []string
		var sealed []bool
		var bodies [][]byte
		n := 0
		err := t.rows(func(scan func(...any) error) error {
			var was bool
			var body []byte
			if err := scan(&key, &version, &was, &body); err != nil {
				return err
			}
			n++
			plain, err := t.plain(was, body)
			if err != nil {
				return nil
			}
			body, is, err := t.seal(plain)
			keys, versions, sealed, bodies = append(keys, key), append(versions, version), append(sealed, is), append(bodies, body)
			return err
		}, `SELECT key, version, sealed, body FROM mayfly.past_results WHERE workspace = $1 AND (key, version) > ($2, $3::uuid) ORDER BY key, version LIMIT $4`, workspace, key, version, chunk)
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.past_results p SET sealed = g.sealed, body = g.body FROM unnest($2::text[], $3::uuid[], $4::bool[], $5::bytea[]) g(key, version, sealed, body)
				WHERE p.workspace = $1 AND p.key = g.key AND p.version = g.version`, workspace, pq.StringArray(keys), pq.StringArray(versions), pq.BoolArray(sealed), pq.ByteaArray(bodies))
		}
		if err != nil || n < chunk {
			return err
		}
	}
}
