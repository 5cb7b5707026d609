package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Load implements document.Content. It reads the state and lists the journals beside it, both at once.
func (h *hosted) Load(ctx context.Context, own document.LogFile) (document.Stored, error) {
	var s document.Stored
	var names []string
	var listing error
	var wg sync.WaitGroup
	wg.Go(func() {
		names, listing = ask(ctx, impatient, func() ([]string, error) { return h.place.Parts.List(ctx) })
	})
	var err error
	s.Data, s.Version, err = h.get(ctx, impatient)
	wg.Wait()
	if err != nil {
		return s, h.explain("read", err)
	}
	if listing != nil {
		return s, fmt.Errorf("the journal %s cannot be read: %w", h.journal, listing)
	}
	h.version, h.parts = s.Version, nil
	for _, j := range h.group(names, own) {
		s.Journals, h.parts = append(s.Journals, j), append(h.parts, j.parts...)
	}
	if s.File, err = store.Decode(s.Data, h.cipher); err != nil {
		err = h.undecodable(s.Data, err)
	}
	return s, err
}

func (h *hosted) undecodable(data []byte, err error) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
		return &pageError{h.place.Path, err}
	}
	return fmt.Errorf("%s: %w", h.place.Path, err)
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

// journal is the journal of one run.
type journal struct {
	at    *hosted
	run   string
	parts []string // names in order
}

// group returns the journals that parts belong to, without the run's own, by time.
func (h *hosted) group(names []string, own document.LogFile) []*journal {
	byRun := map[string]*journal{}
	slices.Sort(names)
	for _, name := range names {
		run, _, ok := parsePartName(name)
		if f, _ := own.(*partFile); !ok || f != nil && run == f.run {
			continue
		}
		if byRun[run] == nil {
			byRun[run] = &journal{at: h, run: run}
		}
		byRun[run].parts = append(byRun[run].parts, name)
	}
	return slices.SortedFunc(maps.Values(byRun), func(a, b *journal) int { return cmp.Compare(a.run, b.run) })
}

// fetches is how many parts are read at once.
const fetches = 8

// Text implements document.Journal.
func (j *journal) Text(ctx context.Context) ([]byte, error) {
	texts, errs := make([][]byte, len(j.parts)), make([]error, len(j.parts))
	var wg sync.WaitGroup
	room := make(chan struct{}, fetches)
	for i, name := range j.parts {
		if _, n, _ := parsePartName(name); n != i+1 {
			return nil, fmt.Errorf("%w: the part %s is missing", state.ErrJournalCorrupt, partName(j.run, i+1))
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			texts[i], errs[i] = ask(ctx, patient, func() ([]byte, error) { return j.at.place.Parts.Get(ctx, name) })
			if errs[i] == nil && texts[i] == nil {
				errs[i] = document.ErrGone
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("the journal %s cannot be read: %w", j.at.journal, err)
	}
	if text := slices.Concat(texts...); text != nil {
		return text, nil
	}
	return []byte{}, nil // parts without content are not none
}

// Append implements document.Journal. It adds a part.
func (j *journal) Append(ctx context.Context, record []byte, _ int64) error {
	name := partName(j.run, len(j.parts)+1)
	err := retry(ctx, patient, func() error { return j.at.place.Parts.Put(ctx, name, record) })
	if err == nil {
		j.parts = append(j.parts, name)
	}
	return err
}

// SetAside implements document.Journal. Parts are whole or not there, so nothing is in one that cannot be
// read.
func (*journal) SetAside() (string, error) { return "", nil }

// Refuse implements document.Journal.
func (j *journal) Refuse(err error, lacks string) error {
	if errors.Is(err, state.ErrJournalSealed) {
		return err
	}
	return fmt.Errorf("%w.\n\nA run that ended abnormally left the journal %s. %s\n\nNothing has been changed. If the state that the journal continues can be restored, restore it, and the results are taken from the journal. "+
		"To go on without them, remove what is in %s and begins with %s. Then plan, and import what exists but is missing from the state",
		err, j.at.journal, lacks, j.at.journal, j.run)
}
