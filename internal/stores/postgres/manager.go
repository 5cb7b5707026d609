//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// place is a workspace of a store.
type place struct {
	store *Store
	name  string
}

// manager is a handle of one run to a workspace.
type manager struct {
	place

	mu        sync.Mutex
	claim     *claim           // nil for none
	waiting   *claim           // a run that waits for its claims; nil for none
	journal   *journal         // of the run that has begun and not ended; nil for none
	absent    bool             // no state was there when it was last read
	known     *state.File      // as last read, sharing objects with the state of the caller; nil for none
	part      bool             // known has only a part of the objects
	recovered *store.Recovered // by the last Read or BeginRun
	read      []lateID         // by the last Read

	fresh      []byte // a key for hashes that no claim has stored; nil for none
	hashedWith []byte // the key for hashes that was asked for last; nil for none
}

var (
	_ store.Recoverer  = (*manager)(nil)
	_ store.Claimer    = (*manager)(nil)
	_ store.Unfinisher = (*manager)(nil)
)

func (p place) path() string { return p.store.path + "/" + p.name }

// failed names the state in an error, which says so itself if the lock is held or lost.
func (p place) failed(done string, err error) error {
	var held *store.LockError
	var stale *store.StaleError
	if err == nil || errors.As(err, &held) || errors.As(err, &stale) || errors.Is(err, store.ErrLockLost) {
		return err
	}
	return fmt.Errorf("the state %s cannot be %s: %w", p.path(), done, err)
}

// Lock implements store.Manager.
func (m *manager) Lock(ctx context.Context, info store.LockInfo) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.take(ctx, wholeState, info, false, false); err != nil {
		return "", m.failed("locked", err)
	}
	return m.claim.info.ID, nil
}

// Unlock implements store.Manager.
func (m *manager) Unlock(ctx context.Context, id string) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claim != nil && m.claim.info.ID == id {
		return m.release(ctx)
	}
	all, err := m.holders(ctx)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return store.ErrNotLocked
	}
	return &store.LockError{Info: &all[0].info, Err: fmt.Errorf("the lock's ID is not %q", id)}
}

// holders returns the runs that have claims. m.mu is held.
func (m *manager) holders(ctx context.Context) (all []*held, err error) {
	err = m.store.again(ctx, reading, func(t *tx) error {
		var workspace int64
		if _, err := t.one(`SELECT id FROM mayfly.workspaces WHERE name = $1`, []any{m.name}, &workspace); err != nil {
			return err
		}
		all, err = t.holders(workspace)
		return err
	})
	return all, err
}

// Read implements store.Manager.
func (m *manager) Read(ctx context.Context) (*state.File, error) {
	return m.readState(ctx, func(t *tx) (*state.File, error) { return t.read(m.name) }, false)
}

// readState reads the state, or a part of it, and the traces of earlier runs.
func (m *manager) readState(ctx context.Context, read func(*tx) (*state.File, error), part bool) (*state.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, err := m.commitKept(ctx)
	if err != nil {
		return nil, m.failed("read", err)
	}
	var f *state.File
	var beside *unrecorded
	clear := m.store.clear.Load()
	err = m.store.again(ctx, reading, func(t *tx) (err error) {
		if f, err = read(t); err == nil {
			beside, err = t.unrecorded(m.name)
		}
		return err
	})
	if err != nil {
		return nil, m.failed("read", err)
	}
	if f != nil {
		f.State.Unrecorded = beside.names
	}
	m.read = beside.ids
	m.known, m.absent = copied(f), f == nil
	m.part, m.recovered = part, kept
	if m.claim != nil && m.claim.found != nil {
		m.recovered = m.claim.found
	}
	if clear = m.store.clear.Load() - clear; clear > 0 {
		encrypted, err := encrypts(m.store.opt.Cipher)
		if err != nil {
			return nil, m.failed("read", err)
		}
		if !encrypted {
			clear = 0
		}
	}
	if len(beside.late)+len(beside.freed) > 0 || clear > 0 {
		found := store.Recovered{}
		if m.recovered != nil {
			found = *m.recovered
		}
		found.Late, found.Freed, found.Clear = beside.late, beside.freed, int(clear)
		m.recovered = &found
	}
	return f, nil
}

// copied returns a copy of a state, nil for nil.
func copied(f *state.File) *state.File {
	if f == nil {
		return nil
	}
	known := *f
	known.State = f.State.Copy()
	return &known
}

// BeginRun implements store.Manager. A run without the lock claims the state until it ends.
func (m *manager) BeginRun(ctx context.Context, base *state.File, version string) (state.Run, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journal != nil {
		return nil, errors.New("this run already has a journal")
	}
	if m.claim == nil {
		if err := m.take(ctx, wholeState, store.LockInfo{Operation: "apply", Version: version}, true, false); err != nil {
			return nil, err
		}
		m.recovered = m.claim.found
	}
	if err := m.checkBase(ctx, base); err != nil {
		if m.claim.alone {
			err = errors.Join(err, m.release(context.WithoutCancel(ctx)))
		}
		return nil, err
	}
	j := newJournal(m.name, m.claim, base, m.known)
	m.journal = j
	return state.NewRun(base, version, j, func(ctx context.Context, next *state.File) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.end(context.WithoutCancel(ctx), j, next)
	}), nil
}

// checkBase fails if base is not the stored state. Of a run that has claimed a part of it, the lineage
// counts: its rows were compared. m.mu is held.
func (m *manager) checkBase(ctx context.Context, base *state.File) error {
	var stored *state.File
	err := m.store.again(ctx, reading, func(t *tx) (err error) {
		_, stored, err = t.document(m.name)
		return err
	})
	if err != nil {
		return err
	}
	if stored == nil && base.Serial != 0 || stored != nil && (stored.Lineage != base.Lineage || m.claim.whole() && stored.Serial != base.Serial) {
		return fmt.Errorf("the state in %s was changed by another run since it was read. Run the command again", m.path())
	}
	if m.known != nil && (m.known.Lineage != base.Lineage || m.known.Serial != base.Serial) {
		m.known = nil
	}
	return nil
}

// end stores the changes of a run that are not durable yet, and gives next the content that the state has
// then: others may have changed it as well. m.mu is held.
func (m *manager) end(ctx context.Context, j *journal, next *state.File) error {
	if m.journal != j || m.claim == nil {
		return fmt.Errorf("%w: it was released before the run ended", store.ErrLockLost)
	}
	c := m.claim
	settled, settlement, reads := settledBy(j)
	durable := j.stop()
	if j.keptIn != "" { // the database may be back
		err := sendLost(j, j.kept.Batches[0].Number)
		if err == nil {
			_, err = m.commitFile(ctx, j.keptIn)
		}
		if err != nil {
			return &store.UnsavedError{Kept: j.keptIn, Err: m.failed("written", err)}
		}
		if err := os.Remove(j.keptIn); err != nil && !errors.Is(err, os.ErrNotExist) {
			return &store.UnsavedError{Kept: j.keptIn, Err: err}
		}
		j.keptIn = ""
	}
	changes := slices.DeleteFunc(state.Diff(durable, next.State), func(o state.ObjectChange) bool {
		return !c.writes(o.Object.Instance.String()) || stored(durable, o)
	})
	before := durable.Copy()
	for _, o := range changes {
		o.Apply(durable)
	}
	var now *state.File
	var alone bool
	repeated := false
	write := func() error {
		return m.store.again(ctx, nil, func(t *tx) (err error) {
			if _, err = t.gate(m.name); err == nil {
				err = fenceAll(t, c, repeated)
			}
			repeated = true
			if err == nil {
				err = t.put(c, before, changes)
			}
			if err == nil {
				err = moveLate(t, c)
			}
			if err == nil {
				now, alone, err = m.settle(t, c, j.base, next, durable, len(changes) > 0)
			}
			if err == nil {
				err = c.forget(t, settled...)
			}
			if err == nil {
				err = noteReads(t, c, reads)
			}
			if err == nil {
				err = t.forgetPast(c.workspace)
			}
			return err
		})
	}
	if err := writeAll(j, write); err != nil {
		return &store.UnsavedError{Lost: unsaved(j, changes, err), Err: m.failed("written", err)}
	}
	c.sure.end()
	return m.ended(ctx, j, next, endedState{now, alone, durable, settlement})
}

// endedState is the state that the end of a run has stored.
type endedState struct {
	now        *state.File // nil if nothing has changed
	alone      bool        // no other run has changed anything
	durable    *state.State
	settlement *state.Settlement
}

// ended records all that a run has found right, after its end is stored, and gives next the content that the
// state has then. m.mu is held.
func (m *manager) ended(ctx context.Context, j *journal, next *state.File, e endedState) error {
	c, now := m.claim, e.now
	err := recordFound(ctx, m.place, c, e.settlement)
	if err != nil {
		return &store.UnsavedError{Err: m.failed("written", err)}
	}
	if now != nil && !e.alone && !m.part { // other runs need not wait for this
		err = m.store.again(ctx, reading, func(t *tx) error {
			f, err := readAgain(t, m.name, c, e.durable)
			if f != nil {
				now = f
			}
			return err
		})
		if err != nil {
			return m.failed("read", err)
		}
	}
	if now != nil && next != j.base {
		*next = *now
	}
	m.journal = nil
	m.known, m.absent = copied(next), false
	if c.alone {
		return m.release(ctx)
	}
	return nil
}

// settle stores the outputs, checks and salts of a run that has changed some, and counts all its changes in
// the serial. objects are the ones that the state has if no other run has changed it; changed says that some
// were changed just now. It returns the state as it is stored then, nil if nothing has changed, and whether
// no other run has changed it: otherwise some objects of theirs are missing. The gate is held.
func (m *manager) settle(t *tx, c *claim, base, next *state.File, objects *state.State, changed bool) (_ *state.File, alone bool, _ error) {
	_, stored, err := t.document(m.name)
	if err != nil {
		return nil, false, err
	}
	first := stored == nil // the run has claimed the whole state then
	if first && next.Serial == base.Serial {
		return nil, false, nil
	}
	if first {
		stored = &state.File{}
		*stored = *next
		stored.State = state.New()
	}
	doc := *stored
	doc.State, doc.Version = stored.State.Copy(), next.Version
	c.merge(doc.State, base.State, next.State)
	more := 0
	if changed || !doc.State.Equal(stored.State) {
		more = 1
	}
	var commits int
	if _, err = t.one(`SELECT commits FROM mayfly.runs WHERE id = $1`, []any{c.run}, &commits); err != nil || commits+more == 0 {
		return nil, false, err
	}
	alone = first || stored.Serial == base.Serial+uint64(commits) // no other run has changed anything
	if _, err = t.putResults(c, stored.State, &doc, false); err == nil {
		doc.Serial, err = t.store(c, &doc, more)
	}
	if err != nil {
		return nil, false, err
	}
	rest := doc.State
	doc.State = objects.Copy()
	doc.State.Outputs, doc.State.Checks = rest.Outputs, rest.Checks
	doc.State.AddSalts(rest.Salts...)
	return &doc, alone, nil
}

// merge changes the outputs and checks of to, which is stored, as a run that has begun with from has changed
// them. Those that the run has not claimed stay as they are.
func (c *claim) merge(to, from, next *state.State) {
	subject := func(kind state.SubjectKind, name string) string {
		return state.Subject{Kind: kind, Addr: name}.Key()
	}
	for name := range from.Outputs {
		if next.Outputs[name] == nil && c.writes(subject(state.OneOutput, name)) {
			to.SetOutput(name, nil)
		}
	}
	for name, o := range next.Outputs {
		if c.writes(subject(state.OneOutput, name)) {
			to.SetOutput(name, o)
		}
	}
	var checks []state.CheckResult
	for _, r := range to.Checks {
		if !c.writes(subject(state.OneCheck, r.Config)) {
			checks = append(checks, r)
		}
	}
	for _, r := range next.Checks {
		if c.writes(subject(state.OneCheck, r.Config)) {
			checks = append(checks, r)
		}
	}
	to.Checks = checks
	to.AddSalts(next.Salts...)
}

// Write implements store.Manager.
func (m *manager) Write(ctx context.Context, f *state.File) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	alone := m.claim == nil
	if alone {
		if err := m.take(ctx, wholeState, store.LockInfo{Operation: "write", Version: f.Version}, true, false); err != nil {
			return err
		}
	}
	err := m.replace(ctx, f)
	if err == nil {
		m.journal = nil
		m.known, m.absent = copied(f), false
	}
	err = m.failed("written", err)
	if alone {
		err = errors.Join(err, m.release(ctx))
	}
	return err
}

// replace stores f in place of all rows. m.mu is held.
func (m *manager) replace(ctx context.Context, f *state.File) error {
	c := m.claim
	if c.alone && c.found != nil && c.found.Changes > 0 && (m.known == nil || m.known.Serial != c.serial) {
		return fmt.Errorf("results of an interrupted run have just been recovered into %s, and the state that was to be written does not have them. Run the command again", m.path())
	}
	if m.journal != nil {
		m.journal.stop()
	}
	anew := f.Serial == c.serial && m.known != nil && len(state.Diff(m.known.State, f.State)) == 0 // the stored state is encrypted anew
	return m.store.again(ctx, nil, func(t *tx) error {
		w, err := t.gate(m.name)
		if err == nil {
			err = c.fence(t)
		}
		if err == nil { // comparing and encoding all objects takes time, while the claims keep others out anyway
			_, err = t.exec(`SELECT set_config('idle_in_transaction_session_timeout', $1, true)`, milliseconds(max(t.idle, t.opt.Lease)))
		}
		had := state.New()
		if err == nil {
			var doc *state.File
			if _, doc, err = t.document(m.name); doc != nil { // one that is damaged may be all that is left
				had = doc.State
			}
		}
		if err == nil {
			err = t.replace(c, m.name, f.State)
		}
		if err == nil && anew {
			err = t.sealLate(w)
		} else if err == nil {
			err = settleAll(t, c)
		}
		for _, table := range []string{"members", "salts", "shown_outputs"} {
			if err == nil {
				_, err = t.exec(`DELETE FROM mayfly.`+table+` WHERE workspace = $1`, w)
			}
		}
		if err == nil {
			err = t.putMembers(w, f.State)
		}
		if err == nil {
			_, err = t.putResults(c, had, f, true)
		}
		if err == nil {
			_, err = t.store(c, f, 0)
		}
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.workspaces SET serial = $2 WHERE id = $1`, w, f.Serial)
		}
		if err == nil {
			err = c.forget(t)
		}
		return err
	})
}

// Recovered implements store.Recoverer.
func (m *manager) Recovered() *store.Recovered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recovered
}
