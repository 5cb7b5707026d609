package workdir

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// TestStates keeps the states of test runs in the data directory until everything in them is destroyed, each
// in a directory of its own. A process holds the locks of its states, so that others can tell which were left
// behind. It is for one goroutine at a time.
type TestStates struct {
	dir string
	// version is the version of the engine, for locks.
	version string
	cipher  func() (store.Cipher, error) // nil if the configuration does not ask for encryption
	states  map[store.Manager]*testState
}

// testState is a state on disk.
type testState struct {
	dir  string
	lock string // "" if it is not locked
}

// LeftTest is a state that an earlier process left, with the run that used it last.
type LeftTest struct {
	File, Run string
	Manager   store.Manager
}

// testRecord is the content of the file beside a state.
type testRecord struct {
	File string `json:"file"`
	Run  string `json:"run"`
}

const testRecordFile, testStateFile = "run.json", "terraform.tfstate"

// TestStates returns the states of test runs. Nothing is created before it is needed. States are encrypted in
// the way that the configuration sets for the module's state; ctx is for obtaining keys.
func (d *Dir) TestStates(ctx context.Context) *TestStates {
	return &TestStates{
		dir: filepath.Join(d.files.dataDir, "tests"), version: d.opt.User.engine().Version, states: map[store.Manager]*testState{},
		cipher: func() (store.Cipher, error) {
			set, diags := d.Backend.encryption(ctx)
			if diags.HasErrors() {
				return nil, diags.Err()
			}
			return stateCipher(set.State), nil
		},
	}
}

// State returns a new state. Nothing of it is on disk before Using.
func (s *TestStates) State(string, *config.TestRun) (store.Manager, error) {
	name := time.Now().UTC().Format("20060102T150405.000000000") + "-" + uuid.NewString()[:8]
	return s.open(filepath.Join(s.dir, name))
}

func (s *TestStates) open(dir string) (store.Manager, error) {
	cipher, err := s.cipher()
	if err != nil {
		return nil, err
	}
	m, err := local.New(local.Options{Dir: dir, Path: testStateFile, Backup: "-", Cipher: cipher}).Manager(store.DefaultWorkspace)
	if err == nil {
		s.states[m] = &testState{dir: dir}
	}
	return m, err
}

// Using records that a run of a file is about to change a state.
func (s *TestStates) Using(ctx context.Context, m store.Manager, file, run string) error {
	st := s.states[m]
	if st == nil {
		return nil
	}
	if _, err := safefile.MakeDirs(st.dir, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(testRecord{File: file, Run: run})
	if err == nil {
		err = safefile.ReplacePrivate(filepath.Join(st.dir, testRecordFile), text)
	}
	if err == nil && st.lock == "" {
		err = s.take(ctx, m, st)
	}
	return err
}

func (s *TestStates) take(ctx context.Context, m store.Manager, st *testState) error {
	st.lock = uuid.NewString()
	id, err := m.Lock(ctx, store.LockInfo{ID: st.lock, Operation: "test", Version: s.version, Created: time.Now().UTC()})
	st.lock = id
	return err
}

// Done removes a state, in which nothing is left.
func (s *TestStates) Done(m store.Manager) {
	st := s.states[m]
	if st == nil {
		return
	}
	if st.lock != "" {
		_ = m.Unlock(context.Background(), st.lock)
	}
	_ = os.RemoveAll(st.dir) // an empty state may stay
}

// Left returns the states that processes have left that do not run any more, newest first, and takes their
// locks.
func (s *TestStates) Left(ctx context.Context) ([]LeftTest, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Reverse(entries)
	var out []LeftTest
	for _, e := range entries {
		dir := filepath.Join(s.dir, e.Name())
		text, err := safefile.Read(filepath.Join(dir, testRecordFile), maxRecord)
		var record testRecord
		if err != nil || json.Unmarshal(text, &record) != nil {
			continue // it has not been used yet
		}
		m, err := s.open(dir)
		if err != nil {
			return out, err
		}
		if s.take(ctx, m, s.states[m]) != nil {
			continue // it is in use
		}
		out = append(out, LeftTest{File: record.File, Run: record.Run, Manager: m})
	}
	return out, nil
}
