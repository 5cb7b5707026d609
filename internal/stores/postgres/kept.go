//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// keptRun is the content of a file with the results of a run that the database could not take.
type keptRun struct {
	Run     string      `json:"run"`
	Batches []keptBatch `json:"batches"`
}

// keptBatch are the results of a batch. The database may have carried it out: that is found by its number.
type keptBatch struct {
	Number   int64       `json:"number"`
	Ended    []int64     `json:"ended"`
	Results  []keptState `json:"results"`
	Document []byte      `json:"document,omitempty"` // as in a row, like Salts
	Salts    []byte      `json:"salts,omitempty"`
}

// keptState is a changed object, encrypted if the configuration says so.
type keptState struct {
	Sealed bool   `json:"sealed,omitempty"`
	Body   []byte `json:"body"`
}

// keptSuffix ends the names of files with results.
const keptSuffix = ".postgres"

// keptPattern returns the name of the files with results of a workspace, with a place for the run and the
// number of batches, between which is a dot: another process may read a file and remove it, which must not
// remove results that have come since.
func (s *Store) keptPattern(workspace string) string {
	sum := sha256.Sum256([]byte(s.path + "/" + workspace))
	return fmt.Sprintf("%x-%%s%s", sum[:12], keptSuffix)
}

// keep keeps the results of a batch that could not be sent in a file of this machine. j.flushing is held.
func (j *journal) keep(b *batch) error {
	if j.opt.Dir == "" {
		return errors.New("there is no directory for a file with them")
	}
	if len(j.kept.Batches) == 0 {
		before, err := recent(j)
		if err != nil {
			return err
		}
		j.kept.Batches = before
	}
	k, err := keptOf(j.Store, j.sent, b)
	if err != nil {
		return err
	}
	j.kept.Run, j.kept.Batches = j.run, append(j.kept.Batches, k)
	if len(b.begun) > 0 { // whose providers are not called; the batch may have arrived
		j.sent++
		j.kept.Batches = append(j.kept.Batches, keptBatch{Number: j.sent, Ended: b.begun})
	}
	text, err := json.Marshal(j.kept)
	if err == nil {
		_, err = safefile.MakeDirs(j.opt.Dir, 0o700)
	}
	path := filepath.Join(j.opt.Dir, fmt.Sprintf(j.keptPattern(j.place), fmt.Sprint(j.run, ".", len(j.kept.Batches))))
	if err == nil {
		err = safefile.ReplacePrivate(path, text)
	}
	if err != nil {
		return err
	}
	if j.keptIn != "" {
		_ = os.Remove(j.keptIn) // its results are in both: one that stays does no harm
	}
	j.keptIn = path
	return nil
}

// keptOf returns a batch with a number in the form that a file has.
func keptOf(s *Store, number int64, b *batch) (k keptBatch, err error) {
	k.Number, k.Ended = number, b.ended
	if k.Document, err = encode(b.document, s.opt.Cipher); err != nil {
		return k, err
	}
	if k.Salts, err = encode(b.salts, s.opt.Cipher); err != nil {
		return k, err
	}
	for _, c := range b.changes {
		body, sealed, err := s.seal(state.EncodeChange(c))
		if err != nil {
			return k, err
		}
		k.Results = append(k.Results, keptState{sealed, body})
	}
	return k, nil
}

// mostRecent is how many bytes of results that the server has acknowledged are kept beside the others.
const mostRecent = 16 << 20

// recent returns the last batches that the server has acknowledged: another one may take over without them.
func recent(j *journal) (out []keptBatch, err error) {
	j.sure.mu.Lock()
	defer j.sure.mu.Unlock()
	size := 0
	for n := j.sure.last; size < mostRecent && j.sure.batches[n] != nil; n-- {
		k, err := keptOf(j.Store, n, j.sure.batches[n])
		if err != nil {
			return nil, err
		}
		size += len(k.Document) + len(k.Salts)
		for _, r := range k.Results {
			size += len(r.Body)
		}
		out = append(out, k)
	}
	slices.Reverse(out)
	return out, nil
}

// orKeep keeps the results of a batch that could not be sent, and returns the error with words about that. It
// returns false if they are lost. j.flushing is held.
func (j *journal) orKeep(b *batch, err error) (error, bool) {
	forgotten := errors.Is(err, errForgotten)
	if forgotten && nothingToKeep(j, b) {
		return err, false
	}
	if kerr := j.keep(b); kerr != nil {
		return fmt.Errorf("%w. The results of operations cannot be kept in a file of this machine either: %w", err, kerr), false
	}
	if forgotten {
		return fmt.Errorf("%w. The last results are kept in the file %s. No run can put them into the state: compare a plan with the real objects", err, j.keptIn), true
	}
	return fmt.Errorf("%w. The results of operations under way are kept in the file %s, and the next run on this machine puts them into the state", err, j.keptIn), true
}

// nothingToKeep reports whether a run has no results, in a batch or before it, and no operation under way.
func nothingToKeep(j *journal, b *batch) bool {
	j.mu.Lock()
	results := len(j.open) + len(b.ended) + len(b.changes)
	j.mu.Unlock()
	j.sure.mu.Lock()
	defer j.sure.mu.Unlock()
	for _, b := range j.sure.batches {
		results += len(b.changes)
	}
	return results == 0
}

// maxKept is how large a file with results may be.
const maxKept = 1 << 30

// commitKept puts results into the database that runs on this machine have kept in files. It returns nil if
// there were none. Those that this user may not write stay in their files.
func (m *manager) commitKept(ctx context.Context) (found *store.Recovered, err error) {
	if m.store.opt.Dir == "" {
		return nil, nil
	}
	names, err := m.keptFiles(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(m.store.opt.Dir, name)
		n, err := m.commitFile(ctx, path)
		if pe, is := errors.AsType[*pq.Error](err); is && (pe.Code == "42501" || readOnly(err)) {
			continue // a planner sees the rows, as runs on other machines do; the objects stay claimed
		}
		if errors.Is(err, store.ErrLockLost) {
			return nil, fmt.Errorf("the file %s has results of a run that the database has no record of any more, or not of its last transactions. Compare a plan with the real objects, after you have moved the file away", path)
		}
		if err != nil {
			return nil, fmt.Errorf("putting the results in the file %s into the database: %w", path, err)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if n > 0 {
			found = &store.Recovered{Path: path, Changes: n, Saved: true}
		}
	}
	return found, nil
}

// keptFiles returns the names of the files with results for the workspace. The database knows the runs of
// those that were written when its server had another name, as before a failover.
func (m *manager) keptFiles(ctx context.Context) (names []string, err error) {
	entries, _ := os.ReadDir(m.store.opt.Dir) // a directory that cannot be read has no files of this user
	byRun := map[string][]string{}
	for _, e := range entries {
		name, kept := strings.CutSuffix(e.Name(), keptSuffix)
		if is, err := filepath.Match(fmt.Sprintf(m.store.keptPattern(m.name), "*"), e.Name()); is && err == nil {
			names = append(names, e.Name())
		} else if _, run, named := strings.Cut(name, "-"); kept && named {
			if run, _, _ = strings.Cut(run, "."); uuid.Validate(run) == nil {
				byRun[run] = append(byRun[run], e.Name())
			}
		}
	}
	if len(byRun) == 0 {
		return names, nil
	}
	here := names
	err = m.store.again(ctx, reading, func(t *tx) error {
		names = slices.Clone(here)
		return t.rows(func(scan func(...any) error) error {
			var run string
			err := scan(&run)
			names = append(names, byRun[run]...)
			return err
		}, `SELECT r.id FROM mayfly.runs r JOIN mayfly.workspaces w ON w.id = r.workspace WHERE w.name = $1 AND r.id = ANY($2::uuid[])`, m.name, pq.StringArray(slices.Collect(maps.Keys(byRun))))
	})
	return names, err
}

// commitFile puts the results of one file into the database. Batches that the database has are left out.
func (m *manager) commitFile(ctx context.Context, path string) (changes int, err error) {
	text, err := safefile.Read(path, maxKept)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // another process was faster
	}
	var k keptRun
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return 0, err
	}
	var sent int64
	// The file is removed if the batches are there, so replicas have to have them: see record.
	err = m.store.again(ctx, nil, func(t *tx) error {
		there, err := t.one(`SELECT batch FROM mayfly.runs WHERE id = $1 FOR NO KEY UPDATE`, []any{k.Run}, &sent)
		if err == nil && !there {
			err = store.ErrLockLost
		}
		return err
	})
	j := newJournal(m.name, &claim{Store: m.store, run: k.Run}, &state.File{State: state.New()}, nil)
	j.durable = nil // the content of the rows is not known
	for _, kept := range k.Batches {
		if err != nil {
			return changes, err
		}
		if kept.Number <= sent {
			continue
		}
		b := &batch{ended: kept.Ended}
		if b.document, err = store.Decode(kept.Document, m.store.opt.Cipher); err != nil {
			return changes, err
		}
		if b.salts, err = store.Decode(kept.Salts, m.store.opt.Cipher); err != nil {
			return changes, err
		}
		for _, r := range kept.Results {
			c, err := m.store.unseal(r.Sealed, r.Body)
			if err != nil {
				return changes, err
			}
			b.changes = append(b.changes, c)
		}
		j.sent = kept.Number
		if err = j.send(b); err == nil && !b.kept {
			changes += len(b.changes)
		}
	}
	return changes, err
}
