package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/powercut"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// cutDisks are the ways in which a state is written.
var cutDisks = map[string]func(*disk){
	"swap":               func(*disk) {},
	"no hard links":      func(d *disk) { d.link = func(string, string) error { return errors.ErrUnsupported } },
	"overwrite in place": func(d *disk) { d.swap = false },
}

// cutTasks are what runs do while the power is cut. before makes what they find, with as many objects as it
// returns.
var cutTasks = map[string]struct {
	workspace string
	before    func(t *testing.T, dir string) int
	do        func(s *Store, m *Manager, w *cutWork) error
}{
	"first run":     {do: func(_ *Store, m *Manager, w *cutWork) error { return w.locked(m, w.run) }},
	"next run":      {before: twoStored, do: func(_ *Store, m *Manager, w *cutWork) error { return w.locked(m, w.run) }},
	"without lock":  {before: twoStored, do: func(_ *Store, m *Manager, w *cutWork) error { return w.run(m) }},
	"recovery":      {before: oneInJournal, do: func(_ *Store, m *Manager, w *cutWork) error { return w.locked(m, w.run) }},
	"encryption":    {before: twoStored, do: func(_ *Store, m *Manager, w *cutWork) error { return w.locked(m, w.rekey) }},
	"new workspace": {workspace: "staging", do: inNewWorkspace},
}

func twoStored(t *testing.T, dir string) int {
	if err := open(t, Options{Dir: dir}).Write(t.Context(), storetest.File(t, "l", 1, 2)); err != nil {
		t.Fatal(err)
	}
	return 2
}

func oneInJournal(t *testing.T, dir string) int {
	interrupted(t, dir)
	return 2
}

func inNewWorkspace(s *Store, _ *Manager, w *cutWork) error {
	err := s.CreateWorkspace(context.Background(), "staging")
	if err != nil {
		return err
	}
	m, err := s.Manager("staging")
	if err != nil {
		return err
	}
	return w.locked(m.(*Manager), w.run)
}

// cutWork is a run in a process of its own, which says what it has done by creating files in a directory.
type cutWork struct{ marks string }

func (w *cutWork) mark(what string) error {
	return os.WriteFile(filepath.Join(w.marks, what), nil, 0o600)
}

func (w *cutWork) locked(m *Manager, do func(*Manager) error) error {
	id, err := m.Lock(context.Background(), storetest.Info("child"))
	if err != nil {
		return err
	}
	return errors.Join(do(m), m.Unlock(context.Background(), id))
}

// run adds three objects and stores the state.
func (w *cutWork) run(m *Manager) error {
	ctx, t := context.Background(), new(testing.T)
	f, err := m.Read(ctx)
	if err != nil {
		return err
	}
	if f == nil {
		f = storetest.File(t, "l", 0, 0)
	}
	j, err := m.BeginRun(ctx, f, "1.0.0")
	if err != nil {
		return err
	}
	next := f.State.Copy()
	for i := range 3 {
		change := state.ObjectChange{Object: storetest.Address("b", i), Provider: storetest.Provider, New: storetest.Object(t, "new")}
		id, err := j.Begin(change.Object, "create")
		if err != nil {
			return err
		}
		if err := w.mark(fmt.Sprint("begun ", i)); err != nil {
			return err
		}
		if err := j.Commit(id, change); err != nil {
			return err
		}
		if err := w.mark(fmt.Sprint("durable ", i)); err != nil {
			return err
		}
		change.Apply(next)
	}
	if err := m.Write(ctx, f.Next(next, "1.0.0")); err != nil {
		return err
	}
	return w.mark("stored")
}

func (w *cutWork) rekey(m *Manager) error {
	_, err := m.Rekey(context.Background())
	return err
}

// childCut is what the process does whose power is cut. The task has the names of a task and a disk.
func childCut(task, dir string) error {
	name, way, _ := strings.Cut(task, "/")
	s := New(Options{Dir: filepath.Join(dir, "root")})
	cutDisks[way](&s.disk)
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		return err
	}
	return cutTasks[name].do(s, m.(*Manager), &cutWork{filepath.Join(dir, "marks")})
}

// cutsOf runs a task in a process and returns what power cuts may leave of its directory, which before fills.
func cutsOf(t *testing.T, task string, before func(dir string)) []powercut.Cut {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	marks := filepath.Join(dir, "marks")
	watched := powercut.Watched{Root: filepath.Join(dir, "root"), Done: powercut.Files(marks)}
	if err := errors.Join(os.Mkdir(watched.Root, 0o700), os.Mkdir(marks, 0o700)); err != nil {
		t.Fatal(err)
	}
	before(watched.Root)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env, cmd.Stderr = append(os.Environ(), childEnv+"="+task+":"+dir), os.Stderr
	cuts, err := watched.Cuts(cmd)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cuts
}

// TestPowerCut cuts the power before each system call of a run that changes a file. The next run must find
// a state it can read, with all objects that there were and all results that were reported as durable, and
// the operations that had begun.
func TestPowerCut(t *testing.T) {
	for name, task := range cutTasks {
		for way := range cutDisks {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				had := 0
				cuts := cutsOf(t, "cut "+name+"/"+way, func(dir string) {
					if task.before != nil {
						had = task.before(t, dir)
					}
				})
				stored := name == "encryption"
				for _, c := range cuts {
					stored = stored || c.Has("stored")
					checkCut(t, c, task.workspace, had)
				}
				if !stored || len(cuts) < 10 {
					t.Errorf("%d cuts, and the run came to its end: %v", len(cuts), stored)
				}
			})
		}
	}
}

// checkCut is the next run after a power cut, which finds the first objects and what the marks say.
func checkCut(t *testing.T, c powercut.Cut, workspace string, had int) {
	t.Helper()
	dir := t.TempDir()
	if err := c.Lay(dir); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("before %s, with %q left", c.At, slices.Sorted(maps.Keys(c.Image)))
	s := New(Options{Dir: dir})
	s.disk.sync = func(*os.File) error { return nil } // this run ends as it should
	m, err := s.Manager(cmp.Or(workspace, store.DefaultWorkspace))
	if err != nil {
		t.Fatal(err)
	}
	id, err := m.Lock(t.Context(), storetest.Info("next"))
	if err != nil {
		t.Errorf("%s: locking: %v", at, err)
		return
	}
	f, err := m.Read(t.Context())
	if err == nil && f != nil {
		err = m.Write(t.Context(), f.Next(f.State.Copy(), "1.0.0"))
	}
	if err = errors.Join(err, m.Unlock(t.Context(), id)); err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	has := func(o addr.Object) bool { return f != nil && f.State.Object(o) != nil }
	for i := range had {
		if !has(storetest.Address("a", i)) {
			t.Errorf("%s: the object %d, which was there before, is missing", at, i)
		}
	}
	unfinished := 0
	for i := range 3 {
		switch {
		case c.Has(fmt.Sprint("durable ", i)) && !has(storetest.Address("b", i)):
			t.Errorf("%s: the result %d is missing", at, i)
		case c.Has(fmt.Sprint("begun ", i)) && !has(storetest.Address("b", i)):
			unfinished++
		}
	}
	if r := m.(*Manager).Recovered(); unfinished > 0 && (r == nil || len(r.Unfinished) != unfinished) {
		t.Errorf("%s: got %+v, want %d unfinished operations", at, r, unfinished)
	}
	backup, exists := c.Image[DefaultPath+backupSuffix]
	if old, err := store.Decode(backup, nil); exists && (err != nil || old == nil) {
		t.Errorf("%s: the backup has %d bytes: %v", at, len(backup), err)
	}
}

// childOpenings records an opening.
func childOpenings(dir string) error {
	o := NewOpenings(filepath.Join(dir, "root", "a", "b"))
	if _, err := o.Opening(storetest.Address("a", 0).Instance, storetest.Provider.Provider, time.Unix(1, 0)); err != nil {
		return err
	}
	return errors.Join((&cutWork{filepath.Join(dir, "marks")}).mark("open"), o.failed)
}

func TestPowerCutOfOpenings(t *testing.T) {
	open := false
	for _, c := range cutsOf(t, "openings", func(string) {}) {
		dir := t.TempDir()
		if err := c.Lay(dir); err != nil {
			t.Fatal(err)
		}
		o := NewOpenings(filepath.Join(dir, "a", "b"))
		left, err := o.Left()
		if err = errors.Join(err, o.Close()); err != nil || len(left) != 1 && c.Has("open") {
			t.Errorf("before %s: got %v, %v, want one opening if it has been noted", c.At, left, err)
		}
		open = open || c.Has("open")
	}
	if !open {
		t.Error("nothing was opened")
	}
}
