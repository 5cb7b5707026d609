package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

const roleEnv = "KEEP_STORE_TEST_WRITER"

// TestMain turns the test binary into a writer process when asked to.
func TestMain(m *testing.M) {
	sysfault.Main()
	if who := os.Getenv(roleEnv); who != "" {
		err := writer(context.Background(), who, os.Args[1], os.Args[2], os.Args[3])
		if err == nil && len(os.Args) > 4 { // a folder to note the end in
			err = os.WriteFile(filepath.Join(os.Args[4], "written"), nil, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer stores count secrets of its own and a new value of a common one each time; without end if count is
// negative.
func writer(ctx context.Context, who, path, keyFile, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	s, err := Open(Options{Path: path, KeyFile: keyFile})
	if err != nil {
		return err
	}
	for i := 0; i != n; i++ {
		if _, err := s.CreateSecret(ctx, fmt.Sprintf("%s/%d", who, i), nil, []byte(who)); err != nil {
			return err
		}
		_, err := s.CreateSecret(ctx, "common", nil, []byte(who))
		if errors.Is(err, ErrExists) {
			_, err = s.UpdateSecret(ctx, "common", nil, []byte(who))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writerCommand(t *testing.T, who, path, keyFile string, count int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, path, keyFile, strconv.Itoa(count))
	cmd.Env = append(os.Environ(), roleEnv+"="+who)
	return cmd
}

func TestProcessesAtOnce(t *testing.T) {
	const processes, each = 4, 10
	s := newStore(t, Options{})
	var group sync.WaitGroup
	for p := range processes {
		cmd := writerCommand(t, fmt.Sprintf("w%d", p), s.path, s.keyFile, each)
		group.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	names, err := s.SecretNames(t.Context(), "w")
	if err != nil || len(names) != processes*each {
		t.Errorf("got %d names, %v, want %d", len(names), err, processes*each)
	}
	if common, err := s.Secret(t.Context(), "common"); err != nil || common.Version != processes*each {
		t.Errorf("common: got %+v, %v, want version %d", common, err, processes*each)
	}
}

func TestKilledWriterLosesNothing(t *testing.T) {
	s := newStore(t, Options{})
	known := 0
	for round := range 5 {
		who := fmt.Sprintf("w%d", round)
		cmd := writerCommand(t, who, s.path, s.keyFile, -1)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The kill comes at an arbitrary moment, after this round's writer is known to be at work.
		for now := known; now == known; time.Sleep(time.Duration(round+1) * time.Millisecond) {
			names, err := s.SecretNames(t.Context(), "w")
			if err != nil {
				t.Fatal(err)
			}
			now = len(names)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // reports the kill
		names, err := s.SecretNames(t.Context(), "w")
		if err != nil || len(names) <= known {
			t.Fatalf("round %d: %d names after %d: %v", round, len(names), known, err)
		}
		known = len(names)
		mustCreate(t, s, fmt.Sprintf("x%d", round), "the lock is free again")
	}
}

func TestHandlesAtOnce(t *testing.T) {
	const writers = 8
	s := newStore(t, Options{})
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			if err := second(s.CreateSecret(t.Context(), fmt.Sprint("n", i), nil, []byte("x"))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if names, err := s.SecretNames(t.Context(), ""); err != nil || len(names) != writers {
		t.Errorf("names: got %v, %v, want %d", names, err, writers)
	}
}

// Two stores that share a key file and come into being at once must agree on one key.
func TestSharedKeyFile(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	var stores []*Store
	var group sync.WaitGroup
	for i := range 6 {
		s := newStore(t, Options{Path: filepath.Join(dir, fmt.Sprint("s", i)), KeyFile: key})
		stores = append(stores, s)
		group.Go(func() {
			if err := second(s.CreateSecret(t.Context(), "a", nil, []byte("x"))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, s := range stores {
		if got := reveal(t, s, "a"); got != "x" {
			t.Errorf("%s: got %q, want %q", s.path, got, "x")
		}
	}
}
