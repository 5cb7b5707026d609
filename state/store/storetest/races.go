package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
)

// races is how often each of two processes changes the state.
const races = 100

// RunRaces lets two processes race for the lock of one state, which each of them changes a hundred times:
// no change may be lost, and none may be made beside another. start returns a text that open, in another
// process of the same test, finds the place by.
func RunRaces(t *testing.T, start func(t *testing.T) (place string), open func(t *testing.T, place string) store.Store) {
	if place := os.Getenv(envRacePlace); place != "" {
		race(t, open(t, place))
		return
	}
	place := start(t)
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), envRacePlace+"="+place, fmt.Sprint(envRaceNumber, "=", n))
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
		for round := range races {
			if f.State.Object(Address(fmt.Sprint("p", n), round)) == nil {
				t.Errorf("the change %d of process %d is lost", round, n)
			}
		}
	}
	if f.Serial != 2*races {
		t.Errorf("serial %d after %d changes", f.Serial, 2*races)
	}
}

// race changes the state under its lock, again and again.
func race(t *testing.T, s store.Store) {
	name := "p" + os.Getenv(envRaceNumber)
	for round := range races {
		m, err := s.Manager(store.DefaultWorkspace)
		if err == nil {
			err = raceOnce(t, m, name, round)
		}
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

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
