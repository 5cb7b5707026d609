package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// childEnv makes the test binary play another process: "TASK:DIR".
const childEnv = "MAYFLY_STATE_TEST_CHILD"

func TestMain(m *testing.M) {
	sysfault.Main()
	task, dir, ok := strings.Cut(os.Getenv(childEnv), ":")
	if !ok {
		os.Exit(program.Run(m))
	}
	run := map[string]func(string) error{"commit": childCommits, "hold": childHolds, "openings": childOpenings}[task]
	if cut, ok := strings.CutPrefix(task, "cut "); ok {
		run = func(dir string) error { return childCut(cut, dir) }
	}
	if err := run(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, task, dir string) (*exec.Cmd, *bufio.Scanner, io.Closer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+task+":"+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out), in
}

// childCommits recovers, then commits new objects from several goroutines and says each one that is durable,
// storing the whole state now and then. It goes on until it is killed.
func childCommits(dir string) error {
	ctx := context.Background()
	s := New(Options{Dir: dir})
	m := s.manager(filepath.Join(dir, DefaultPath))
	if _, err := m.Lock(ctx, storetest.Info("child")); err != nil {
		return err
	}
	f, err := m.Read(ctx)
	if err != nil {
		return err
	}
	if f == nil {
		f = &state.File{Meta: state.Meta{Lineage: "l", Version: "1.0.0"}, State: state.New()}
	}
	t := new(testing.T)
	for {
		j, err := m.BeginRun(ctx, f, "1.0.0")
		if err != nil {
			return err
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		errs := make([]error, 4)
		next := f.State.Copy()
		first := len(f.State.Resources)
		for g := range errs {
			wg.Go(func() {
				for i := range 5 {
					a := storetest.Address(fmt.Sprintf("n%d_%d_%d", first, g, i), 0)
					change := state.ObjectChange{Object: a, Provider: storetest.Provider, New: storetest.Object(t, strings.Repeat("x", rand.IntN(20_000)))}
					id, err := j.Begin(a, "create")
					if errs[g] = errors.Join(err, j.Commit(id, change)); errs[g] != nil {
						return
					}
					mu.Lock()
					fmt.Println(a)
					change.Apply(next)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		f = f.Next(next, "1.0.0")
		if err := m.Write(ctx, f); err != nil {
			return err
		}
	}
}

func childHolds(dir string) error {
	m := New(Options{}).manager(filepath.Join(dir, DefaultPath))
	id, err := m.Lock(context.Background(), storetest.Info("child"))
	if err != nil {
		return err
	}
	fmt.Println("locked")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return m.Unlock(context.Background(), id)
}

// TestKilled kills a committing process again and again, at random moments: nothing that it said to be
// durable may ever be missing.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	said := map[string]bool{}
	recovered := 0
	for round := range 12 {
		cmd, out, _ := child(t, "commit", dir)
		limit := 1 + rand.IntN(60)
		for i := 0; out.Scan(); i++ {
			said[out.Text()] = true
			if i == limit {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() == 1 {
			t.Fatalf("round %d: the child ended by itself: %v", round, err)
		}
		m := open(t, Options{Dir: dir})
		f, err := m.Read(t.Context())
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		have := map[string]bool{}
		for a := range f.State.AllInstances() {
			have[a.String()] = true
		}
		for a := range said {
			if !have[a] {
				t.Fatalf("round %d: %s was durable and is lost", round, a)
			}
		}
		if m.Recovered() != nil {
			recovered++
		}
	}
	if len(said) < 100 || recovered < 6 {
		t.Errorf("only %d objects and %d recoveries: the kills come at the wrong moments", len(said), recovered)
	}
}

func TestLockExcludesProcesses(t *testing.T) {
	dir := t.TempDir()
	cmd, out, in := child(t, "hold", dir)
	if !out.Scan() {
		t.Fatal("the child does not lock")
	}
	m := open(t, Options{Dir: dir})
	held := new(store.LockError)
	if _, err := m.Lock(t.Context(), storetest.Info("me")); !errors.As(err, &held) || held.Info == nil || held.Info.Who != "child" {
		t.Errorf("locking against another process: got %v, want it held by child", err)
	}
	if _, err := m.Read(t.Context()); err != nil {
		t.Errorf("reading while another process has the lock: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	id, err := store.Locking{LockTimeout: time.Minute}.Take(t.Context(), m, storetest.Info("me"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(cmd.Wait(), m.Unlock(t.Context(), id)); err != nil {
		t.Error(err)
	}
}

// TestWaiterSeesTheNewState plays a peer that opened the state file before we replaced its content and gets
// its lock afterwards: what it reads and writes must be the state.
func TestWaiterSeesTheNewState(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, DefaultPath)
	m := open(t, Options{Dir: dir})
	unlock := mustLock(t, m)
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	peer, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := tryLock(peer); !errors.Is(err, errHeld) {
		t.Fatalf("the peer's lock: %v", err)
	}
	f := storetest.File(t, "l", 2, 5)
	if err := m.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	// Something in this process opens and closes the file; the lock must survive it.
	content(t, path)
	if err := tryLock(peer); !errors.Is(err, errHeld) {
		t.Fatalf("the peer's lock after a write: %v", err)
	}
	unlock()
	if err := tryLock(peer); err != nil {
		t.Fatalf("the peer's lock when free: %v", err)
	}
	b, err := io.ReadAll(peer)
	if err != nil || string(b) != encoded(t, f) || !sameFile(path, peer) {
		t.Errorf("state read by the peer: got %q, %v, want %q in the same file", b, err, encoded(t, f))
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBytesWritten: an apply writes in proportion to its results, whatever the size of the state.
func TestBytesWritten(t *testing.T) {
	journalSize := func(stateSize, results int) int {
		dir := t.TempDir()
		m := open(t, Options{Dir: dir})
		base := storetest.File(t, "l", 1, stateSize)
		if err := m.Write(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		j, err := m.BeginRun(t.Context(), base, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		for i := range results {
			commit(t, j, "b", i, "x")
		}
		return len(content(t, m.at.paths.journal))
	}
	if small, large := journalSize(0, 20), journalSize(2000, 20); small != large {
		t.Errorf("20 results: got %d bytes beside a small state, %d beside a large one, want as many", small, large)
	}
	if once, twice := journalSize(0, 20), journalSize(0, 40); twice > once*22/10 {
		t.Errorf("20 results take %d bytes, 40 take %d", once, twice)
	}
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t, func(t *testing.T) string { return t.TempDir() },
		func(_ *testing.T, dir string) store.Store { return New(Options{Dir: dir}) })
}
