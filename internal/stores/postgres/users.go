//go:build !mayfly_no_postgres

package postgres

import (
	"database/sql"

	"github.com/mayfly-iac/mayfly/state/store"
)

// databaseUsers has each run note the user who has logged in to the database. The name in the information
// about a run is the client's word; this one is the server's, so no client can set it. The function looks up
// operators in pg_catalog alone: it would use the client's search path otherwise. Earlier runs have no user.
const databaseUsers = `
ALTER TABLE mayfly.runs ADD COLUMN database_user text;
CREATE FUNCTION mayfly.note_user() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		NEW.database_user := session_user;
	ELSE
		NEW.database_user := OLD.database_user;
	END IF;
	RETURN NEW;
END
$$;
CREATE TRIGGER note_user BEFORE INSERT OR UPDATE OF database_user ON mayfly.runs FOR EACH ROW EXECUTE FUNCTION mayfly.note_user();
CREATE OR REPLACE VIEW mayfly_views.runs WITH (security_barrier) AS
	SELECT w.name AS workspace, r.info->>'ID' AS run, r.info->>'Who' AS who, lower(regexp_replace(r.info->>'Operation', '^OperationType', '')) AS command,
		r.info->>'Version' AS version, NULLIF(r.info->>'Info', '') AS note, r.info->>'Job' AS job,
		CASE WHEN r.state = 'claimed' AND r.lease_until > clock_timestamp() THEN 'running' WHEN r.state = 'claimed' THEN 'lapsed' WHEN r.state = 'forced' THEN 'force-unlock' ELSE r.state END AS status,
		r.began, r.ended, r.lease_until, r.changes, r.info, r.database_user
	FROM mayfly.runs r JOIN mayfly.workspaces w ON w.id = r.workspace;`

// runInfo reads the information about a run, to which the user that the server has noted belongs.
func runInfo(text string, user sql.NullString) (store.LockInfo, error) {
	info, err := store.ParseLockInfo([]byte(text))
	info.DatabaseUser = user.String
	return info, err
}
