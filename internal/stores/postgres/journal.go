//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// journal is a state.Journal whose results are rows. Records that arrive while a batch is under way are the
// next batch, which is one statement. A batch has a number, and has its effect once, however often it is
// sent.
type journal struct {
	*claim
	base  *state.File
	place string // the workspace

	flushing chan struct{}  // has room for the goroutine that sends; taken before mu
	sent     int64          // the number of the last batch; protected by flushing, as are the following
	times    map[string]int // how often each statement was sent
	kept     keptRun        // batches that could not be sent
	keptIn   string         // the file that has them; "" for none

	mu      sync.Mutex
	open    map[uint64]struct{}
	pending *batch
	failed  error
	keeping bool         // although it has failed, results go to a file
	durable *state.State // with the objects that the rows have; nil if they are not known
	rest    *state.File  // the parts of the stored state without rows, with the salts of the run
	settles []string     // units whose marks the end removes

	settlement *state.Settlement // all that was found right; nil for none
	reads      *state.Reads      // by the plan; nil for none
}

// batch are records that become durable together.
type batch struct {
	begun    []int64
	keys     []string // of the begun
	objects  [][]byte
	actions  []string
	ended    []int64
	opened   []int64
	opening  [2][]string // instances and providers
	since    []string
	closed   []int64
	changes  []state.ObjectChange
	document *state.File // nil if that stays as it is
	salts    *state.File // all of the run; nil if they stay as they are
	altered  []bool      // which changes give their instances other values; made when it is sent first

	done bool // protected by journal.flushing, as are the following
	err  error
	rows int  // objects that it changes
	late bool // the lease has lapsed, so nothing was begun
	kept bool // the results came late and are kept beside the rows
}

// begins reports whether nothing is in the batch but operations that begin.
func (b *batch) begins() bool {
	return len(b.ended)+len(b.opened)+len(b.closed)+len(b.changes) == 0 && b.document == nil && b.salts == nil
}

var _ state.Queue = (*journal)(nil)

// newJournal returns the journal of a run that changes base, the state of a workspace. known is the stored
// state; nil if it is base.
func newJournal(place string, c *claim, base, known *state.File) *journal {
	if known == nil {
		known = base
	}
	return &journal{
		claim: c, base: base, place: place, flushing: make(chan struct{}, 1), sent: c.batches, times: map[string]int{}, open: map[uint64]struct{}{},
		durable: known.State.Copy(), rest: withoutRows(known),
	}
}

var (
	errEnded = errors.New("the run has ended")
	errKept  = fmt.Errorf("%w: it was released by force, or not renewed in time. The result is kept in the database, and the next plan shows it", store.ErrLockLost)
	errLate  = fmt.Errorf("%w: it was not renewed in time, because the database could not be reached. Nothing more is begun", store.ErrLockLost)
)

// add adds to the pending batch, and returns a function that waits until it is durable. Results are also
// added after a failure, as long as they are kept in a file.
func (j *journal) add(results bool, f func(*batch)) (wait func() (*batch, error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil && !(results && j.keeping) {
		err := j.failed
		return func() (*batch, error) { return nil, err }
	}
	if j.pending == nil {
		j.pending = &batch{}
	}
	b := j.pending
	f(b)
	return func() (*batch, error) {
		j.flushing <- struct{}{}
		defer func() { <-j.flushing }()
		if !b.done {
			j.flush()
		}
		return b, b.err
	}
}

// flush sends the pending batch. j.flushing is held.
func (j *journal) flush() {
	j.mu.Lock()
	b := j.pending
	j.pending = nil
	err, kept := j.failed, j.keeping
	j.mu.Unlock()
	if err == nil || kept {
		j.sent++
	}
	if err == nil {
		if err = j.send(b); err != nil {
			err, kept = j.orKeep(b, err)
		}
	} else if kept {
		if worse, ok := j.orKeep(b, err); !ok {
			err, kept = worse, false
		}
	}
	if b.done, b.err = true, err; b.kept {
		b.err = errKept
	}
	if err == nil {
		j.sure.batch(j.sent, b)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed, j.keeping = err, kept
	if err != nil && !kept {
		return
	}
	for _, c := range b.changes {
		c.Apply(j.durable)
	}
}

// record records a batch. The row of the run is locked first: batches of a run are carried out one after the
// other, and one that is repeated, or comes late, finds its number there. Of a run whose lease has lapsed,
// the results of operations that have begun are accepted. Other results, and all of a run that was freed by
// force, are kept beside the rows. It is written in any case: a transaction that writes nothing would not
// wait for replicas that the first attempt has not reached.
var record = `WITH setting AS (SELECT ` + durable + `, ` + generic + `),
fence AS (SELECT r.id, r.workspace, r.batch = $2::bigint - 1 AS fresh, r.state, r.state = 'claimed' AND r.lease_until > clock_timestamp() AS alive
	FROM mayfly.runs r, setting WHERE r.id = $1 AND r.state IN ('claimed', 'lapsed', 'forced') AND r.batch IN ($2::bigint - 1, $2::bigint) FOR NO KEY UPDATE OF r),
judged AS (SELECT f.workspace, f.id AS run, f.alive, g.*, f.state = 'claimed' OR f.state = 'lapsed' AND EXISTS
	(SELECT 1 FROM mayfly.operations o WHERE o.run = f.id AND o.id = ANY($10::bigint[]) AND o.ended IS NULL AND o.key = g.address) AS accepted FROM fence f, ` + columns(15) + ` WHERE f.fresh),
counted AS (UPDATE mayfly.runs r SET batch = $2, commits = commits + j.n, changes = changes + j.n FROM fence f, (SELECT count(*) AS n FROM judged WHERE accepted) j WHERE r.id = f.id),
begun AS (INSERT INTO mayfly.operations (run, id, workspace, key, object, action)
	SELECT f.id, b.id, f.workspace, b.key, b.object, b.action FROM fence f, unnest($3::bigint[], $13::text[], $4::bytea[], $5::text[]) b(id, key, object, action) WHERE f.fresh AND f.alive),
opened AS (INSERT INTO mayfly.openings (run, id, instance, provider, since)
	SELECT f.id, o.id, o.instance, o.provider, o.since FROM fence f, unnest($6::bigint[], $7::text[], $8::text[], $9::timestamptz[]) o(id, instance, provider, since) WHERE f.fresh AND f.alive),
ended AS (UPDATE mayfly.operations o SET ended = clock_timestamp() FROM fence f WHERE f.fresh AND o.run = f.id AND o.id = ANY($10::bigint[])),
closed AS (DELETE FROM mayfly.openings o USING fence f WHERE f.fresh AND o.run = f.id AND o.id = ANY($11::bigint[])),
rest AS (UPDATE mayfly.workspaces w SET document = $12 FROM fence f WHERE f.fresh AND (f.state = 'claimed' OR f.state = 'lapsed' AND w.document = '') AND w.id = f.workspace AND $12::bytea IS NOT NULL),
salted AS (INSERT INTO mayfly.salts (run, workspace, body) SELECT f.id, f.workspace, $14 FROM fence f WHERE f.fresh AND f.state IN ('claimed', 'lapsed') AND $14::bytea IS NOT NULL
	ON CONFLICT (run) DO UPDATE SET body = excluded.body),
kept AS (INSERT INTO mayfly.late (run, batch, workspace, address, deposed, sealed, body)
	SELECT run, $2, workspace, address, deposed, sealed, CASE WHEN NOT gone THEN body END FROM judged WHERE NOT accepted),
suspected AS (INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT DISTINCT workspace, address, 'object', run FROM judged WHERE NOT accepted ON CONFLICT DO NOTHING),
given AS (SELECT * FROM judged WHERE accepted),` +
	settle(33) + changeObjects + `
SELECT fresh, EXISTS (SELECT 1 FROM judged WHERE NOT accepted), alive OR EXISTS (SELECT 1 FROM mayfly.operations o WHERE o.run = f.id AND o.id = ANY($3::bigint[])) OR EXISTS (SELECT 1 FROM mayfly.openings o WHERE o.run = f.id AND o.id = ANY($6::bigint[])) FROM fence f`

// send sends a batch, again if the connection is lost, after those that the server has lost since. j.flushing
// is held.
func (j *journal) send(b *batch) error {
	if b.altered == nil {
		j.mu.Lock()
		for _, c := range b.changes {
			b.altered = append(b.altered, alters(j.durable, c))
		}
		j.mu.Unlock()
	}
	err := sendAs(j, b, j.sent)
	if errors.Is(err, errBehind) {
		if err = sendLost(j, j.sent); err == nil {
			err = sendAs(j, b, j.sent)
		}
	}
	return err
}

// sendAs sends a batch with a number. It returns errBehind if the server does not have the one before.
// j.flushing is held.
func sendAs(j *journal, b *batch, number int64) error {
	last := map[addr.Object]int{}
	for i, c := range b.changes {
		last[c.Object] = i
	}
	var o objects
	for i, c := range b.changes {
		if last[c.Object] == i {
			if err := o.add(j.Store, c, j.hashes, b.altered[i]); err != nil {
				return err
			}
		}
	}
	b.rows = len(last)
	document, err := encode(b.document, j.opt.Cipher)
	if err != nil {
		return err
	}
	salts, err := encode(b.salts, j.opt.Cipher)
	if err != nil {
		return err
	}
	statement, args := begin, []any{j.run, number, pq.Array(b.begun), pq.StringArray(b.keys), pq.ByteaArray(b.objects), pq.StringArray(b.actions)}
	if !b.begins() {
		runs, batches := j.settling(o.changes)
		args = append(append([]any{
			j.run, number, pq.Array(b.begun), pq.ByteaArray(b.objects), pq.StringArray(b.actions),
			pq.Array(b.opened), pq.StringArray(b.opening[0]), pq.StringArray(b.opening[1]), pq.StringArray(b.since),
			pq.Array(b.ended), pq.Array(b.closed), document, pq.StringArray(b.keys), salts,
		}, o.args()...), runs, pq.Array(batches))
		statement = record
	}
	j.times[statement]++
	ctx := context.Background() // an interrupted run still has results
	return j.persist(ctx, func() error {
		db, err := j.db(ctx)
		if err != nil {
			return err
		}
		var fresh, alive bool
		query := func() *sql.Row { return db.QueryRowContext(ctx, j.in(statement), args...) }
		if j.times[statement] > unprepared {
			prepared, err := j.prepared(ctx, db, statement)
			if err != nil {
				return err
			}
			query = func() *sql.Row { return prepared.QueryRowContext(ctx, args...) }
		}
		err = query().Scan(&fresh, &b.kept, &alive)
		if err == nil && !fresh { // the first attempt, which this one may have waited for, has decided
			err = db.QueryRowContext(ctx, j.in(`SELECT EXISTS (SELECT 1 FROM mayfly.late WHERE run = $1 AND batch = $2)`), j.run, number).Scan(&b.kept)
		}
		if errors.Is(err, sql.ErrNoRows) {
			return errBehind
		}
		b.late = !alive
		return err
	})
}

// unprepared is how many times a run sends a statement for batches before it prepares it, in a round trip of
// its own. The server plans it no more then, which takes ten times as long as carrying it out.
const unprepared = 1

// prepared returns a prepared statement for batches. It belongs to no session: where there is another one, it
// is prepared there as well.
func (s *Store) prepared(ctx context.Context, db *sql.DB, statement string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sent := s.sent[statement]; sent != nil {
		return sent, nil
	}
	sent, err := db.PrepareContext(ctx, s.in(statement))
	if err == nil {
		s.sent[statement] = sent
	}
	return sent, err
}

// encode returns the form of a document that a row has; nil for none.
func encode(f *state.File, c store.Cipher) ([]byte, error) {
	if f == nil {
		return nil, nil
	}
	return store.Encode(f, c)
}

// number returns the number of the next operation or opening.
func (j *journal) number() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.numbers++
	return j.numbers
}

// Begin implements state.Journal.
func (j *journal) Begin(o addr.Object, action string) (uint64, error) {
	key := o.Instance.String()
	if !j.writes(key) {
		return 0, fmt.Errorf("the run has not claimed %s, which its plan does not change", o.Instance)
	}
	id := j.number()
	b, err := j.add(false, func(b *batch) {
		b.begun, b.keys, b.actions = append(b.begun, id), append(b.keys, key), append(b.actions, action)
		b.objects = append(b.objects, state.EncodeChange(state.ObjectChange{Object: o}))
	})()
	if err == nil && b.late {
		err = errLate
	}
	if err != nil {
		return uint64(id), err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open[uint64(id)] = struct{}{}
	return uint64(id), nil
}

// Enqueue implements state.Queue.
func (j *journal) Enqueue(id uint64, changes ...state.ObjectChange) (wait func() error) {
	j.mu.Lock()
	_, begun := j.open[id]
	delete(j.open, id)
	j.mu.Unlock()
	if !begun {
		return func() error { return fmt.Errorf("the operation %d has not begun, or has ended", id) }
	}
	durable := j.add(true, func(b *batch) {
		b.ended, b.changes = append(b.ended, int64(id)), append(b.changes, changes...)
		before := len(j.rest.State.Salts)
		for _, c := range changes {
			j.rest.State.AddSalts(c.Salts...)
		}
		rest := *j.rest
		rest.State = j.rest.State.Copy()
		switch {
		case len(changes) > 0 && j.base.Serial == 0: // without it, the rows would be of no state
			b.document = &rest
		case len(changes) > 0 && len(j.rest.State.Salts) > before:
			b.salts = &rest
		}
	})
	return func() error {
		_, err := durable()
		return err
	}
}

// Commit implements state.Journal.
func (j *journal) Commit(id uint64, changes ...state.ObjectChange) error {
	return j.Enqueue(id, changes...)()
}

// Fail implements state.Journal.
func (j *journal) Fail(id uint64, changes ...state.ObjectChange) error {
	return j.Enqueue(id, changes...)()
}

// Opening implements state.Journal.
func (j *journal) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	id := j.number()
	b, err := j.add(false, func(b *batch) {
		b.opened, b.since = append(b.opened, id), append(b.since, at.UTC().Format(time.RFC3339Nano))
		b.opening[0], b.opening[1] = append(b.opening[0], i.String()), append(b.opening[1], p.String())
	})()
	if err == nil && b.late {
		err = errLate
	}
	return uint64(id), err
}

// Closed implements state.Journal.
func (j *journal) Closed(id uint64) error {
	_, err := j.add(false, func(b *batch) { b.closed = append(b.closed, int64(id)) })()
	return err
}

// stop ends the journal: a batch under way ends first, and later calls fail. It returns the state with the
// objects that the rows have.
func (j *journal) stop() *state.State {
	j.flushing <- struct{}{}
	defer func() { <-j.flushing }()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil || j.keeping {
		j.failed, j.keeping = errEnded, false
	}
	j.batches = j.sent
	return j.durable
}
