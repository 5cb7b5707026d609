package local

import (
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// descriptors returns those that the process has open.
func descriptors(t *testing.T) []string {
	t.Helper()
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(0)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestDescriptorsAreClosed makes runs that store a state in each way, and runs in which a step of storing it
// fails, and counts what they leave open.
func TestDescriptorsAreClosed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what was forgotten
	broken := errors.New("broken")
	ways := map[string]func(*disk){
		"no write":  func(d *disk) { d.writeAt = func(*os.File, []byte, int64) (int, error) { return 0, broken } },
		"no sync":   func(d *disk) { d.sync = func(*os.File) error { return broken } },
		"no rename": func(d *disk) { d.rename = func(string, string) error { return broken } },
		"no room":   func(d *disk) { d.reserve = func(*os.File, int64, int64) error { return broken } },
		"no rename in place": func(d *disk) {
			d.swap, d.rename = false, func(string, string) error { return broken }
		},
	}
	for name, way := range cutDisks {
		ways[name] = way
	}
	for name, way := range ways {
		for _, existing := range []bool{false, true} {
			dir := t.TempDir()
			if existing {
				interrupted(t, dir)
			}
			before := descriptors(t)
			storeOnce(t, dir, way)
			if after := descriptors(t); !slices.Equal(before, after) {
				t.Errorf("%s, and something to recover: %t: left open: %q, before: got %q, want %q", name, existing, after, before, after)
			}
		}
	}
	dir := t.TempDir()
	before := descriptors(t)
	for range 2 { // the second finds what the first has left
		o := NewOpenings(dir)
		if _, err := o.Left(); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Opening(storetest.Address("a", 0).Instance, storetest.Provider.Provider, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := descriptors(t); !slices.Equal(before, after) {
		t.Errorf("openings leave open: %q, before: got %q, want %q", after, before, after)
	}
}

// storeOnce is a run that adds an object and stores the state. It ends at its first error.
func storeOnce(t *testing.T, dir string, way func(*disk)) {
	t.Helper()
	s := New(Options{Dir: dir})
	way(&s.disk)
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	unlock := mustLock(t, m.(*Manager))
	defer unlock()
	f, err := m.Read(t.Context())
	if err != nil {
		return
	}
	if f == nil {
		f = storetest.File(t, "l", 0, 0)
	}
	next := f.State.Copy()
	change := state.ObjectChange{Object: storetest.Address("b", 0), Provider: storetest.Provider, New: storetest.Object(t, "new")}
	j, err := m.BeginRun(t.Context(), f, "1.0.0")
	if err != nil {
		return
	}
	if id, err := j.Begin(change.Object, "create"); err == nil {
		_ = j.Commit(id, change)
	}
	change.Apply(next)
	_ = m.Write(t.Context(), f.Next(next, "1.0.0"))
}
