package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// reading is a document with the journals of runs that did not end as they should, or are still alive.
type reading struct {
	version  Version
	file     *state.File // nil for none
	journals []*leftover
}

// leftover is a journal with the result of replaying it on the document and the journals before it.
type leftover struct {
	Journal
	text     bool               // it has content
	parsed   *state.JournalFile // nil if it has no readable record
	replayed *state.Replayed    // nil if the journal has no effect any more
}

// result returns the state that document and journals represent.
func (r *reading) result() *state.File {
	f := r.file
	for _, j := range r.journals {
		// A journal without changes does not create a state that does not exist yet.
		if j.replayed != nil && j.replayed.Changes > 0 {
			f = j.replayed.File
		}
	}
	return f
}

// readRetries is how often reading is repeated if document and journals do not match: a run may have ended
// between reading the one and the other.
const readRetries = 2

// load reads the document and its journals. A writer that was active meanwhile looks like damage, unless the
// run has the lock.
func (m *Manager) load(ctx context.Context) (*reading, error) {
	r, err := m.loadOnce(ctx)
	for range readRetries {
		if !errors.Is(err, ErrGone) && !errors.Is(err, state.ErrJournalForeign) && (m.lockID != "" || !errors.Is(err, state.ErrCorrupt)) {
			break
		}
		r, err = m.loadOnce(ctx)
	}
	return r, err
}

// loadOnce reads the document and the journals beside it.
func (m *Manager) loadOnce(ctx context.Context) (*reading, error) {
	s, err := m.medium.Load(ctx, m.file)
	if err != nil {
		return nil, err
	}
	r, base, nothing := &reading{version: s.Version, file: s.File}, s.File, s.File == nil
	for _, j := range s.Journals {
		l, err := m.replay(ctx, j, base, s.Data)
		if err != nil {
			return nil, err
		}
		if l == nil {
			continue
		}
		r.journals = append(r.journals, l)
		nothing = nothing && l.replayed == nil
		if l.replayed != nil && l.replayed.Changes > 0 {
			base = l.replayed.File
		}
	}
	if !nothing || s.Missing == nil {
		return r, nil
	}
	path, err := s.Missing()
	if path != "" {
		m.found().Empty = path
	}
	return r, err
}

// replay reads a journal, and replays it on base unless the stored bytes have its results. It returns nil for
// a journal that does not exist any more.
func (m *Manager) replay(ctx context.Context, j Journal, base *state.File, stored []byte) (*leftover, error) {
	text, err := j.Text(ctx)
	if err == nil && text == nil || err != nil && !errors.Is(err, state.ErrJournalCorrupt) {
		return nil, err
	}
	l := &leftover{Journal: j, text: len(text) > 0}
	if err == nil {
		l.parsed, err = state.ParseJournal(text, store.SealerOf(m.opt.Cipher))
	}
	var missing []addr.Object // that the state is known to lack
	if err == nil && l.parsed != nil {
		l.replayed, missing, err = l.parsed.Merge(base, stored)
	}
	if err == nil {
		return l, nil
	}
	lacks := "It may name objects that are in no state."
	if len(missing) > 0 {
		lacks = "The state does not have what it records about these objects:" + store.ListObjects(missing)
	}
	return nil, j.Refuse(err, lacks)
}

// found returns the findings of the run, for the caller to extend.
func (m *Manager) found() *store.Recovered {
	if m.recovered == nil {
		m.recovered = &store.Recovered{Path: m.opt.Journal}
	}
	return m.recovered
}

// noteReplayed records the findings in journals for the user, in place of earlier ones. It reports whether
// there are any.
func (m *Manager) noteReplayed(journals []*leftover) bool {
	all, some := store.Recovered{Path: m.opt.Journal}, false
	for _, j := range journals {
		if r := j.replayed; r != nil {
			all.Changes += r.Changes
			all.Unfinished, all.Open = append(all.Unfinished, r.Unfinished...), append(all.Open, r.Open...)
			all.Torn, some = all.Torn || r.Torn, true
		}
	}
	if some {
		all.Empty, all.Unreadable = m.found().Empty, m.found().Unreadable
		m.recovered = &all
	}
	return some
}

// ErrGone means that a journal was removed after it was found.
var ErrGone = errors.New("the journal of the state was removed while it was read")

// settle reads the document and folds the journals left by earlier runs into it.
func (m *Manager) settle(ctx context.Context) (*state.File, error) {
	r, err := m.load(ctx)
	if err != nil {
		return nil, err
	}
	if len(r.journals) > 0 {
		release, err := m.medium.Claim(ctx)
		if errors.Is(err, ErrGone) { // its run has just ended
			return m.settle(ctx)
		}
		if err != nil {
			return nil, err
		}
		if release != nil {
			defer release()
			if r, err = m.load(ctx); err != nil {
				return nil, err
			}
		}
		if err := m.fold(ctx, r); err != nil {
			return nil, err
		}
	}
	return m.note(r.result(), r.version), nil
}

// fold stores the replayed state, if the journals had changes, and removes the journals. After a crash at any
// point, the next run finds either the old document and the journals, or a document that the last record of a
// journal names as complete.
func (m *Manager) fold(ctx context.Context, r *reading) error {
	some := m.noteReplayed(r.journals)
	for _, j := range r.journals {
		if j.replayed == nil || j.replayed.Changes == 0 {
			continue
		}
		data, err := store.Encode(j.replayed.File, m.opt.Cipher)
		if err != nil {
			return err
		}
		mark, err := state.FoldedFrame(j.replayed.File.Serial, sha256.Sum256(data), store.SealerOf(m.opt.Cipher))
		if err == nil {
			err = j.Append(ctx, mark, j.parsed.Size)
		}
		if err != nil {
			return fmt.Errorf("folding the journal %s into the state: %w", m.opt.Journal, err)
		}
		if r.version, err = m.medium.Store(ctx, data, r.version); err != nil {
			return err
		}
	}
	if some {
		m.recovered.Saved = true
	}
	return m.clear(ctx, r.journals)
}

// clear removes journals. One without a readable record may be kept under another name: its run has changed
// nothing, unless the disk has lost writes.
func (m *Manager) clear(ctx context.Context, journals []*leftover) error {
	var rest []Journal
	for _, j := range journals {
		if j.parsed == nil && j.text {
			path, err := j.SetAside()
			if err != nil {
				return err
			}
			if path != "" {
				m.found().Unreadable = path
				continue
			}
		}
		rest = append(rest, j.Journal)
	}
	return m.medium.Remove(ctx, rest)
}
