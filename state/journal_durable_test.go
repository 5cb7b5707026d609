package state

import (
	"testing"
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
		{"Commit", func() error { return l.Commit(ids[0], ObjectChange{made, testProvider, object(t, "new")}) }, func(r *Replayed, _ []Opening) bool {
			return r.File.State.Object(made) != nil && len(r.Unfinished) == 1
		}},
		{"Fail", func() error { return l.Fail(ids[1], ObjectChange{half, testProvider, object(t, "half")}) }, func(r *Replayed, _ []Opening) bool {
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
		t.Errorf("Folded: its record is not durable when it returns: %v", err)
	}
}
