//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// claim is a run that has claims: the row of the run, and its exclusive claims.
type claim struct {
	*Store
	run       string // its number in the database, which no other run ever has
	workspace int64
	serial    uint64 // of the stored state when it was claimed
	info      store.LockInfo
	alone     bool                // it was claimed without the lock, and ends with the run or the write
	keys      map[string]struct{} // claimed exclusively
	found     *store.Recovered    // left by runs before; nil for none
	folded    []string            // runs that it has folded, or tried to
	stop      context.CancelFunc
	batches   int64 // that journals have sent
	sure      acknowledged
	numbers   int64 // of operations and openings; protected by the journal
	scope     *state.Scope
	hashes    hashIndex // of the configuration of the run; nil if they are not known
	read      []lateID  // late results, before it claimed
	key       []byte    // for hashes; nil if it is not known

	hashedWith []byte // the key that hashes was made with; nil if another process has made the plan
	unusable   bool   // hashes was made with another key than key
}

// whole reports whether the run has claimed the whole state.
func (c *claim) whole() bool {
	_, is := c.keys[""]
	return is
}

// HashKey implements state.Keyed.
func (c *claim) HashKey() []byte { return c.key }

// writes reports whether the run has claimed a key exclusively.
func (c *claim) writes(key string) bool {
	_, is := c.keys[key]
	return is || c.whole()
}

// wholeState are the claims of a run that excludes all others.
var wholeState = &state.Scope{Claims: state.Claims{{Kind: state.WholeState}: state.Exclusive}}

// take claims a scope. It fails with a *store.LockError if another run has a claim on a part of it. With
// wait, it takes a place among those that wait then. m.mu is held.
func (m *manager) take(ctx context.Context, scope *state.Scope, info store.LockInfo, alone, wait bool) error {
	if err := m.store.checkSessions(ctx); err != nil {
		return err
	}
	c, err := m.candidate(info)
	if err != nil {
		return err
	}
	c.alone, c.scope, c.read, c.hashes = alone, scope, m.read, indexOf(scope.Hashes)
	c.hashedWith, c.unusable = m.hashedWith, false
	text, err := c.info.Marshal()
	if err != nil {
		return err
	}
	var found []conflict
	err = m.store.again(ctx, nil, func(t *tx) (err error) {
		if found, err = m.claimIn(t, c, scope, string(text), wait); err == nil && len(found) == 0 {
			c.found, err = m.fold(t, c)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(found) > 0 {
		if wait {
			m.waiting = c
		}
		return claimedError(scope, found)
	}
	var beating context.Context
	beating, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { _ = bug.Call(func() { c.beat(beating) }) }()
	if m.claim != nil { // whose claims must be gone, or they would have been in the way
		m.claim.stop()
	}
	m.claim, m.waiting = c, nil
	m.store.note(c.run, true)
	return nil
}

// candidate returns a run without claims: the one with the same information that waits already, or a new one.
// m.mu is held.
func (m *manager) candidate(info store.LockInfo) (*claim, error) {
	if m.waiting != nil && m.waiting.info.ID == info.ID {
		return m.waiting, nil
	}
	id, err := uuid.NewRandomFromReader(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("choosing the number of a run: %w", err)
	}
	if info.Created.IsZero() {
		made, err := store.NewLockInfo(info.Operation, info.Version, time.Now(), rand.Reader)
		if err != nil {
			return nil, err
		}
		info = made
	}
	info.Path = m.path()
	return &claim{Store: m.store, run: id.String(), info: info}, nil
}

// standing describes a run and its workspace behind the gate.
type standing struct {
	fresh  bool   // there is no state yet
	status string // of the run itself; "" if it has no row
	ticket int64  // of the run itself
	lapsed bool   // some runs have to be reaped
}

// standing reads the standing of a run. The gate is held.
func (c *claim) standing(t *tx) (s standing, err error) {
	_, err = t.one(`SELECT w.document = '', COALESCE(own.state, ''), COALESCE(own.ticket, $3), EXISTS (SELECT 1 FROM mayfly.runs r WHERE r.workspace = w.id AND r.folded_by IS NULL
			AND (r.state IN ('claimed', 'waiting') AND r.lease_until <= clock_timestamp() OR r.state = 'lapsed' AND EXISTS (SELECT 1 FROM mayfly.claims c WHERE c.run = r.id)))
		FROM mayfly.workspaces w LEFT JOIN mayfly.runs own ON own.id = $2 WHERE w.id = $1`, []any{c.workspace, c.run, int64(noTicket)}, &s.fresh, &s.status, &s.ticket, &s.lapsed)
	return s, err
}

// claimIn claims a scope for a run, or returns the claims of others that are in the way. All of it is one
// transaction behind the gate.
func (m *manager) claimIn(t *tx, c *claim, scope *state.Scope, text string, wait bool) ([]conflict, error) {
	var err error
	if c.workspace, err = t.gate(m.name); err == nil && c.workspace == 0 {
		if _, err = t.exec(`INSERT INTO mayfly.workspaces (name) VALUES ($1) ON CONFLICT DO NOTHING`, m.name); err == nil {
			c.workspace, err = t.gate(m.name)
		}
	}
	if err != nil {
		return nil, err
	}
	own, err := c.standing(t)
	if err != nil {
		return nil, err
	}
	if own.status == "claimed" { // the answer to this very request was lost
		return nil, c.readKeys(t)
	}
	if own.lapsed {
		if err = m.reap(t, c.workspace); err != nil {
			return nil, err
		}
	}
	wanted := scope.Claims
	if own.fresh { // two runs must not make two states
		wanted = wholeState.Claims
	}
	found, err := t.conflicts(c, own.ticket, keysOf(wanted), conflictsShown)
	if err == nil && len(found) > 0 {
		if wait {
			err = t.enter(c, own, "waiting", waitingLease, text, keysOf(wanted), nil, nil)
		} else if own.status == "waiting" {
			_, err = t.exec(`DELETE FROM mayfly.runs WHERE id = $1 AND state = 'waiting'`, c.run)
		}
		return found, err
	}
	if err == nil {
		wanted, err = t.withOptional(c, own.ticket, wanted, scope.Optional)
	}
	if err == nil {
		err = t.enter(c, own, "claimed", m.store.opt.Lease, text, keysOf(wanted), unitsOf(scope), valuesOf(scope))
	}
	if err == nil {
		err = fits(t, c, unitsOf(scope))
	}
	if err == nil {
		err = unhash(t, c, wanted)
	}
	c.keys = map[string]struct{}{}
	for s, mode := range wanted {
		if mode == state.Exclusive {
			c.keys[s.Key()] = struct{}{}
		}
	}
	return nil, err
}

// readKeys reads the exclusive claims of a run.
func (c *claim) readKeys(t *tx) error {
	c.keys = map[string]struct{}{}
	return t.rows(func(scan func(...any) error) error {
		var key string
		err := scan(&key)
		c.keys[key] = struct{}{}
		return err
	}, `SELECT key FROM mayfly.claims WHERE run = $1 AND mode = 'x'`, c.run)
}

// waitingLease is how long a run that waits for claims keeps its place without asking again.
const waitingLease = 15 * time.Second

// enter notes the run with its claims, in place of those for which it has waited, and marks units; unrecorded
// are marked if they have no records. A run may have lapsed since, and be folded, if an answer was lost for
// longer than its lease: it begins anew.
func (t *tx) enter(c *claim, own standing, status string, lease time.Duration, text string, keys claimKeys, units, unrecorded []string) error {
	if own.status != "" {
		if _, err := t.exec(`DELETE FROM mayfly.claims WHERE run = $1`, c.run); err != nil {
			return err
		}
	}
	statement := `WITH noted AS (INSERT INTO mayfly.runs (id, workspace, state, info, lease_until) VALUES ($2, $1, $5, $6, clock_timestamp() + $7 * interval '1 microsecond')
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, lease_until = excluded.lease_until, ended = NULL, folded_by = NULL),`
	args := []any{c.workspace, c.run, pq.StringArray(keys.keys), pq.StringArray(keys.modes), status, text, lease.Microseconds()}
	if len(units) > 0 {
		statement += ` marked AS (INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT $1, u, 'object', $2 FROM unnest($8::text[]) u
			UNION SELECT $1, v, 'object', $2 FROM unnest($9::text[]) v WHERE NOT EXISTS (SELECT 1 FROM mayfly.units o WHERE o.workspace = $1 AND o.unit = v) ON CONFLICT DO NOTHING),`
		args = append(args, pq.StringArray(units), pq.StringArray(unrecorded))
	}
	_, err := t.exec(statement+` wanted AS (SELECT * FROM unnest($3::text[], $4::text[]) k(key, mode))
		INSERT INTO mayfly.claims (workspace, key, run, mode) SELECT $1, key, $2, mode::"char" FROM wanted`, args...)
	return err
}

// withOptional returns claims together with the optional ones that conflict with none of other runs.
func (t *tx) withOptional(c *claim, ticket int64, wanted state.Claims, optional []state.Claims) (state.Claims, error) {
	if len(optional) == 0 {
		return wanted, nil
	}
	all := state.Claims{}
	for _, claims := range append([]state.Claims{wanted}, optional...) {
		for s, mode := range claims {
			all.Add(s, mode)
		}
	}
	found, err := t.conflicts(c, ticket, keysOf(all), 0)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, f := range found {
		taken[f.key] = true
	}
	out := state.Claims{}
	for s, mode := range wanted {
		out.Add(s, mode)
	}
	for _, claims := range optional {
		free := true
		for s := range claims {
			free = free && !taken[s.Key()]
		}
		for s, mode := range claims {
			if free {
				out.Add(s, mode)
			}
		}
	}
	return out, nil
}

// beat renews the lease until ctx ends. A lease that has lapsed is not renewed.
func (c *claim) beat(ctx context.Context) {
	ticker := time.NewTicker(c.opt.Lease / 6)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// If this fails, the server refuses the next operation, or the next beat succeeds.
		_ = c.once(ctx, nil, func(t *tx) error {
			_, err := t.exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() + $2 * interval '1 microsecond' WHERE id = $1 AND state = 'claimed' AND lease_until > clock_timestamp()`, c.run, c.opt.Lease.Microseconds())
			return err
		})
	}
}

// fence fails unless the claims are still there, and keeps them until the transaction ends.
func (c *claim) fence(t *tx) error {
	there, err := t.one(`SELECT 1 FROM mayfly.runs WHERE id = $1 AND state = 'claimed' FOR NO KEY UPDATE`, []any{c.run}, new(int))
	if err == nil && !there {
		return errUnclaimed
	}
	return err
}

// errUnclaimed says that a run has no claims any more.
var errUnclaimed = fmt.Errorf("%w: it was released by force, or not renewed in time", store.ErrLockLost)

// forget removes the records of operations that the stored rows have the results of, the marks of units that
// are settled, and those that ended runs have left where this one leaves the same. It is the last that locks
// marks, and waits for no batch that removes them.
func (c *claim) forget(t *tx, settled ...string) error {
	_, err := t.exec(`UPDATE mayfly.operations SET ended = clock_timestamp() WHERE run = $1 AND ended IS NULL`, c.run)
	if err == nil {
		_, err = t.exec(`WITH settled AS (DELETE FROM mayfly.due WHERE workspace = $2 AND unit = ANY($3)),
			swept AS (`+sweep+`)
			DELETE FROM mayfly.openings WHERE run = $1`, c.run, c.workspace, pq.StringArray(settled))
	}
	return err
}

// sweep removes the marks of ended runs where a run has left the same. It has no join: statistics that the
// server made while all marks were part of an open transaction say that there are none, and it would then
// compare each mark with each other one. Nor does it compare anything that is not in the index of the marks:
// an array is searched from its beginning for each row.
var sweep = `DELETE FROM mayfly.due WHERE ctid = ANY(` + alsoMarked("object") + ` || ` + alsoMarked("input") + `)`

// alsoMarked is the array of the marks of a kind that ended runs have left where a run has left one.
func alsoMarked(kind string) string {
	return `ARRAY(SELECT o.ctid FROM mayfly.due o
	WHERE o.workspace = $2 AND o.kind = '` + kind + `' AND o.unit = ANY(ARRAY(SELECT unit FROM mayfly.due WHERE run = $1 AND kind = '` + kind + `')) AND o.run <> $1
		AND NOT EXISTS (SELECT 1 FROM mayfly.runs r WHERE r.id = o.run AND r.state = 'claimed') FOR UPDATE OF o SKIP LOCKED)`
}

// release gives the claims back. A run that has begun and not ended is left for the next one to find. One
// with results in a file keeps its claims until its lease lapses, and the objects of the operations until the
// file is committed. m.mu is held.
func (m *manager) release(ctx context.Context) error {
	c, ending := m.claim, "ended"
	c.stop()
	kept := false
	if m.journal != nil {
		m.journal.stop()
		kept, ending = m.journal.keptIn != "", "left"
	}
	m.claim, m.journal = nil, nil
	m.store.note(c.run, false)
	if kept {
		return nil
	}
	var unsaved error
	err := m.store.again(ctx, nil, func(t *tx) error {
		var batch int64
		var commits int
		// It is written again if the first answer was lost, for the replicas: see record.
		there, err := t.one(`UPDATE mayfly.runs SET state = $2, ended = clock_timestamp() WHERE id = $1 AND state IN ('claimed', $2) RETURNING batch, commits`, []any{c.run, ending}, &batch, &commits)
		if err == nil && there { // the claims of a lapsed run are on objects that may still be changing
			_, err = t.exec(`DELETE FROM mayfly.claims WHERE run = $1`, c.run)
		}
		if err == nil && ending == "ended" {
			unsaved = checkEnded(t, c, there, batch, commits)
		}
		return err
	})
	return errors.Join(err, unsaved)
}

// Claim implements store.Claimer.
func (m *manager) Claim(ctx context.Context, scope *state.Scope, info store.LockInfo, wait bool) (*store.Held, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.take(ctx, scope, info, false, wait); err != nil {
		return nil, m.failed("claimed", err)
	}
	c := m.claim
	if err := m.compare(ctx, c, scope); err != nil {
		return nil, m.failed("compared", errors.Join(err, m.unfold(context.WithoutCancel(ctx), c), m.release(context.WithoutCancel(ctx))))
	}
	m.recovered = c.found
	return &store.Held{ID: c.info.ID, Writes: func(a addr.Instance) bool { return c.writes(a.String()) }}, nil
}
