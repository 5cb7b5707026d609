//go:build !mayfly_no_postgres

package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// comparison compares the rows that a scope relies on with the stored ones.
type comparison struct {
	t         *tx
	workspace int64
	scope     *state.Scope
	found     map[state.Subject]state.RowSet
	writers   map[state.RowName]string // runs that have written stored rows; results are named by their keys
	changed   map[string]bool          // addresses of rows that differ
}

// anyUnrecorded names all late results and freed operations of an instance.
func anyUnrecorded(address string) state.RowName {
	return state.RowName{Address: address, Unrecorded: "something"}
}

// compare returns a *store.StaleError if claimed rows are not as they were read. Optional claims on such rows
// are given up. m.mu is held.
func (m *manager) compare(ctx context.Context, c *claim, scope *state.Scope) error {
	var stale []store.StaleRow
	var given []string
	err := m.store.again(ctx, reading, func(t *tx) error {
		x := &comparison{t: t, workspace: c.workspace, scope: scope, found: map[state.Subject]state.RowSet{}, writers: map[state.RowName]string{}, changed: map[string]bool{}}
		if err := x.read(m.name); err != nil {
			return err
		}
		var err error
		stale, given, err = x.differences()
		if err == nil && m.absent && len(stale) == 0 {
			stale, err = x.created(m.name)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, key := range given {
		delete(c.keys, key)
	}
	if len(stale) > 0 {
		return &store.StaleError{Rows: stale}
	}
	return nil
}

// read reads the rows of the subjects: one statement for each kind, and one for each span of modules.
func (x *comparison) read(name string) error {
	byAddress := map[state.SubjectKind]map[string]state.Subject{}
	for s := range x.scope.Relied {
		x.found[s] = state.RowSet{}
		if byAddress[s.Kind] == nil {
			byAddress[s.Kind] = map[string]state.Subject{}
		}
		byAddress[s.Kind][s.Addr] = s
	}
	rows := func(kind state.SubjectKind, statement string) error {
		subjects := byAddress[kind]
		if len(subjects) == 0 {
			return nil
		}
		addresses := make([]string, 0, len(subjects))
		for a := range subjects {
			addresses = append(addresses, a)
		}
		return x.rows(func(of string) state.Subject { return subjects[of] }, statement, pq.StringArray(addresses))
	}
	err := x.unrecorded(name)
	if err != nil {
		return err
	}
	err = rows(state.OneInstance, `SELECT address, address, deposed, version, run FROM mayfly.objects WHERE workspace = $1 AND address = ANY($2)`)
	if err == nil {
		err = rows(state.AllInstances, `SELECT resource, address, deposed, version, run FROM mayfly.objects WHERE workspace = $1 AND resource = ANY($2)`)
	}
	if err == nil {
		err = rows(state.Dependents, `SELECT d.block, o.address, o.deposed, NULL::uuid, o.run FROM unnest($2::text[]) d(block) JOIN mayfly.objects o ON o.dependencies @> ARRAY[d.block] WHERE o.workspace = $1`)
	}
	for s := range x.scope.Relied {
		if err != nil {
			return err
		}
		the := func(string) state.Subject { return s }
		switch s.Kind {
		case state.AllWithin:
			where, args := blocksWithin([]string{s.Addr}, s.Within)
			err = x.rows(the, `SELECT '', address, deposed, version, run FROM mayfly.objects WHERE `+where, args...)
		case state.WholeState:
			err = x.rows(the, `SELECT '', address, deposed, version, run FROM mayfly.objects WHERE workspace = $1`)
		}
	}
	if outputs, checks := byAddress[state.OneOutput], byAddress[state.OneCheck]; err == nil && len(outputs)+len(checks) > 0 {
		err = x.results(outputs, checks)
	}
	return err
}

// unrecorded adds the late results and freed operations of the subjects.
func (x *comparison) unrecorded(name string) error {
	return x.t.rows(func(scan func(...any) error) error {
		var id lateID
		var freed bool
		if err := scan(&id.run, &freed, &id.batch, &id.address); err != nil {
			return err
		}
		row, version, err := id.name(freed)
		if err != nil {
			return err
		}
		of, err := addr.ParseInstance(id.address)
		if err != nil {
			return err
		}
		subjects := append(around(of), state.Subject{Kind: state.WholeState}, state.InstanceSubject(of))
		for _, s := range subjects {
			if set, relied := x.found[s]; relied {
				set[row] = version
			}
		}
		x.writers[anyUnrecorded(id.address)] = id.run
		return nil
	}, `SELECT u.run, u.freed, u.number, u.address FROM (`+unrecordedOf+`) u`, name)
}

// rows reads rows, each after the address of its subject.
func (x *comparison) rows(subject func(string) state.Subject, statement string, args ...any) error {
	return x.t.rows(func(scan func(...any) error) error {
		var of string
		var row state.RowName
		var version uuid.NullUUID
		var run sql.NullString
		if err := scan(&of, &row.Address, &row.Deposed, &version, &run); err != nil {
			return err
		}
		x.found[subject(of)][row] = state.Version(version.UUID)
		x.writers[row] = run.String
		return nil
	}, statement, append([]any{x.workspace}, args...)...)
}

// results reads the rows of outputs and checks.
func (x *comparison) results(subjects ...map[string]state.Subject) error {
	var keys []string
	for _, of := range subjects {
		for _, s := range of {
			keys = append(keys, s.Key())
		}
	}
	f := &state.File{State: state.New()}
	if err := x.t.results(x.workspace, f, keys...); err != nil {
		return err
	}
	stored := f.State.Results()
	for s := range x.found {
		if s.Kind == state.OneOutput || s.Kind == state.OneCheck {
			x.found[s] = state.ResultRow(s, stored)
		}
	}
	return x.t.rows(func(scan func(...any) error) error {
		var key string
		var run sql.NullString
		err := scan(&key, &run)
		x.writers[state.RowName{Address: key}] = run.String
		return err
	}, `SELECT key, run FROM mayfly.results WHERE workspace = $1 AND key = ANY($2)`, x.workspace, pq.StringArray(keys))
}

// wasRemoved says that a row has been removed.
const wasRemoved = "was removed"

// removed notes the runs that have removed rows, as far as the history has the rows.
func (x *comparison) removed(gone map[state.SubjectKind][]state.RowName) error {
	var addresses, deposed, keys []string
	for kind, rows := range gone {
		for _, row := range rows {
			if kind == state.OneInstance {
				addresses, deposed = append(addresses, row.Address), append(deposed, string(row.Deposed))
			} else {
				keys = append(keys, state.Subject{Kind: kind, Addr: row.Address}.Key())
			}
		}
	}
	note := func(scan func(...any) error) error {
		var row state.RowName
		var run string
		err := scan(&row.Address, &row.Deposed, &run)
		x.writers[row] = run
		return err
	}
	var err error
	if len(addresses) > 0 {
		err = x.t.rows(note, `SELECT DISTINCT ON (p.address, p.deposed) p.address, p.deposed, p.next_run FROM mayfly.past p JOIN unnest($2::text[], $3::text[]) g(address, deposed) USING (address, deposed)
			WHERE p.workspace = $1 ORDER BY p.address, p.deposed, p.until DESC`, x.workspace, pq.StringArray(addresses), pq.StringArray(deposed))
	}
	if err == nil && len(keys) > 0 {
		err = x.t.rows(note, `SELECT DISTINCT ON (key) key, '', next_run FROM mayfly.past_results WHERE workspace = $1 AND key = ANY($2) ORDER BY key, until DESC`, x.workspace, pq.StringArray(keys))
	}
	return err
}

// differences returns the rows that differ, in order, and the keys of optional claims on rows that do.
func (x *comparison) differences() (stale []store.StaleRow, given []string, err error) {
	type difference struct {
		kind state.SubjectKind
		row  state.RowName
	}
	differ := map[difference]string{}
	for s, want := range x.scope.Relied {
		found, some := x.found[s], false
		kind := s.Kind
		if kind != state.OneOutput && kind != state.OneCheck {
			kind = state.OneInstance
		}
		note := func(row state.RowName, change string) {
			some = true
			if _, claimed := x.scope.Claims[s]; claimed {
				differ[difference{kind, row}] = change
				x.changed[row.Address] = x.changed[row.Address] || row.Unrecorded == ""
			}
		}
		for row, version := range want {
			if now, is := found[row]; !is && row.Unrecorded != "" {
				continue // a late result was settled
			} else if !is {
				note(row, wasRemoved)
			} else if now != version {
				note(row, "was changed")
			}
		}
		for row := range found {
			if _, was := want[row]; !was && row.Unrecorded != "" {
				note(anyUnrecorded(row.Address), "may have been changed without a record")
			} else if !was {
				note(row, "is new")
			}
		}
		if x.scope.Claims[s] == "" && some {
			given = append(given, s.Key())
		}
	}
	if len(differ) == 0 {
		return nil, given, nil
	}
	gone := map[state.SubjectKind][]state.RowName{}
	for d, change := range differ {
		if change == wasRemoved {
			gone[d.kind] = append(gone[d.kind], d.row)
		}
	}
	if err := x.removed(gone); err != nil {
		return nil, nil, err
	}
	writers, err := x.runs()
	for d, change := range differ {
		if d.row.Unrecorded != "" && x.changed[d.row.Address] {
			continue // the change of the row says enough
		}
		row := store.StaleRow{Name: d.row.String(), Change: change}
		if d.kind == state.OneInstance {
			row.Run = writers[x.writers[d.row]]
		} else {
			key := state.Subject{Kind: d.kind, Addr: d.row.Address}.Key()
			row.Name, row.Run = state.DescribeKey(key), writers[x.writers[state.RowName{Address: key}]]
		}
		stale = append(stale, row)
	}
	slices.SortFunc(stale, func(a, b store.StaleRow) int { return cmp.Compare(a.Name, b.Name) })
	return stale, given, err
}

// created returns the state itself as a row that is new, with the run that has ended last; nil if there is no
// state.
func (x *comparison) created(name string) ([]store.StaleRow, error) {
	_, f, err := x.t.document(name)
	if err != nil || f == nil {
		return nil, err
	}
	row := store.StaleRow{Name: "the state", Change: "is new"}
	var text string
	ended, err := x.t.one(`SELECT info FROM mayfly.runs WHERE workspace = $1 AND state = 'ended' ORDER BY ended DESC LIMIT 1`, []any{x.workspace}, &text)
	if err == nil && ended {
		var info store.LockInfo
		info, err = store.ParseLockInfo([]byte(text))
		row.Run = &info
	}
	return []store.StaleRow{row}, err
}

// runs returns the information about the runs that have written rows.
func (x *comparison) runs() (map[string]*store.LockInfo, error) {
	ids := make([]string, 0, len(x.writers))
	for _, run := range x.writers {
		ids = append(ids, run)
	}
	return x.t.runs(ids)
}

// runs returns the information about runs, as far as they are known. "" is none.
func (t *tx) runs(ids []string) (map[string]*store.LockInfo, error) {
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := map[string]*store.LockInfo{}
	if len(ids) == 0 {
		return out, nil
	}
	err := t.rows(func(scan func(...any) error) error {
		var id, text string
		var user sql.NullString
		if err := scan(&id, &text, &user); err != nil {
			return err
		}
		info, err := runInfo(text, user)
		out[id] = &info
		return err
	}, `SELECT id, info, database_user FROM mayfly.runs WHERE id = ANY($1::uuid[])`, pq.StringArray(ids))
	return out, err
}
