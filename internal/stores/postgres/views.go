//go:build !mayfly_no_postgres

package postgres

import (
	"encoding/json"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// viewsSuffix makes the name of the schema of the views from the tables' schema. It is another schema, so
// that the right to use one does not include the other.
const viewsSuffix = "_views"

// views are the interface for SQL. They show no sensitive values: the program writes the columns named shown,
// with the schemas of providers at hand. A security barrier keeps functions of readers from rows that a view
// leaves out.
const views = `
ALTER TABLE mayfly.objects ADD COLUMN shown jsonb;
ALTER TABLE mayfly.past ADD COLUMN shown jsonb;
CREATE TABLE mayfly.shown_outputs (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	name text NOT NULL,
	sensitive boolean NOT NULL,
	value jsonb,
	PRIMARY KEY (workspace, name)
);
CREATE VIEW mayfly_views.instances WITH (security_barrier) AS
	SELECT w.name AS workspace, o.address, NULLIF(o.deposed, '') AS deposed, o.shown->>'module' AS module, o.shown->>'mode' AS mode,
		o.shown->>'type' AS type, o.shown->>'name' AS name, o.shown->>'provider' AS provider, o.dependencies,
		NULLIF(o.shown->'attributes', 'null') AS attributes, o.sealed AS encrypted, o.at AS changed, r.info->>'ID' AS run
	FROM mayfly.objects o JOIN mayfly.workspaces w ON w.id = o.workspace LEFT JOIN mayfly.runs r ON r.id = o.run;
CREATE VIEW mayfly_views.outputs WITH (security_barrier) AS
	SELECT w.name AS workspace, o.name, o.sensitive, o.value FROM mayfly.shown_outputs o JOIN mayfly.workspaces w ON w.id = o.workspace;
CREATE VIEW mayfly_views.runs WITH (security_barrier) AS
	SELECT w.name AS workspace, r.info->>'ID' AS run, r.info->>'Who' AS who, lower(regexp_replace(r.info->>'Operation', '^OperationType', '')) AS command,
		r.info->>'Version' AS version, NULLIF(r.info->>'Info', '') AS note, r.info->>'Job' AS job,
		CASE WHEN r.state = 'claimed' AND r.lease_until > clock_timestamp() THEN 'running' WHEN r.state = 'claimed' THEN 'lapsed' WHEN r.state = 'forced' THEN 'force-unlock' ELSE r.state END AS status,
		r.began, r.ended, r.lease_until, r.changes
	FROM mayfly.runs r JOIN mayfly.workspaces w ON w.id = r.workspace;
CREATE VIEW mayfly_views.history WITH (security_barrier) AS
	SELECT w.name AS workspace, v.address, NULLIF(v.deposed, '') AS deposed, v.shown->>'type' AS type, NULLIF(v.shown->'attributes', 'null') AS attributes,
		v.sealed AS encrypted, v.at AS began, v.until AS ended, r.info->>'ID' AS run, n.info->>'ID' AS next_run
	FROM (SELECT workspace, address, deposed, shown, sealed, at, NULL::timestamptz AS until, run, NULL::uuid AS next_run FROM mayfly.objects
		UNION ALL SELECT workspace, address, deposed, shown, sealed, at, until, run, next_run FROM mayfly.past) v
	JOIN mayfly.workspaces w ON w.id = v.workspace LEFT JOIN mayfly.runs r ON r.id = v.run LEFT JOIN mayfly.runs n ON n.id = v.next_run;`

// largestShown is how many bytes of attributes, or of an output, are shown at most.
const largestShown = 1 << 20

// shownObject is the part of an object that views show.
type shownObject struct {
	Module     string          `json:"module"`
	Mode       string          `json:"mode"`
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Provider   string          `json:"provider"`
	Attributes json.RawMessage `json:"attributes"`
}

// shownOf returns the part of an object that views show. Of an encrypted one, that is nothing that encryption
// covers.
func shownOf(c state.ObjectChange, sealed bool) ([]byte, error) {
	if c.New == nil {
		return []byte("null"), nil
	}
	i := c.Object.Instance
	mode := "managed"
	if i.Resource.Mode == addr.Data {
		mode = "data"
	}
	out := shownObject{Module: i.Module.String(), Mode: mode, Type: i.Resource.Type, Name: i.Resource.Name, Provider: c.Provider.Provider.String()}
	if !sealed {
		if attributes := c.New.Shown(); len(attributes) <= largestShown {
			out.Attributes = attributes
		}
	}
	return json.Marshal(out)
}

// showOutputs makes the shown outputs of a workspace the given ones.
func showOutputs(t *tx, workspace int64, outputs map[string]*state.Output) error {
	encrypted, err := encrypts(t.opt.Cipher)
	if err != nil {
		return err
	}
	var names []string
	var sensitive []bool
	var values [][]byte
	for name, o := range outputs {
		value := o.Shown()
		names, sensitive = append(names, name), append(sensitive, value == nil)
		if value == nil || encrypted || len(value) > largestShown {
			value = []byte("null")
		}
		values = append(values, value)
	}
	_, err = t.exec(`WITH given AS (SELECT g.name, g.sensitive, CASE WHEN current_setting('server_encoding') = 'UTF8' THEN NULLIF(convert_from(g.value, 'UTF8')::jsonb, 'null') END AS value
			FROM unnest($2::text[], $3::bool[], $4::bytea[]) g(name, sensitive, value)),
		gone AS (DELETE FROM mayfly.shown_outputs o WHERE o.workspace = $1 AND NOT EXISTS (SELECT 1 FROM given g WHERE g.name = o.name))
		INSERT INTO mayfly.shown_outputs AS o (workspace, name, sensitive, value) SELECT $1, name, sensitive, value FROM given
		ON CONFLICT (workspace, name) DO UPDATE SET sensitive = excluded.sensitive, value = excluded.value WHERE (o.sensitive, o.value) IS DISTINCT FROM (excluded.sensitive, excluded.value)`,
		workspace, pq.StringArray(names), pq.BoolArray(sensitive), pq.ByteaArray(values))
	return err
}
