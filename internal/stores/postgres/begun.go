//go:build !mayfly_no_postgres

package postgres

// generic has the session plan prepared statements without their parameters, which it then does once. A
// statement in a transaction is planned with them: see (*Store).once. Nothing relies on it.
const generic = `set_config('plan_cache_mode', 'force_generic_plan', false)`

// begin is record for a batch of nothing but operations that begin. The server plans it in a tenth of the
// time, and half of the batches are such.
var begin = `WITH setting AS (SELECT ` + durable + `, ` + generic + `),
fence AS (SELECT r.id, r.workspace, r.batch = $2::bigint - 1 AS fresh, r.state = 'claimed' AND r.lease_until > clock_timestamp() AS alive
	FROM mayfly.runs r, setting WHERE r.id = $1 AND r.state IN ('claimed', 'lapsed', 'forced') AND r.batch IN ($2::bigint - 1, $2::bigint) FOR NO KEY UPDATE OF r),
counted AS (UPDATE mayfly.runs r SET batch = $2 FROM fence f WHERE r.id = f.id),
begun AS (INSERT INTO mayfly.operations (run, id, workspace, key, object, action)
	SELECT f.id, b.id, f.workspace, b.key, b.object, b.action FROM fence f, unnest($3::bigint[], $4::text[], $5::bytea[], $6::text[]) b(id, key, object, action) WHERE f.fresh AND f.alive)
SELECT fresh, false, alive OR EXISTS (SELECT 1 FROM mayfly.operations o WHERE o.run = f.id AND o.id = ANY($3::bigint[])) FROM fence f`
