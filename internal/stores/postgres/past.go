//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state"
)

// day is the unit of history. Days are of equal length here.
const day = 24 * time.Hour

// defaultHistory is how long replaced versions are kept.
const defaultHistory = 30 * day

// parseHistory reads the argument "history". It returns 0 for "", and a negative duration if nothing is to be
// kept.
func parseHistory(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if days, is := strings.CutSuffix(text, "d"); is {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * day
	}
	switch {
	case err != nil || d < 0:
		return 0, fmt.Errorf("the argument \"history\" of the backend \"postgres\" is %q, which is not a duration. Write a number of days such as \"90d\", a duration such as \"12h\", or \"0\" to keep nothing", text)
	case d == 0:
		return -1, nil
	}
	return d, nil
}

// forgottenAtOnce is how many old rows of each table the end of a run removes at most.
const forgottenAtOnce = 1000

// forgetPast removes versions that were replaced longer ago than they are kept, and the operations that ended
// before, some of each. It notes up to when versions may be missing. The gate is held.
func (t *tx) forgetPast(workspace int64) error {
	kept := max(t.opt.History, 0).Microseconds()
	_, err := t.exec(`WITH old AS (SELECT address, deposed, version FROM mayfly.past WHERE workspace = $1 AND until < clock_timestamp() - $2 * interval '1 microsecond' ORDER BY until LIMIT $3),
		gone AS (DELETE FROM mayfly.past p USING old o WHERE p.workspace = $1 AND p.address = o.address AND p.deposed = o.deposed AND p.version = o.version RETURNING p.until),`+forgetResults+`
		UPDATE mayfly.workspaces w SET forgotten = GREATEST(w.forgotten, o.until), results_forgotten = GREATEST(w.results_forgotten, r.until)
		FROM (SELECT max(until) AS until FROM gone) o, (SELECT max(until) AS until FROM gone_results) r WHERE w.id = $1 AND (o.until IS NOT NULL OR r.until IS NOT NULL)`,
		workspace, kept, forgottenAtOnce)
	if err == nil {
		_, err = t.exec(`DELETE FROM mayfly.operations o USING (SELECT run, id FROM mayfly.operations WHERE workspace = $1 AND ended < clock_timestamp() - $2 * interval '1 microsecond' ORDER BY ended LIMIT $3) old
			WHERE o.run = old.run AND o.id = old.id AND EXISTS (SELECT 1 FROM mayfly.runs r WHERE r.id = o.run AND r.ended IS NOT NULL)`, workspace, kept, forgottenAtOnce)
	}
	return err
}

// replace makes the stored objects equal to those in next. Rows with the same content keep their versions,
// and are encrypted by the present rules.
func (t *tx) replace(c *claim, name string, next *state.State) error {
	wanted := state.Diff(state.New(), next)
	old, err := t.read(name)
	if err != nil || old == nil { // which may be damaged
		if _, err := t.exec(`WITH gone AS (DELETE FROM mayfly.objects WHERE workspace = $1 RETURNING *),
			marked AS (INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT DISTINCT workspace, address, 'object', $2::uuid FROM gone ON CONFLICT DO NOTHING),
			forgotten AS (DELETE FROM mayfly.units WHERE workspace = $1)
			INSERT INTO mayfly.past (workspace, address, deposed, version, run, at, sealed, body, shown, next_run, until)
			SELECT workspace, address, deposed, version, run, at, sealed, body, shown, $2, statement_timestamp() FROM gone`, c.workspace, c.run); err != nil {
			return err
		}
		return t.put(c, nil, wanted)
	}
	var changes, same []state.ObjectChange
	for _, o := range wanted {
		if stored(old.State, o) {
			same = append(same, o)
		} else {
			changes = append(changes, o)
		}
	}
	for _, o := range state.Diff(next, old.State) {
		if next.Object(o.Object) == nil {
			changes = append(changes, state.ObjectChange{Object: o.Object})
		}
	}
	if err := t.put(c, old.State, changes); err != nil {
		return err
	}
	if len(changes) == 0 {
		if err := sealPast(t, c.workspace); err != nil {
			return err
		}
		if err := sealPastResults(t, c.workspace); err != nil {
			return err
		}
	}
	return t.reseal(c.workspace, same)
}

// reseal encrypts rows of objects by the present rules. Their content is the stored one, and so is their
// version.
func (t *tx) reseal(workspace int64, same []state.ObjectChange) error {
	return t.inChunks(nil, same, func(o *objects) error {
		_, err := t.exec(`UPDATE mayfly.objects o SET sealed = g.sealed, body = g.body, shown = CASE WHEN g.sealed THEN o.shown || '{"attributes": null}' ELSE o.shown END FROM `+columns(2)+`
			WHERE o.workspace = $1 AND o.address = g.address AND o.deposed = g.deposed AND (o.sealed OR g.sealed)`, append([]any{workspace}, o.args()...)...)
		return err
	})
}

// sealPast encrypts former versions of objects by the present rules. Versions that cannot be read stay as
// they are.
func sealPast(t *tx, workspace int64) error {
	if t.opt.Cipher == nil {
		return nil
	}
	address, deposed, version := "", "", "00000000-0000-0000-0000-000000000000"
	for {
		var keys [3][]string
		var o objects
		n := 0
		err := t.rows(func(scan func(...any) error) error {
			var sealed bool
			var body []byte
			if err := scan(&address, &deposed, &version, &sealed, &body); err != nil {
				return err
			}
			n++
			c, err := t.unseal(sealed, body)
			if err != nil {
				return nil
			}
			keys[0], keys[1], keys[2] = append(keys[0], address), append(keys[1], deposed), append(keys[2], version)
			return o.add(t.Store, c, nil, false)
		}, `SELECT address, deposed, version, sealed, body FROM mayfly.past WHERE workspace = $1 AND (address, deposed, version) > ($2, $3, $4::uuid) ORDER BY address, deposed, version LIMIT $5`,
			workspace, address, deposed, version, chunk)
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.past p SET sealed = g.sealed, body = g.body, shown = CASE WHEN g.sealed THEN p.shown || '{"attributes": null}' ELSE p.shown END FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bool[], $6::bytea[]) g(address, deposed, version, sealed, body)
				WHERE p.workspace = $1 AND p.address = g.address AND p.deposed = g.deposed AND p.version = g.version`,
				workspace, pq.StringArray(keys[0]), pq.StringArray(keys[1]), pq.StringArray(keys[2]), pq.BoolArray(o.sealed), pq.ByteaArray(o.bodies))
		}
		if err != nil || n < chunk {
			return err
		}
	}
}
