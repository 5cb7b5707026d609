package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// stored is what a service has for a workspace: its state, and the journals of runs that did not end or are
// still alive.
type stored struct {
	data     []byte
	version  Version
	file     *state.File // nil for none
	journals []*journal  // by time
}

// journal is the journal of one run.
type journal struct {
	run      string
	parts    []string // names in order
	parsed   *state.JournalFile
	replayed *state.Replayed // nil if the journal has no effect any more
}

// result returns the state with the results in the journals.
func (s stored) result() *state.File {
	f := s.file
	for _, j := range s.journals {
		// A journal without changes does not create a state that does not exist yet.
		if j.replayed != nil && (f != nil || j.replayed.Changes > 0) {
			f = j.replayed.File
		}
	}
	return f
}

// names returns the names of all parts.
func (s stored) names() []string {
	var out []string
	for _, j := range s.journals {
		out = append(out, j.parts...)
	}
	return out
}

// errMoved means that a journal was removed while it was read.
var errMoved = errors.New("the journal of the state was removed while it was read")

// readRetries is how often reading is repeated if the state and its journal do not match: a run may have
// ended between reading the one and the other.
const readRetries = 2

// load reads the state and its journals, except the run's own. It changes nothing.
func (m *Manager) load(ctx context.Context) (stored, error) {
	s, err := m.loadOnce(ctx)
	for range readRetries {
		if !errors.Is(err, errMoved) && !errors.Is(err, state.ErrJournalForeign) {
			break
		}
		s, err = m.loadOnce(ctx)
	}
	return s, err
}

// loadOnce reads the state and lists the journals beside it, both at once. If they were written in
// between, they do not fit each other: the caller notices this by the serial, and loads again.
func (m *Manager) loadOnce(ctx context.Context) (stored, error) {
	var s stored
	var names []string
	var listing error
	var wg sync.WaitGroup
	wg.Go(func() {
		listing = retry(ctx, impatient, func() (err error) {
			names, err = m.place.Parts.List(ctx)
			return err
		})
	})
	var err error
	s.data, s.version, err = m.get(ctx, impatient)
	wg.Wait()
	if err != nil {
		return s, m.explain("read", err)
	}
	if listing != nil {
		return s, fmt.Errorf("the journal %s cannot be read: %w", m.journal, listing)
	}
	if s.file, err = store.Decode(s.data, m.cipher); err != nil {
		return s, m.undecodable(s.data, err)
	}
	s.journals = m.group(names)
	base := s.file
	for _, j := range s.journals {
		if err := m.loadJournal(ctx, j, s.data, base); err != nil {
			return s, err
		}
		if j.replayed != nil && j.replayed.Changes > 0 {
			base = j.replayed.File
		}
	}
	return s, nil
}

func (m *Manager) undecodable(data []byte, err error) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
		return &pageError{m.place.Path, err}
	}
	return fmt.Errorf("%s: %w", m.place.Path, err)
}

// pageError means that the answer is a page and not a state.
type pageError struct {
	path string
	err  error
}

// Error implements error. It leaves out the cause, which advises to restore a state that is not damaged.
func (e *pageError) Error() string {
	return e.path + ": the answer is a page in HTML or XML and not a state: it may come from a proxy or a sign-in page in between. Nothing has been changed"
}

// Unwrap returns the cause.
func (e *pageError) Unwrap() error { return e.err }

// group returns the journals that parts belong to, without the run's own.
func (m *Manager) group(names []string) []*journal {
	byRun := map[string]*journal{}
	slices.Sort(names)
	for _, name := range names {
		run, _, ok := parsePartName(name)
		if !ok || m.file != nil && run == m.file.run {
			continue
		}
		if byRun[run] == nil {
			byRun[run] = &journal{run: run}
		}
		byRun[run].parts = append(byRun[run].parts, name)
	}
	return slices.SortedFunc(maps.Values(byRun), func(a, b *journal) int { return cmp.Compare(a.run, b.run) })
}

// loadJournal reads a journal, and replays it on base unless the stored bytes have its results.
func (m *Manager) loadJournal(ctx context.Context, j *journal, data []byte, base *state.File) error {
	text, err := m.joined(ctx, j)
	if err != nil {
		return err
	}
	if j.parsed, err = state.ParseJournal(text, store.SealerOf(m.cipher)); err != nil {
		return m.refuse(j, err, nil)
	}
	if j.parsed == nil {
		return nil
	}
	replayed, missing, err := j.parsed.Merge(base, data)
	j.replayed = replayed
	return m.refuse(j, err, missing)
}

// fetches is how many parts are read at once.
const fetches = 8

// joined returns the text of a journal.
func (m *Manager) joined(ctx context.Context, j *journal) ([]byte, error) {
	texts, errs := make([][]byte, len(j.parts)), make([]error, len(j.parts))
	var wg sync.WaitGroup
	room := make(chan struct{}, fetches)
	for i, name := range j.parts {
		if _, n, _ := parsePartName(name); n != i+1 {
			return nil, m.refuse(j, fmt.Errorf("%w: the part %s is missing", state.ErrJournalCorrupt, partName(j.run, i+1)), nil)
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			errs[i] = retry(ctx, patient, func() (err error) {
				texts[i], err = m.place.Parts.Get(ctx, name)
				return err
			})
			if errs[i] == nil && texts[i] == nil {
				errs[i] = errMoved
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("the journal %s cannot be read: %w", m.journal, err)
	}
	return slices.Concat(texts...), nil
}

// refuse adds to err what to do about a journal that cannot be merged into the state; it returns nil for nil.
// missing are results that the state is known to lack.
func (m *Manager) refuse(j *journal, err error, missing []addr.Object) error {
	if err == nil || errors.Is(err, state.ErrJournalSealed) {
		return err
	}
	lacks := "It may name objects that are in no state."
	if len(missing) > 0 {
		lacks = "The state does not have what it records about these objects:" + store.ListObjects(missing)
	}
	return fmt.Errorf("%w.\n\nA run that ended abnormally left the journal %s. %s\n\nNothing has been changed. If the state that the journal continues can be restored, restore it, and the results are taken from the journal. "+
		"To go on without them, remove what is in %s and begins with %s. Then plan, and import what exists but is missing from the state",
		err, m.journal, lacks, m.journal, j.run)
}

// noteReplayed records the findings of a replay for the user. r may be nil.
func (m *Manager) noteReplayed(r *state.Replayed) {
	if r == nil {
		return
	}
	if m.recovered == nil {
		m.recovered = &store.Recovered{Path: m.journal}
	}
	m.recovered.Changes += r.Changes
	m.recovered.Unfinished = append(m.recovered.Unfinished, r.Unfinished...)
	m.recovered.Open = append(m.recovered.Open, r.Open...)
	m.recovered.Torn = m.recovered.Torn || r.Torn
}

// settle reads the state and folds journals left by earlier runs into it. A run without the lock refuses
// them: their run may be alive.
func (m *Manager) settle(ctx context.Context) error {
	s, err := m.load(ctx)
	if err != nil {
		return err
	}
	if len(s.journals) == 0 {
		m.note(s.file, s.version)
		return nil
	}
	if m.lockID == "" {
		return &store.LockError{Err: fmt.Errorf("there is a journal of another run, %s, which may still be going on. A run that takes the lock puts the journal of a run that has ended into the state", m.journal)}
	}
	_, err = m.fold(ctx, s)
	return err
}

// fold stores the replayed state, if the journals had changes, and removes the journals. After a crash at any
// point, the next run finds either the old state and the journals, or a state that a journal's last record
// names as complete.
func (m *Manager) fold(ctx context.Context, s stored) (*state.File, error) {
	m.recovered = nil
	version, names := s.version, s.names()
	for _, j := range s.journals {
		m.noteReplayed(j.replayed)
		if j.replayed == nil || j.replayed.Changes == 0 {
			continue
		}
		data, err := store.Encode(j.replayed.File, m.cipher)
		if err != nil {
			return nil, err
		}
		mark, err := m.markFolded(ctx, j, data)
		if err != nil {
			return nil, fmt.Errorf("folding the journal %s into the state: %w", m.journal, err)
		}
		names = append(names, mark)
		if version, err = m.put(ctx, data, version); err != nil {
			return nil, m.explain("stored", err)
		}
	}
	if err := m.removeParts(ctx, names); err != nil {
		return nil, err
	}
	if m.recovered != nil {
		m.recovered.Saved = true
	}
	return m.note(s.result(), version), nil
}

// markFolded adds a part to a leftover journal that its changes are about to be in the state, with the stored
// bytes data. It returns the part's name.
func (m *Manager) markFolded(ctx context.Context, j *journal, data []byte) (string, error) {
	mark, err := state.FoldedFrame(j.replayed.File.Serial, sha256.Sum256(data), store.SealerOf(m.cipher))
	if err != nil {
		return "", err
	}
	name := partName(j.run, len(j.parts)+1)
	return name, retry(ctx, patient, func() error { return m.place.Parts.Put(ctx, name, mark) })
}
