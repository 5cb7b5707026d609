package state

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestRecordsAreDurable cuts the power after each call of a journal: what was not synchronized is gone, and
// what is left must have the record.
func TestRecordsAreDurable(t *testing.T) {
	base := testFile()
	l, file := newLog(t, base)
	made, half := at("made", addr.NoKey), at("half", addr.NoKey)
	var ids []uint64
	var opening uint64
	for _, step := range []struct {
		name string
		do   func() error
		has  func(*Replayed, []Opening) bool
	}{
		{"Begin", func() error {
			for _, o := range []addr.Object{made, half} {
				id, err := l.Begin(o, "create")
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		}, func(r *Replayed, _ []Opening) bool { return len(r.Unfinished) == 2 }},
		{"Opening", func() (err error) {
			opening, err = l.Opening(addr.Instance{Resource: made.Resource}, testProvider.Provider, time.Unix(1, 0))
			return err
		}, func(_ *Replayed, open []Opening) bool { return len(open) == 1 }},
		{"Commit", func() error {
			return l.Commit(ids[0], ObjectChange{Object: made, Provider: testProvider, New: object(t, "new")})
		}, func(r *Replayed, _ []Opening) bool {
			return r.File.State.Object(made) != nil && len(r.Unfinished) == 1
		}},
		{"Fail", func() error {
			return l.Fail(ids[1], ObjectChange{Object: half, Provider: testProvider, New: object(t, "half")})
		}, func(r *Replayed, _ []Opening) bool {
			return r.File.State.Object(half) != nil && len(r.Unfinished) == 0
		}},
		{"Closed", func() error { return l.Closed(opening) }, func(_ *Replayed, open []Opening) bool { return len(open) == 0 }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		left := file.buf.Bytes()[:file.durable]
		r, err := replay(base, left)
		if err != nil {
			t.Fatal(err)
		}
		j, err := ParseJournal(left, nil)
		if err != nil {
			t.Fatal(err)
		}
		if j == nil || r == nil || !step.has(r, j.Openings()) {
			t.Errorf("%s: its record is not durable when it returns", step.name)
		}
	}
	// The state file that has everything is named before it is written.
	if err := l.Folded(8, [32]byte{}); err != nil || file.durable != file.buf.Len() {
		t.Errorf("Folded: got %v, and %d durable bytes when it returns, want all %d", err, file.durable, file.buf.Len())
	}
}

// TestIdle tells journals that a later run needs from those that can be removed at the end of their run.
func TestIdle(t *testing.T) {
	change := ObjectChange{Object: at("made", addr.NoKey), Provider: testProvider, New: object(t, "new")}
	for name, test := range map[string]struct {
		do       func(l *Log, file *memLog, id uint64) error
		idle     bool
		complete bool
	}{
		"begun":                {func(*Log, *memLog, uint64) error { return nil }, false, true},
		"ended without change": {func(l *Log, _ *memLog, id uint64) error { return l.Commit(id) }, true, true},
		"failed":               {func(l *Log, _ *memLog, id uint64) error { return l.Fail(id) }, true, true},
		"changed":              {func(l *Log, _ *memLog, id uint64) error { return l.Commit(id, change) }, false, true},
		"failed with a change": {func(l *Log, _ *memLog, id uint64) error { return l.Fail(id, change) }, false, true},
		"lost": {func(l *Log, file *memLog, id uint64) error {
			file.fail = errors.New("broken")
			if l.Commit(id) == nil {
				return errors.New("the error is lost")
			}
			return nil
		}, false, false},
	} {
		l, file := newLog(t, testFile())
		if !l.Idle() || !l.Complete() {
			t.Fatalf("%s: a new journal is idle: %t, complete: %t", name, l.Idle(), l.Complete())
		}
		id, err := l.Begin(change.Object, "create")
		if err != nil {
			t.Fatal(err)
		}
		if err := test.do(l, file, id); err != nil {
			t.Fatal(err)
		}
		if idle, complete := l.Idle(), l.Complete(); idle != test.idle || complete != test.complete {
			t.Errorf("%s: got idle %t, complete %t, want %t, %t", name, idle, complete, test.idle, test.complete)
		}
	}
}

// TestEndWhileWriting ends a journal while it is being written, and while a later record waits for that: what
// is being written becomes durable, and the other record fails.
func TestEndWhileWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, file := newLog(t, testFile())
		file.syncTime = time.Second
		first, second := make(chan error, 1), make(chan error, 1)
		begin := func(name string, to chan error) {
			_, err := l.Begin(at(name, addr.NoKey), "create")
			to <- err
		}
		go begin("first", first)
		synctest.Wait()
		go l.End()
		synctest.Wait()
		go begin("second", second)
		if err := <-first; err != nil {
			t.Errorf("what was being written: %v", err)
		}
		if err := <-second; !errors.Is(err, errEnded) {
			t.Errorf("what came later: %v", err)
		}
		if j, err := ParseJournal(file.buf.Bytes(), nil); err != nil || len(j.records) != 1 || j.Torn {
			t.Errorf("got %+v, %v, want 1 record, and nothing torn", j, err)
		}
	})
}

// TestEndsOnce refuses to end what never began, or has ended: nothing is written about it.
func TestEndsOnce(t *testing.T) {
	l, file := newLog(t, testFile())
	id, err := l.Begin(at("n", addr.NoKey), "create")
	if err == nil {
		err = l.Commit(id)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := file.buf.Len()
	for _, id := range []uint64{id, 99} {
		for _, end := range []func(uint64, ...ObjectChange) error{l.Commit, l.Fail} {
			if err := end(id, ObjectChange{Object: at("n", addr.NoKey)}); err == nil || file.buf.Len() != before {
				t.Errorf("ending operation %d: got %v and a journal of %d bytes, want an error, and still %d bytes", id, err, file.buf.Len(), before)
			}
		}
	}
}

// TestEnqueue has results that wait together to become durable. The order of the calls counts, not the one of
// the waits, and one synchronization is enough for all.
func TestEnqueue(t *testing.T) {
	base := testFile()
	l, file := newLog(t, base)
	o := at("made", addr.NoKey)
	var waits []func() error
	for _, text := range []string{"first", "second", "third"} {
		id, err := l.Begin(o, "update")
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, l.Enqueue(id, ObjectChange{Object: o, Provider: testProvider, New: object(t, text)}))
	}
	id, err := l.Begin(at("other", addr.NoKey), "create") // what came before is durable with it
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay(base, file.buf.Bytes()[:file.durable])
	if err != nil {
		t.Fatal(err)
	}
	if got := r.File.State.Object(o); got == nil || string(got.JSON()) != string(object(t, "third").JSON()) {
		t.Errorf("got %v, want the results in the order of the calls", got)
	}
	for i := range waits {
		if err := waits[len(waits)-1-i](); err != nil {
			t.Error(err)
		}
	}
	file.fail = errors.New("broken")
	wait := l.Enqueue(id, ObjectChange{Object: o, Provider: testProvider, New: object(t, "lost")})
	if !l.Complete() {
		t.Error("results that are still to be written are lost")
	}
	if err := wait(); err == nil || l.Complete() {
		t.Errorf("got %v, want an error, and a journal that is not complete", err)
	}
	if err := l.Enqueue(id)(); err == nil {
		t.Error("an operation ended twice")
	}
}
