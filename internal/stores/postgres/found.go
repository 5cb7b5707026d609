//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// foundAtOnce is how many units that were found right are recorded in one transaction.
const foundAtOnce = 1000

// Record implements state.Recorder.
func (j *journal) Record(s state.Settlement) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settlement = &s
}

// recordFound records the units that an apply has found right, and the hashes of blocks. The rows of the run
// are stored by now. If it has lost its claims, the rest stays due, and all if its hashes can't be compared.
func recordFound(ctx context.Context, p place, c *claim, s *state.Settlement) error {
	if s == nil || c.unusable {
		return nil
	}
	x := &found{place: p, c: c, Settlement: s, index: indexOf(s.Hashes), open: map[state.Block]bool{}, stays: map[state.Subject]bool{}}
	var err error
	for part := range inParts(s.Found, foundAtOnce) {
		if err = x.behindGate(ctx, func(t *tx) error { return x.part(t, part) }); err != nil {
			break
		}
	}
	if err == nil {
		err = x.behindGate(ctx, x.hashes)
	}
	if errors.Is(err, store.ErrLockLost) {
		return nil
	}
	return err
}

// inParts yields parts of a sequence with at most n elements each.
func inParts[T any](all iter.Seq[T], n int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		if all == nil {
			return
		}
		var part []T
		for one := range all {
			if part = append(part, one); len(part) == n {
				if !yield(part) {
					return
				}
				part = nil
			}
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// found records the units that an apply has found right.
type found struct {
	place
	c *claim
	*state.Settlement
	index hashIndex
	open  map[state.Block]bool // have units that were not recorded

	// stays says of sets of instances whether they are as the plan read them, and no other run can change
	// them. It holds until the moment of the workspace is another one: no run has claimed anything since.
	stays  map[state.Subject]bool
	moment int64
}

// behindGate calls f in a transaction that keeps other runs from claiming, while the run has its claims.
func (x *found) behindGate(ctx context.Context, f func(*tx) error) error {
	return x.store.again(ctx, nil, func(t *tx) error {
		_, err := t.gate(x.name)
		if err == nil {
			err = x.c.fence(t)
		}
		if err == nil {
			err = f(t)
		}
		return err
	})
}

// part records units, as far as all that they were evaluated from is as it was. The others get marks, unless
// their records say enough. The gate is held.
func (x *found) part(t *tx, part []state.Finding) error {
	if err := x.forgetSets(t); err != nil {
		return err
	}
	wanted := state.Claims{{Kind: state.WholeState}: state.Intent}
	subjects := map[state.Subject]bool{}
	of := map[state.Unit]state.Subject{} // rows of units
	for _, u := range part {
		if s, has := rowOf(u); has {
			of[u.Unit], subjects[s] = s, true
			wanted.Add(s, state.Shared)
		}
		for _, s := range u.Reads {
			if _, known := x.stays[s]; !known {
				subjects[s] = true
				wanted.Add(s, state.Shared)
			}
		}
	}
	taken, err := x.taken(t, wanted)
	if err != nil {
		return err
	}
	rows, err := x.changed(t, subjects)
	if err != nil {
		return err
	}
	stays := func(s state.Subject) bool {
		if known, is := x.stays[s]; is {
			return known
		}
		return !taken[s.Key()] && !rows.changed[s]
	}
	for s := range subjects {
		if s.Kind == state.AllInstances || s.Kind == state.AllWithin {
			x.stays[s] = stays(s)
		}
	}
	var right, gone, open []state.Finding
	for _, u := range part {
		s, has := of[u.Unit]
		ok := !u.Open && !taken[""] && (!has || stays(s)) && !slices.ContainsFunc(u.Reads, func(s state.Subject) bool { return !stays(s) })
		switch {
		case !ok || !u.Gone && u.Unit.Kind == state.InstanceUnit && rows.versions[u.Unit.Addr] == "": // or its object is gone
			open, x.open[u.Block] = append(open, u), true
		case u.Gone:
			gone = append(gone, u)
		default:
			right = append(right, u)
		}
	}
	if err = putRecords(t, x.c.workspace, x.index, right, rows.versions); err == nil {
		err = x.forget(t, gone)
	}
	if err == nil {
		err = x.mark(t, open)
	}
	return err
}

// forgetSets forgets which sets of instances stay as they are if another run has claimed anything since. The
// gate is held.
func (x *found) forgetSets(t *tx) error {
	was := x.moment
	_, err := t.one(`SELECT moment FROM mayfly.workspaces WHERE id = $1`, []any{x.c.workspace}, &x.moment)
	if x.moment != was {
		clear(x.stays)
	}
	return err
}

// rowOf returns the subject that is the row of a unit. All checks of a block have one.
func rowOf(u state.Finding) (state.Subject, bool) {
	switch u.Unit.Kind {
	case state.InstanceUnit:
		return state.Subject{Kind: state.OneInstance, Addr: u.Unit.Addr}, true
	case state.OutputUnit:
		return state.Subject{Kind: state.OneOutput, Addr: u.Unit.Addr}, true
	case state.CheckUnit:
		return state.Subject{Kind: state.OneCheck, Addr: u.Block.String()}, true
	}
	return state.Subject{}, false
}

// taken returns the keys that others have claimed in a way that excludes the wanted claims.
func (x *found) taken(t *tx, wanted state.Claims) (map[string]bool, error) {
	conflicts, err := t.conflicts(x.c, 0, keysOf(wanted), 0)
	taken := map[string]bool{}
	for _, f := range conflicts {
		taken[f.key] = true
	}
	return taken, err
}

// foundRows are the rows of subjects as they are now.
type foundRows struct {
	changed  map[state.Subject]bool // by others, since the plan read them
	versions map[string]string      // of current objects, by address
}

// changed compares the rows of subjects with the ones that the plan read. Rows that the run has written, or
// removed, count as they were.
func (x *found) changed(t *tx, subjects map[state.Subject]bool) (foundRows, error) {
	out := foundRows{changed: map[state.Subject]bool{}, versions: map[string]string{}}
	scope := &state.Scope{Relied: make(map[state.Subject]state.RowSet, len(subjects))}
	for s := range subjects {
		scope.Relied[s] = x.Relied[s]
	}
	now := &comparison{t: t, workspace: x.c.workspace, scope: scope, found: map[state.Subject]state.RowSet{}, writers: map[state.RowName]string{}}
	if err := now.read(x.name); err != nil {
		return out, err
	}
	type lost struct {
		of  state.Subject
		row state.RowName
	}
	var gone []lost
	for s, want := range scope.Relied {
		for row, version := range now.found[s] {
			if s.Kind == state.OneInstance && row.Deposed == "" && row.Unrecorded == "" {
				out.versions[row.Address] = uuid.UUID(version).String()
			}
			writer := now.writers[row]
			if s.Kind == state.OneOutput || s.Kind == state.OneCheck {
				writer = now.writers[state.RowName{Address: s.Key()}]
			}
			if was, is := want[row]; (!is || was != version) && (row.Unrecorded != "" || writer != x.c.run) {
				out.changed[s] = true
			}
		}
		for row := range want {
			if _, is := now.found[s][row]; !is && row.Unrecorded == "" {
				gone = append(gone, lost{s, row})
			}
		}
	}
	removed := map[state.RowName]bool{} // by the run
	if len(gone) > 0 {
		var addresses []string
		for _, g := range gone {
			addresses = append(addresses, g.row.Address)
		}
		err := t.rows(func(scan func(...any) error) error {
			var row state.RowName
			err := scan(&row.Address, &row.Deposed)
			removed[row] = true
			return err
		}, `SELECT DISTINCT ON (address, deposed) address, deposed FROM mayfly.past WHERE workspace = $1 AND address = ANY($2) AND next_run = $3`, x.c.workspace, pq.StringArray(addresses), x.c.run)
		if err != nil {
			return out, err
		}
	}
	for _, g := range gone { // no other run can remove a result that this one has claimed
		own := removed[g.row]
		if g.of.Kind == state.OneOutput || g.of.Kind == state.OneCheck {
			own = x.c.writes(g.of.Key())
		}
		out.changed[g.of] = out.changed[g.of] || !own
	}
	return out, nil
}

// putRecords makes the records of units, and removes their marks. versions are the current objects' versions.
func putRecords(t *tx, workspace int64, hashes hashIndex, units []state.Finding, versions map[string]string) error {
	var keys, kinds, blocks, reads []string
	var rows []sql.NullString
	var seen, given [][]byte
	for _, u := range units {
		var of []string
		for _, s := range u.Reads {
			of = append(of, s.Key())
		}
		hash, _ := hashes.of(u.Block)
		version := versions[u.Unit.Addr]
		keys, kinds, blocks, reads = append(keys, u.Unit.Key()), append(kinds, string(u.Unit.Kind)), append(blocks, u.Block.String()), append(reads, strings.Join(of, "\n"))
		rows = append(rows, sql.NullString{String: version, Valid: u.Unit.Kind == state.InstanceUnit && version != ""})
		seen, given = append(seen, known(hash)), append(given, known(u.Given))
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := t.exec(`WITH g AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::bytea[], $8::bytea[]) g(unit, kind, block, reads, version, seen, given)),
		unmarked AS (DELETE FROM mayfly.due d USING g WHERE d.workspace = $1 AND d.unit = g.unit)
		INSERT INTO mayfly.units AS u (workspace, unit, kind, block, version, reads, seen, given)
		SELECT $1, g.unit, g.kind, g.block, g.version, ARRAY(SELECT $1::bigint || ' ' || r FROM unnest(string_to_array(g.reads, E'\n')) r), NULLIF(g.seen, ''), NULLIF(g.given, '') FROM g
		ON CONFLICT (workspace, unit) DO UPDATE SET kind = excluded.kind, block = excluded.block, version = excluded.version, reads = excluded.reads, seen = excluded.seen, given = excluded.given
		WHERE (u.block, u.version, u.reads, u.seen, u.given) IS DISTINCT FROM (excluded.block, excluded.version, excluded.reads, excluded.seen, excluded.given)`,
		workspace, pq.StringArray(keys), pq.StringArray(kinds), pq.StringArray(blocks), pq.StringArray(reads), pq.Array(rows), pq.ByteaArray(seen), pq.ByteaArray(given))
	return err
}

// forget removes the marks and records of units that are gone, unless the state has a row after all.
func (x *found) forget(t *tx, units []state.Finding) error {
	keys := keysOfUnits(units)
	if len(keys) == 0 {
		return nil
	}
	_, err := t.exec(`WITH g AS (SELECT unit FROM unnest($2::text[]) g(unit) WHERE NOT EXISTS (SELECT 1 FROM mayfly.objects o WHERE o.workspace = $1 AND o.address = g.unit)
			AND NOT EXISTS (SELECT 1 FROM mayfly.results r WHERE r.workspace = $1 AND r.key = g.unit)),
		unmarked AS (DELETE FROM mayfly.due d USING g WHERE d.workspace = $1 AND d.unit = g.unit)
		DELETE FROM mayfly.units u USING g WHERE u.workspace = $1 AND u.unit = g.unit`, x.c.workspace, pq.StringArray(keys))
	return err
}

// mark marks units that were not recorded, and have no records from before, in place of the marks that ended
// runs have left.
func (x *found) mark(t *tx, units []state.Finding) error {
	keys := keysOfUnits(units)
	if len(keys) == 0 {
		return nil
	}
	_, err := t.exec(`INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT $1, k, 'object', $3 FROM unnest($2::text[]) k WHERE NOT EXISTS
		(SELECT 1 FROM mayfly.units u LEFT JOIN mayfly.objects o ON o.workspace = u.workspace AND o.address = u.unit AND o.deposed = '' WHERE u.workspace = $1 AND u.unit = k AND (u.kind <> 'instance' OR u.version = o.version))
		ON CONFLICT DO NOTHING`, x.c.workspace, pq.StringArray(keys), x.c.run)
	if err == nil {
		_, err = t.exec(sweep, x.c.run, x.c.workspace)
	}
	return err
}

func keysOfUnits(units []state.Finding) (keys []string) {
	for _, u := range units {
		keys = append(keys, u.Unit.Key())
	}
	return keys
}

// hashes writes the hashes of blocks that the plan has covered, if nothing says that some unit of a block has
// another one, or that another run has changed any since. Blocks without units that the configuration does
// not have lose their entries. The gate is held.
func (x *found) hashes(t *tx) error {
	h, err := readHashing(t, x.name)
	if err != nil {
		return err
	}
	if h.tracked == 0 || h.tracked > x.Moment+1 { // claims after the plan have left nothing
		return nil
	}
	stored, err := h.entries(nil)
	if err != nil {
		return err
	}
	others, err := x.claimedByOthers(t)
	if err != nil {
		return err
	}
	untouched := func(b state.Block) bool {
		e := entriesOf(stored, b)
		one, is := e.of[b.Name]
		return is && !one.since(x.Moment, x.c.run) || !is && e.dropped <= x.Moment
	}
	set := map[state.Block]state.Hash{}
	var gone []state.Block
	for _, b := range x.Covered {
		if hash, _ := x.index.of(b); hash.Known() && !others(b) && untouched(b) && !entriesOf(stored, b).of[b.Name].is(hash) {
			set[b] = hash
		}
	}
	err = eachEntry(stored, func(b state.Block, _ entry) {
		if _, declared := x.index.of(b); !declared && !others(b) && untouched(b) {
			gone = append(gone, b)
		}
	})
	if err == nil {
		set, gone, err = h.withoutOther(set, gone)
	}
	if err != nil {
		return err
	}
	h.moment++
	changed := map[string]*entries{}
	note := func(b state.Block, hash state.Hash) {
		e := entriesOf(stored, b)
		changed[h.write(e, b, hash, x.c.run)] = e
	}
	for b, hash := range set {
		note(b, hash)
	}
	for _, m := range x.Hashes {
		for _, one := range m.Blocks {
			b := state.Block{Module: m.Module, Name: one.Name}
			if was, is := entriesOf(stored, b).of[b.Name]; !is || !one.Hash.Known() && was.Hash != nil {
				note(b, state.Hash{})
			}
		}
	}
	for _, b := range gone {
		e := entriesOf(stored, b)
		delete(e.of, b.Name)
		e.dropped, changed[b.Module.String()] = h.moment, e
	}
	if err = h.put(changed); err == nil {
		err = x.clearChecks(t, func(b state.Block) bool { return !others(b) && untouched(b) && !x.open[b] })
	}
	if err == nil && x.Full && !h.complete {
		err = x.complete(t)
	}
	return err
}

// clearChecks removes the marks of the results of blocks whose units were all found right. A run that claims
// results marks them as a whole.
func (x *found) clearChecks(t *tx, right func(state.Block) bool) error {
	var keys []string
	for _, b := range x.Covered {
		if right(b) {
			address := b.Module.Join(strings.TrimPrefix(b.Name, "resource."))
			keys = append(keys, state.Subject{Kind: state.OneCheck, Addr: address}.Key())
		}
	}
	_, err := t.exec(`DELETE FROM mayfly.due WHERE workspace = $1 AND unit = ANY($2)`, x.c.workspace, pq.StringArray(keys))
	return err
}

// claimedByOthers returns a function that reports whether another run may change a part of a block.
func (x *found) claimedByOthers(t *tx) (func(state.Block) bool, error) {
	claimed, all := map[state.Block]bool{}, false
	err := t.rows(func(scan func(...any) error) error {
		var key string
		if err := scan(&key); err != nil {
			return err
		}
		if key == "" {
			all = true
			return nil
		}
		blocks, err := blocksOf(key)
		for _, b := range blocks {
			claimed[b] = true
		}
		return err
	}, `SELECT DISTINCT c.key FROM mayfly.claims c JOIN mayfly.runs r ON r.id = c.run WHERE c.workspace = $1 AND c.run <> $2 AND c.mode = 'x' AND r.state IN ('claimed', 'lapsed')`, x.c.workspace, x.c.run)
	return func(b state.Block) bool { return all || claimed[b] }, err
}

// withoutOther returns the blocks of which no unit has seen another hash, or none, and of the ones that are
// gone those without units.
func (h *hashing) withoutOther(set map[state.Block]state.Hash, gone []state.Block) (map[state.Block]state.Hash, []state.Block, error) {
	var names []string
	var hashes [][]byte
	for b, hash := range set {
		names, hashes = append(names, b.String()), append(hashes, known(hash))
	}
	for _, b := range gone {
		names, hashes = append(names, b.String()), append(hashes, nil)
	}
	other := map[string]bool{}
	err := h.t.rows(func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		other[name] = true
		return err
	}, `SELECT b.block FROM unnest($2::text[], $3::bytea[]) b(block, hash) WHERE EXISTS (SELECT 1 FROM mayfly.units u WHERE u.workspace = $1 AND u.block = b.block AND u.seen IS NULL)
		OR EXISTS (SELECT 1 FROM mayfly.units u WHERE u.workspace = $1 AND u.block = b.block AND u.seen < b.hash)
		OR EXISTS (SELECT 1 FROM mayfly.units u WHERE u.workspace = $1 AND u.block = b.block AND u.seen > b.hash)`, h.workspace, pq.StringArray(names), pq.ByteaArray(hashes))
	maps.DeleteFunc(set, func(b state.Block, _ state.Hash) bool { return other[b.String()] })
	return set, slices.DeleteFunc(gone, func(b state.Block) bool { return other[b.String()] }), err
}

// complete marks all objects without records, and notes that there are no others.
func (x *found) complete(t *tx) error {
	_, err := t.exec(`INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT o.workspace, o.address, 'object', $2 FROM mayfly.objects o WHERE o.workspace = $1 AND o.deposed = ''
		AND NOT EXISTS (SELECT 1 FROM mayfly.units u WHERE u.workspace = o.workspace AND u.unit = o.address AND u.version = o.version) ON CONFLICT DO NOTHING`, x.c.workspace, x.c.run)
	if err == nil {
		_, err = t.exec(`UPDATE mayfly.workspaces SET complete = true WHERE id = $1`, x.c.workspace)
	}
	return err
}
