//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

var _ store.Historian = (*manager)(nil)

// inWorkspace calls f in a transaction that sees all rows as they are at one moment, with the number of the
// workspace, which is 0 if there is none.
func (m *manager) inWorkspace(ctx context.Context, f func(t *tx, workspace int64) error) error {
	err := m.store.again(ctx, reading, func(t *tx) error {
		var workspace int64
		if _, err := t.one(`SELECT id FROM mayfly.workspaces WHERE name = $1`, []any{m.name}, &workspace); err != nil {
			return err
		}
		return f(t, workspace)
	})
	return m.failed("read", err)
}

// statuses of runs by the states of their rows, and whether their lease has lapsed.
var statuses = map[string]store.RunStatus{
	"waiting": store.RunWaits, "claimed": store.RunRuns, "ended": store.RunEnded, "left": store.RunLeft, "lapsed": store.RunLapsed, "forced": store.RunFreed,
}

// status returns the status of a run. Rows of runs are marked as lapsed only when another run claims.
func status(row string, alive bool) store.RunStatus {
	if row == "claimed" && !alive {
		return store.RunLapsed
	}
	if s, is := statuses[row]; is {
		return s
	}
	return store.RunUnknown
}

// Runs implements store.Historian.
func (m *manager) Runs(ctx context.Context, most int) (out []store.PastRun, err error) {
	limit := sql.NullInt64{Int64: int64(most), Valid: most > 0}
	err = m.inWorkspace(ctx, func(t *tx, workspace int64) error {
		out = nil
		return t.rows(func(scan func(...any) error) error {
			var r store.PastRun
			var text, row string
			var user sql.NullString
			var alive bool
			var ended sql.NullTime
			if err := scan(&text, &user, &row, &alive, &r.Began, &ended, &r.Changes); err != nil {
				return err
			}
			r.Status, r.Ended = status(row, alive), ended.Time
			var err error
			r.Info, err = runInfo(text, user)
			out = append(out, r)
			return err
		}, `SELECT info, database_user, state, lease_until > clock_timestamp(), began, ended, changes FROM mayfly.runs WHERE workspace = $1 AND state <> 'waiting' ORDER BY ticket DESC LIMIT $2`, workspace, limit)
	})
	return out, err
}

// versionsOf is the statement that finds the versions of the objects of an instance.
const versionsOf = `SELECT deposed, run, at, NULL::uuid AS next_run, NULL::timestamptz AS until FROM mayfly.objects WHERE workspace = $1 AND address = $2
	UNION ALL SELECT deposed, run, at, next_run, until FROM mayfly.past WHERE workspace = $1 AND address = $2 ORDER BY at DESC, deposed`

// Versions implements store.Historian.
func (m *manager) Versions(ctx context.Context, of state.Subject) (out []store.ObjectVersion, err error) {
	var instance addr.Instance
	statement := resultVersions
	if of.Kind == state.OneInstance {
		statement = versionsOf
		if instance, err = addr.ParseInstance(of.Addr); err != nil {
			return nil, err
		}
	}
	err = m.inWorkspace(ctx, func(t *tx, workspace int64) error {
		out = nil
		begun := map[addr.Deposed]map[int64]bool{} // when versions begin, by deposed key
		var by, next []string
		err := t.rows(func(scan func(...any) error) error {
			v := store.ObjectVersion{Object: addr.Object{Instance: instance}}
			var run, replaced sql.NullString
			var until sql.NullTime
			if err := scan(&v.Object.Deposed, &run, &v.From, &replaced, &until); err != nil {
				return err
			}
			v.Until = until.Time
			if begun[v.Object.Deposed] == nil {
				begun[v.Object.Deposed] = map[int64]bool{}
			}
			begun[v.Object.Deposed][v.From.UnixMicro()] = true
			out, by, next = append(out, v), append(by, run.String), append(next, replaced.String)
			return nil
		}, statement, workspace, of.Key())
		if err != nil || len(out) == 0 {
			return err
		}
		runs, err := t.runs(append(append([]string{}, by...), next...))
		ended := map[addr.Object]map[int64]bool{}
		for _, v := range out {
			if ended[v.Object] == nil {
				ended[v.Object] = map[int64]bool{}
			}
			ended[v.Object][v.Until.UnixMicro()] = true
		}
		for i := range out {
			v := &out[i]
			v.By, v.Next = runs[by[i]], runs[next[i]]
			v.First = !ended[v.Object][v.From.UnixMicro()]
			v.Last = !v.Until.IsZero() && !begun[v.Object.Deposed][v.Until.UnixMicro()]
		}
		return err
	})
	return out, err
}

// At implements store.Historian.
func (m *manager) At(ctx context.Context, at store.Moment, of ...state.Subject) (past *store.Past, err error) {
	addresses, keys := split(of)
	err = m.inWorkspace(ctx, func(t *tx, workspace int64) error {
		past = &store.Past{State: state.New(), At: at.Time}
		if at.Run != "" {
			if err := t.endOf(workspace, at.Run, past); err != nil {
				return err
			}
		}
		_, f, err := t.document(m.name)
		if err != nil {
			return err
		}
		if f != nil {
			past.Lineage = f.Lineage
		}
		var objects, results sql.NullTime
		if _, err := t.one(`SELECT forgotten, results_forgotten FROM mayfly.workspaces WHERE id = $1`, []any{workspace}, &objects, &results); err != nil {
			return err
		}
		past.Results = !results.Valid || !past.At.Before(results.Time)
		if len(keys) > 0 && !past.Results {
			return forgotten(results.Time)
		}
		if objects.Valid && past.At.Before(objects.Time) && (len(of) == 0 || len(addresses) > 0) {
			return forgotten(objects.Time)
		}
		if past.Results && (len(of) == 0 || len(keys) > 0) {
			if err := pastResults(t, workspace, past, keys); err != nil {
				return err
			}
		}
		if len(of) > 0 && len(addresses) == 0 {
			return nil
		}
		return t.rows(func(scan func(...any) error) error { return t.object(past.State, scan) },
			`SELECT address, sealed, body, version FROM mayfly.objects WHERE workspace = $1 AND at <= $2 AND ($3::text[] IS NULL OR address = ANY($3))
			UNION ALL SELECT address, sealed, body, version FROM mayfly.past WHERE workspace = $1 AND at <= $2 AND until > $2 AND ($3::text[] IS NULL OR address = ANY($3))`,
			workspace, past.At, pq.StringArray(addresses))
	})
	return past, err
}

// split returns the addresses of the instances among subjects, and the keys of outputs and checks.
func split(of []state.Subject) (addresses, keys []string) {
	for _, s := range of {
		if s.Kind == state.OneInstance {
			addresses = append(addresses, s.Addr)
		} else {
			keys = append(keys, s.Key())
		}
	}
	return addresses, keys
}

// forgotten returns the error for a moment of which versions may be missing.
func forgotten(complete time.Time) error {
	return fmt.Errorf("%w: the oldest complete ones are from %s. The argument \"history\" of the backend says for how long", store.ErrForgotten, complete.Local().Format(time.DateTime))
}

// endOf notes when a run has ended, which is named by the beginning of its ID.
func (t *tx) endOf(workspace int64, id string, past *store.Past) error {
	n := 0
	err := t.rows(func(scan func(...any) error) error {
		var text string
		var user sql.NullString
		if err := scan(&text, &user, &past.At); err != nil {
			return err
		}
		info, err := runInfo(text, user)
		past.Run = &info
		n++
		return err
	}, `SELECT info, database_user, COALESCE(ended, clock_timestamp()) FROM mayfly.runs WHERE workspace = $1 AND starts_with(info->>'ID', $2) AND state <> 'waiting' ORDER BY info->>'ID' = $2, ticket LIMIT 2`, workspace, id)
	switch {
	case err != nil:
		return err
	case n == 0:
		return fmt.Errorf("%w: no ID of a run begins with %q", store.ErrNoRun, id)
	case n > 1 && past.Run.ID != id:
		return fmt.Errorf("%w: the IDs of several runs begin with %q. Give more of it", store.ErrNoRun, id)
	}
	return nil
}
