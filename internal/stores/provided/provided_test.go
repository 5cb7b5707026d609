package provided

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestConformance(t *testing.T) {
	for name, arguments := range map[string]map[string]cty.Value{
		"locking":      {},
		"small chunks": {"chunk_size": cty.NumberIntVal(1000)},
		"no locking":   {"lockless": cty.True},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				cloud, journals := t.TempDir(), t.TempDir()
				dir := simcloud.StateDir(cloud, "d")
				return storetest.Harness{
					Open: func() store.Store {
						s, err := open(t, processes(t, cloud), arguments, backend.Env{JournalDir: journals})
						if err != nil {
							t.Fatal(err)
						}
						return s
					},
					Corrupt:   func(workspace string, data []byte) error { return simcloud.WriteState(dir, workspace, data) },
					Stored:    func(workspace string) ([]byte, error) { return os.ReadFile(simcloud.StatePath(dir, workspace)) },
					NoLock:    name == "no locking",
					OwnHolder: true,
				}
			})
		})
	}
}

// stored returns a cloud with a state, which has more than one chunk of 100 bytes.
func stored(t *testing.T) (cloud string, content []byte) {
	t.Helper()
	cloud = t.TempDir()
	s, err := open(t, processes(t, cloud), nil, backend.Env{JournalDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m := manager(t, s)
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 5)); err != nil {
		t.Fatal(err)
	}
	content, err = os.ReadFile(simcloud.StatePath(simcloud.StateDir(cloud, "d"), store.DefaultWorkspace))
	if err != nil {
		t.Fatal(err)
	}
	return cloud, content
}

func manager(t *testing.T, s store.Store) store.Manager {
	t.Helper()
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReadingFaults requires an error for each way in which a provider can return a state wrongly, and that
// nothing is written over a state that cannot be read.
func TestReadingFaults(t *testing.T) {
	cloud, content := stored(t)
	for fault, want := range map[string]string{
		"short": "only", "gap": "a chunk begins at byte", "order": "a chunk begins at byte", "long": "beyond the announced",
		"length": "and then one of", "big": "more than the 100", "fail-read": "asked to fail to read", "exit-read": "has ended",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s, err := open(t, processes(t, cloud), map[string]cty.Value{"chunk_size": cty.NumberIntVal(100), "fault": cty.StringVal(fault)}, backend.Env{JournalDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			m := manager(t, s)
			if _, err := m.Read(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `dir = "d"`) {
				t.Errorf("reading: %v", err)
			}
			if err := m.Write(t.Context(), storetest.File(t, "l", 2, 1)); err == nil {
				t.Error("a state that cannot be read is replaced")
			}
			if left, err := os.ReadFile(simcloud.StatePath(simcloud.StateDir(cloud, "d"), store.DefaultWorkspace)); err != nil || string(left) != string(content) {
				t.Errorf("state: got %q, %v, want it unchanged: %q", left, err, content)
			}
		})
	}
}

// TestOpeningFaults requires an error for each mistake that is found before the state is read.
func TestOpeningFaults(t *testing.T) {
	for name, c := range map[string]struct {
		arguments map[string]cty.Value
		want      string
	}{
		"no chunks":       {map[string]cty.Value{"chunk_size": cty.NumberIntVal(0)}, "chunks of 0 bytes"},
		"negative chunks": {map[string]cty.Value{"chunk_size": cty.NumberIntVal(-4)}, "chunks of -4 bytes"},
		"configure":       {map[string]cty.Value{"fault": cty.StringVal("fail-configure")}, "asked to fail to configure"},
		"crash":           {map[string]cty.Value{"fault": cty.StringVal("exit-configure")}, "has ended"},
		"validate":        {map[string]cty.Value{"dir": cty.StringVal("a/b")}, "at dir: Invalid directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := open(t, processes(t, t.TempDir()), c.arguments, backend.Env{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCrashWhileLocked has the provider end when the state is written. The old state stays, and the lock is
// released all the same.
func TestCrashWhileLocked(t *testing.T) {
	cloud, content := stored(t)
	path := simcloud.StatePath(simcloud.StateDir(cloud, "d"), store.DefaultWorkspace)
	rules := t.TempDir() + "/rules.json"
	if err := os.WriteFile(rules, []byte(`[{"rpc":"WriteStateBytes","do":"exit","when":"before"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := open(t, processes(t, cloud, simcloud.EnvMisbehave+"="+rules), nil, backend.Env{JournalDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m := manager(t, s)
	id, err := m.Lock(t.Context(), storetest.Info("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 1)); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("writing: %v", err)
	}
	if err := m.Unlock(t.Context(), id); err != nil {
		t.Errorf("unlocking: %v", err)
	}
	if _, err := os.Stat(simcloud.LockPath(simcloud.StateDir(cloud, "d"), store.DefaultWorkspace)); err == nil {
		t.Error("the state is locked")
	}
	if left, err := os.ReadFile(path); err != nil || string(left) != string(content) {
		t.Errorf("state: got %q, %v, want it unchanged: %q", left, err, content)
	}
}

// TestForceUnlock releases the lock of another run by the ID that the provider has given it.
func TestForceUnlock(t *testing.T) {
	cloud := t.TempDir()
	var managers []store.Manager
	for range 2 {
		s, err := open(t, processes(t, cloud), nil, backend.Env{JournalDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		managers = append(managers, manager(t, s))
	}
	if _, err := managers[0].Lock(t.Context(), storetest.Info("a")); err != nil {
		t.Fatal(err)
	}
	_, err := managers[1].Lock(t.Context(), storetest.Info("b"))
	var held *store.LockError
	if !errors.As(err, &held) || held.Info == nil || !strings.HasPrefix(held.Info.ID, "sim-") || held.Info.Operation != "test" || held.Info.Created.IsZero() {
		t.Fatalf("holder: got %+v, want one with an ID of sim, the operation test and a time", held)
	}
	r := managers[1].(store.Recoverer)
	if err := r.ForceUnlock(t.Context(), "wrong"); err == nil || !strings.Contains(err.Error(), held.Info.ID) {
		t.Errorf("unlocking with a wrong ID: %v", err)
	}
	if err := errors.Join(r.CheckUnlock(t.Context(), held.Info.ID), r.ForceUnlock(t.Context(), held.Info.ID)); err != nil {
		t.Error(err)
	}
	if _, err := managers[1].Lock(t.Context(), storetest.Info("b")); err != nil {
		t.Error(err)
	}
}

// TestLockWithoutHolder has a provider that says nothing about the holder of a lock.
func TestLockWithoutHolder(t *testing.T) {
	s, err := open(t, processes(t, t.TempDir()), map[string]cty.Value{"fault": cty.StringVal("held")}, backend.Env{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = manager(t, s).Lock(t.Context(), storetest.Info("a"))
	var held *store.LockError
	if !errors.As(err, &held) || held.Info != nil || !strings.Contains(err.Error(), "The state is in use") {
		t.Errorf("got %v", err)
	}
}

// TestOneProcessPerConfiguration opens a store again, and with another configuration.
func TestOneProcessPerConfiguration(t *testing.T) {
	ps := processes(t, t.TempDir())
	for i, note := range []string{"a", "a", "b"} {
		if _, err := open(t, ps, map[string]cty.Value{"note": cty.StringVal(note)}, backend.Env{}); err != nil {
			t.Fatal(err)
		}
		if want := []int{1, 1, 2}[i]; len(ps.using) != want {
			t.Errorf("after %d openings: got %d processes, want %d", i+1, len(ps.using), want)
		}
	}
}

func TestHolderIn(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	got := holderIn(fmt.Sprintf("Locked: it is.\n\nLock Info:\n  ID:        x\n  Operation: plan\n  Who:       me@here\n  Created:   %s\n", now))
	if got == nil || got.ID != "x" || got.Operation != "plan" || got.Who != "me@here" || !got.Created.Equal(now) {
		t.Errorf("holderIn: got %+v, want x of me@here with the operation plan at %s", got, now)
	}
	if got := holderIn("The ID of nothing: none"); got != nil {
		t.Errorf("got %+v", got)
	}
	if got := holderIn("ID: y"); got == nil || got.Who == "" {
		t.Errorf("got %+v", got)
	}
}

// TestRaces lets two processes, each with a provider of its own, race for the lock of a state.
func TestRaces(t *testing.T) {
	storetest.RunRaces(t, func(t *testing.T) string { return t.TempDir() }, func(t *testing.T, cloud string) store.Store {
		s, err := open(t, processes(t, cloud), nil, backend.Env{JournalDir: filepath.Join(cloud, "journals")})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
