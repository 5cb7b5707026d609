//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state"
)

// results adds the stored outputs and results of checks, which have rows of their own, to f: of some keys, or
// all.
func (t *tx) results(workspace int64, f *state.File, keys ...string) error {
	return t.rows(func(scan func(...any) error) error { return result(t, f.State, scan) }, `SELECT key, sealed, body FROM mayfly.results WHERE workspace = $1 AND ($2::text[] IS NULL OR key = ANY($2)) ORDER BY key COLLATE "C"`, workspace, pq.StringArray(keys))
}

// result adds the output or the results of a check in a row to a state.
func result(t *tx, to *state.State, scan func(...any) error) error {
	var key string
	var sealed bool
	var body []byte
	if err := scan(&key, &sealed, &body); err != nil {
		return err
	}
	plain, err := t.plain(sealed, body)
	if err != nil {
		return fmt.Errorf("reading the row of %s: %w", state.DescribeKey(key), err)
	}
	one, err := state.Read(plain)
	if err != nil {
		return fmt.Errorf("reading the row of %s: %w", state.DescribeKey(key), err)
	}
	for s := range one.State.Results() {
		if s.Key() != key {
			return fmt.Errorf("the row of %s is damaged: it has the content of %s", state.DescribeKey(key), state.DescribeKey(s.Key()))
		}
	}
	maps.Copy(to.Outputs, one.State.Outputs)
	to.Checks = append(to.Checks, one.State.Checks...)
	return nil
}

// resultRows are rows of results in the form that statements take them in.
type resultRows struct {
	keys   []string
	sealed []bool
	bodies [][]byte
	passed []bool
	same   []bool // whether the stored row has this content
}

// add adds a row with one of the results of f, and whether it has the content of the stored one. checks has
// the checks of f by block.
func (r *resultRows) add(t *tx, of state.Subject, f *state.File, checks map[string][]state.CheckResult, same bool) error {
	one := &state.File{Meta: state.Meta{Lineage: f.Lineage, Version: f.Version}, State: state.New()}
	if of.Kind == state.OneOutput {
		one.State.Outputs[of.Addr] = f.State.Outputs[of.Addr]
	}
	passed := true
	if of.Kind == state.OneCheck {
		for _, c := range checks[of.Addr] {
			one.State.Checks, passed = append(one.State.Checks, c), c.Status == state.CheckPass
		}
	}
	plain, err := state.Write(one)
	if err != nil {
		return err
	}
	body, sealed, err := t.seal(plain)
	if err == nil {
		r.keys, r.sealed, r.bodies = append(r.keys, of.Key()), append(r.sealed, sealed), append(r.bodies, body)
		r.passed, r.same = append(r.passed, passed), append(r.same, same)
	}
	return err
}

// putResults stores the results in which next differs from stored, marks them, and reports whether there are
// any. That is a turn, so that no run stores others in their place that it has evaluated before. With anew,
// the other results are stored as well, encrypted by the present rules.
func (t *tx) putResults(c *claim, stored *state.State, next *state.File, anew bool) (bool, error) {
	was, is := stored.Results(), next.State.Results()
	var put resultRows
	var gone []string
	checks := map[string][]state.CheckResult{}
	for _, c := range next.State.Checks {
		checks[c.Config] = append(checks[c.Config], c)
	}
	for s := range was {
		if _, stays := is[s]; !stays {
			gone = append(gone, s.Key())
		}
	}
	for s, version := range is {
		old, had := was[s]
		same := had && old == version
		if same && !anew {
			continue
		}
		if err := put.add(t, s, next, checks, same); err != nil {
			return false, err
		}
	}
	if len(gone)+len(put.keys) == 0 {
		return false, nil
	}
	_, err := t.turn(c.workspace)
	if err == nil {
		err = dropResults(t, c, gone)
	}
	if err == nil {
		if anew {
			gone = nil // a state that takes the place of another one has no read-sets
		}
		err = noteResults(t, c, put.keys, gone)
	}
	if err == nil {
		err = storeResults(t, c, put)
	}
	if err == nil {
		err = showOutputs(t, c.workspace, next.State.Outputs)
	}
	return true, err
}

// noteResults makes the records of units whose results a run has stored, as far as it has claimed them with
// their read-sets, and removes the marks. The records of a block that is gone go as well. All others get
// marks.
func noteResults(t *tx, c *claim, put, gone []string) error {
	claimed := map[string][]state.Finding{}
	for s, units := range c.scope.Results {
		claimed[s.Key()] = append(make([]state.Finding, 0, len(units)), units...)
	}
	var made []state.Finding
	var marked, done, lost []string
	for i, key := range slices.Concat(put, gone) {
		units := claimed[key]
		if units == nil {
			marked = append(marked, key)
			continue
		}
		done = append(done, key)
		if i < len(put) {
			made = append(made, units...)
			continue
		}
		blocks, err := blocksOf(key)
		if err != nil {
			return err
		}
		if _, declared := c.hashes.of(blocks[0]); declared { // an output that is null now
			made = append(made, units...)
			continue
		}
		lost = append(lost, blocks[0].String())
	}
	_, err := t.exec(`INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT $1, u, 'object', $3 FROM unnest($2::text[]) u ON CONFLICT DO NOTHING`, c.workspace, pq.StringArray(marked), c.run)
	if err == nil && len(done) > 0 { // the units of a resource have records of their own
		_, err = t.exec(`WITH lost AS (DELETE FROM mayfly.units WHERE workspace = $1 AND block = ANY($2) AND kind IN ('output', 'check') RETURNING unit)
			DELETE FROM mayfly.due WHERE workspace = $1 AND (unit = ANY($3) OR unit IN (SELECT unit FROM lost))`, c.workspace, pq.StringArray(lost), pq.StringArray(done))
	}
	if err == nil {
		err = putRecords(t, c.workspace, c.hashes, made, nil)
	}
	return err
}

// turn begins the next turn of storing results, which excludes others until the transaction ends. It returns
// the number.
func (t *tx) turn(workspace int64) (turn int64, err error) {
	_, err = t.one(`INSERT INTO mayfly.evaluations AS e (workspace, turn) VALUES ($1, 1) ON CONFLICT (workspace) DO UPDATE SET turn = e.turn + 1 RETURNING turn`, []any{workspace}, &turn)
	return turn, err
}
