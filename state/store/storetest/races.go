package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/state/store"
)

// The variables of a process that races.
const (
	envRacePlace  = "MAYFLY_TEST_RACE_PLACE"
	envRaceNumber = "MAYFLY_TEST_RACE_NUMBER"
	envRaceInside = "MAYFLY_TEST_RACE_INSIDE" // the name of a file that exists while one of them has the lock
)

// envRaces is a variable with the number of rounds.
const envRaces = "MAYFLY_TEST_RACES"

// races returns how often each of two processes changes the state.
func races(t *testing.T) int {
	text := os.Getenv(envRaces)
	if text == "" {
		return 30
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// RunRaces lets two processes race for the lock of one state, which each of them changes many times: no
// change may be lost, and none may be made beside another. start returns a text that open, in another process
// of the same test, finds the place by.
func RunRaces(t *testing.T, start func(t *testing.T) (place string), open func(t *testing.T, place string) store.Store) {
	if place := os.Getenv(envRacePlace); place != "" {
		race(t, open(t, place))
		return
	}
	place, inside, rounds := start(t), filepath.Join(t.TempDir(), "inside"), races(t)
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), envRacePlace+"="+place, fmt.Sprint(envRaceNumber, "=", n), envRaceInside+"="+inside)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
				t.Errorf("process %d: %v\n%s", n, err, out)
			}
		})
	}
	wg.Wait()
	m, err := open(t, place).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Read(t.Context())
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	for n := range 2 {
		for round := range rounds {
			if f.State.Object(Address(fmt.Sprint("p", n), round)) == nil {
				t.Errorf("the change %d of process %d is lost", round, n)
			}
		}
	}
	if f.Serial != uint64(2*rounds) {
		t.Errorf("serial %d after %d changes, want %d", f.Serial, 2*rounds, uint64(2*rounds))
	}
}

// race changes the state under its lock, again and again.
func race(t *testing.T, s store.Store) {
	name := "p" + os.Getenv(envRaceNumber)
	for round := range races(t) {
		m, err := s.Manager(store.DefaultWorkspace)
		if err == nil {
			err = raceOnce(t, m, name, round)
		}
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// raceOnce is one round of a process: it locks, notes in a file that it is inside, changes the state and
// unlocks. A process that finds the note of another one has shown that the lock does not hold.
func raceOnce(t *testing.T, m store.Manager, name string, round int) (err error) {
	var id string
	for {
		id, err = m.Lock(t.Context(), Info(fmt.Sprint(name, "-", round)))
		var held *store.LockError
		if !errors.As(err, &held) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Unlock(context.WithoutCancel(t.Context()), id)) }()
	inside := os.Getenv(envRaceInside)
	if err := os.Mkdir(inside, 0o700); err != nil { // the other process has the lock too
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(inside)) }() // before the lock is released
	f, err := m.Read(t.Context())
	if err != nil {
		return err
	}
	if f == nil {
		f = File(t, "l", 0, 0)
	}
	f.State.SetObject(Address(name, round), Object(t, "x"), Provider)
	return m.Write(t.Context(), f.Next(f.State, "1.0.0"))
}
