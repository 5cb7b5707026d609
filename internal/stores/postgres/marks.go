//go:build !mayfly_no_postgres

package postgres

import (
	"strings"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// marks are the tables that say which units of a configuration are due, which is to say that evaluating them
// may find something to do (docs/adr/041-scope-changed.md). The record of a unit names the objects that it
// was evaluated from, and the version that its row had then. A mark is a row for each run that made one. The
// row of an object, or of a result, has columns for the rest. Rows that are older than these columns have no
// records, so they are due as well.
//
// Runs are not referred to: a mark outlives the row of its run.
const marks = `
CREATE TABLE mayfly.units (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	unit text NOT NULL,
	kind text NOT NULL CHECK (kind IN ('instance', 'repetition', 'output', 'check', 'values')),
	block text NOT NULL,
	version uuid,
	reads text[] NOT NULL,
	PRIMARY KEY (workspace, unit)
);
CREATE INDEX units_of_block ON mayfly.units (workspace, block);
CREATE INDEX units_reads ON mayfly.units USING gin (reads) WITH (fastupdate = off);
CREATE TABLE mayfly.due (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	unit text NOT NULL,
	kind text NOT NULL CHECK (kind IN ('object', 'input')),
	run uuid NOT NULL,
	PRIMARY KEY (workspace, unit, kind, run)
);
CREATE INDEX due_of_run ON mayfly.due (run);
ALTER TABLE mayfly.objects ADD COLUMN tainted boolean NOT NULL DEFAULT false, ADD COLUMN owes boolean NOT NULL DEFAULT false;
CREATE INDEX objects_due ON mayfly.objects (workspace, address) WHERE tainted OR owes OR deposed <> '';
ALTER TABLE mayfly.results ADD COLUMN passed boolean NOT NULL DEFAULT true;
CREATE INDEX results_due ON mayfly.results (workspace, key) WHERE NOT passed;`

// noteMarks are parts of a statement that follow changeObjects. The outcome of the step of an instance makes
// its record, and removes all its marks if nothing is left to do. That is right as long as the run has its
// claims on the objects that the instance was evaluated from, which is alive. Every other write of a row
// leaves a mark. Each unit that has read an object with another value now gets one, too.
//
// An instance is not due because a deposed object is gone. A unit that is settled gets no mark in the same
// statement: rows of one table cannot be inserted and deleted in one.
const noteMarks = `,
settles AS (SELECT workspace, address FROM given WHERE alive AND step = 'settled'),
recorded AS (INSERT INTO mayfly.units (workspace, unit, kind, block, version, reads, seen, given)
	SELECT g.workspace, g.address, 'instance', g.declared, p.version, ARRAY(SELECT g.workspace || ' ' || r FROM unnest(string_to_array(g.reads, E'\n')) r), NULLIF(g.seen, ''), NULLIF(g.hash, '')
	FROM given g JOIN put p ON p.address = g.address AND p.deposed = g.deposed WHERE g.step <> '' AND g.deposed = ''
	ON CONFLICT (workspace, unit) DO UPDATE SET kind = excluded.kind, block = excluded.block, version = excluded.version, reads = excluded.reads, seen = excluded.seen, given = excluded.given),
forgotten AS (DELETE FROM mayfly.units u USING given g WHERE g.gone AND g.deposed = '' AND u.workspace = g.workspace AND u.unit = g.address),
unmarked AS (DELETE FROM mayfly.due d USING settles s WHERE d.workspace = s.workspace AND d.unit = s.address),
marked AS (INSERT INTO mayfly.due (workspace, unit, kind, run)
	SELECT g.workspace, g.address, 'object', g.run FROM given g WHERE NOT (g.gone AND g.deposed <> '') AND NOT EXISTS (SELECT 1 FROM settles s WHERE s.address = g.address)
	UNION SELECT w.workspace, u.unit, 'input', w.run FROM (SELECT DISTINCT workspace, run FROM given) w JOIN mayfly.units u ON
		u.reads && ARRAY(SELECT g.workspace || ' ' || k FROM given g, unnest(string_to_array(g.altered, E'\n')) k) WHERE NOT EXISTS (SELECT 1 FROM settles s WHERE s.address = u.unit)
	ON CONFLICT DO NOTHING)`

// noted are the parameters of a statement with noteMarks: of each row, the values of the columns beside the
// object, the step, and the keys of all that has another value with the change.
type noted struct {
	tainted, owes         []bool
	steps, reads, altered []string // keys are one per line: they have no line breaks
	declared              []string // the block
	seen, given           [][]byte // hashes
}

// add adds a change, the hashes of the run's configuration, and whether the change gives its instance another
// value.
func (n *noted) add(c state.ObjectChange, hashes hashIndex, alters bool) {
	n.tainted, n.owes = append(n.tainted, c.New != nil && c.New.Tainted), append(n.owes, c.New != nil && c.New.Owes())
	step, reads, altered := "", []string(nil), []string(nil)
	block, seen, given := state.BlockOf(c.Object.Config()), state.Hash{}, state.Hash{}
	if c.Step != nil {
		step, given = "open", c.Step.Given
		seen, _ = hashes.of(block)
		if c.Step.Settled {
			step = "settled"
		}
		for _, s := range c.Step.Reads {
			reads = append(reads, s.Key())
		}
	}
	if alters {
		for _, s := range state.Around(c.Object.Instance) {
			altered = append(altered, s.Key())
		}
	}
	n.steps, n.reads, n.altered = append(n.steps, step), append(n.reads, strings.Join(reads, "\n")), append(n.altered, strings.Join(altered, "\n"))
	n.declared, n.seen, n.given = append(n.declared, block.String()), append(n.seen, known(seen)), append(n.given, known(given))
}

// alters reports whether a change gives its instance another value than it has in a state. That is assumed if
// the state is not known.
func alters(before *state.State, c state.ObjectChange) bool {
	return c.Object.Deposed == addr.Current && (before == nil || !before.Object(c.Object).SameValue(c.New))
}

func (n *noted) args() []any {
	return []any{pq.BoolArray(n.tainted), pq.BoolArray(n.owes), pq.StringArray(n.steps), pq.StringArray(n.reads), pq.StringArray(n.altered), pq.StringArray(n.declared), pq.ByteaArray(n.seen), pq.ByteaArray(n.given)}
}

// unitsOf returns the keys of the units that a run is about to change. They are marked when it claims them: a
// step that never begins leaves nothing else.
func unitsOf(scope *state.Scope) (units []string) {
	for s, mode := range scope.Claims {
		switch s.Kind {
		case state.OneInstance, state.OneOutput, state.OneCheck:
			if mode == state.Exclusive {
				units = append(units, s.Key())
			}
		}
	}
	return units
}

// valuesOf returns the keys of the unread values of the modules around all instances that a run is about to
// change. A run may make such a module, and only one with the scope of a change records the values.
func valuesOf(scope *state.Scope) (units []string) {
	seen := map[addr.ModuleInstance]bool{}
	for s, mode := range scope.Claims {
		if s.Kind != state.OneInstance || mode != state.Exclusive {
			continue
		}
		a, err := addr.ParseInstance(s.Addr)
		for m := a.Module; err == nil && !m.IsRoot() && !seen[m]; m, _, _ = m.Parent() {
			seen[m] = true
			units = append(units, state.Unit{Kind: state.ValuesUnit, Addr: m.String()}.Key())
		}
	}
	return units
}

// Settle implements state.Settler.
func (j *journal) Settle(instances ...addr.Instance) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range instances {
		j.settles = append(j.settles, a.String())
	}
}

// unmark takes back the marks of a run that changes nothing, since its plan was stale.
func unmark(t *tx, run string) error {
	_, err := t.exec(`DELETE FROM mayfly.due WHERE run = $1`, run)
	return err
}

// settledBy returns the units whose marks the end of the run removes, all that it has found right, and the
// reads of its plan: nothing if some results of the run are not stored.
func settledBy(j *journal) ([]string, *state.Settlement, *state.Reads) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return nil, nil, nil
	}
	return j.settles, j.settlement, j.reads
}
