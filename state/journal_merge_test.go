package state

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestMerge puts the results of a journal into states that have all, some or none of them.
func TestMerge(t *testing.T) {
	made, gone, open := at("made", addr.NoKey), at("gone", addr.NoKey), at("open", addr.NoKey)
	stateOf := func(lineage string, serial uint64, has map[addr.Object]string) *File {
		f := &File{Meta: Meta{Lineage: lineage, Serial: serial, Version: "1.0.0"}, State: New()}
		for o, text := range has {
			f.State.SetObject(o, object(t, text), testProvider)
		}
		return f
	}
	old, all := map[addr.Object]string{gone: "x"}, map[addr.Object]string{made: "second"}
	journal := func(base Meta, folded ...[]byte) *JournalFile {
		file := &memLog{}
		l, err := NewLog(file, base, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []ObjectChange{{Object: made, Provider: testProvider, New: object(t, "first")}, {Object: gone}, {Object: made, Provider: testProvider, New: object(t, "second")}} {
			id, err := l.Begin(c.Object, "do")
			if err == nil {
				err = l.Commit(id, c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.Begin(open, "create"); err != nil {
			t.Fatal(err)
		}
		for _, state := range folded {
			if err := l.Folded(8, sha256.Sum256(state)); err != nil {
				t.Fatal(err)
			}
		}
		j, err := ParseJournal(file.buf.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	base, first := Meta{Lineage: "l", Serial: 7}, Meta{Lineage: "l"}
	stored := []byte("the state file")
	const folded, replayed, held = "it is folded", "its results are replayed", "the state has its results"
	for _, test := range []struct {
		name    string
		journal *JournalFile
		state   *File
		want    string // "" if it is foreign
		missing []addr.Object
	}{
		{"the state that it began with", journal(base), stateOf("l", 7, old), replayed, nil},
		{"another state is named", journal(base, []byte("other")), stateOf("l", 7, old), replayed, nil},
		{"the state is named", journal(base, stored), stateOf("l", 8, all), folded, nil},
		{"the last state that is named counts", journal(base, stored, []byte("other")), stateOf("l", 7, old), replayed, nil},
		{"no state, and it began with none", journal(first), nil, replayed, nil},
		{"a state, and it began with none", journal(first), stateOf("m", 3, nil), "", []addr.Object{made}},
		{"no state", journal(base), nil, "", []addr.Object{made}},
		{"all results", journal(base), stateOf("l", 8, all), held, nil},
		{"none of the results", journal(base), stateOf("l", 8, old), "", []addr.Object{gone, made}},
		{"an earlier result", journal(base), stateOf("l", 8, map[addr.Object]string{made: "first"}), "", []addr.Object{made}},
		{"all results, another lineage", journal(base), stateOf("m", 8, all), "", nil},
		{"all results, an older state", journal(base), stateOf("l", 6, all), "", nil},
	} {
		r, missing, err := test.journal.Merge(test.state, stored)
		if errors.Is(err, ErrJournalForeign) != (test.want == "") || err != nil && test.want != "" {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
		if !slices.Equal(missing, test.missing) {
			t.Errorf("%s: missing: got %v, want %v", test.name, missing, test.missing)
		}
		if (r != nil) != (test.want == replayed || test.want == held) {
			t.Errorf("%s: replayed: got %+v, want %q", test.name, r, test.want)
			continue
		}
		if r == nil {
			continue
		}
		if len(r.Unfinished) != 1 || r.Unfinished[0].Object != open || r.File.State.Object(gone) != nil || !r.File.State.Object(made).Equal(object(t, "second")) {
			t.Errorf("%s: got %+v replayed, want %s unfinished, %s gone and %s made", test.name, r, open, gone, made)
		}
		if (test.want == held) != (r.File == test.state) || (r.Changes == 0) != (test.want == held) {
			t.Errorf("%s: got %d changes, want %q", test.name, r.Changes, test.want)
		}
	}
}

// TestEveryCut cuts a journal off at each byte: what is whole is read, and the rest is torn.
func TestEveryCut(t *testing.T) {
	l, file := newLog(t, testFile())
	var ends []int
	for range 2 {
		if _, err := l.Begin(at("n", addr.NoKey), "create"); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, file.buf.Len())
	}
	for cut := range file.buf.Len() {
		j, err := ParseJournal(file.buf.Bytes()[:cut], nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := 0
		for _, end := range ends {
			if end <= cut {
				want++
			}
		}
		if j == nil && want > 0 || j != nil && (len(j.records) != want || j.Torn == slices.Contains(append(ends, int(j.Size)), cut)) {
			t.Errorf("cut at %d: got %+v, want %d records", cut, j, want)
		}
	}
}

// TestHeaders refuses what begins like a journal of this program and is none.
func TestHeaders(t *testing.T) {
	for _, header := range []string{
		`{"format":"another journal","version":1,"lineage":"l","serial":7}`,
		`{"format":"mayfly state journal","version":2,"lineage":"l","serial":7}`,
		`{"format":"mayfly state journal","version":1,"lineage":"l","serial":-7}`,
		`[]`,
	} {
		if j, err := ParseJournal(frame([]byte(header)), nil); !errors.Is(err, ErrJournalCorrupt) {
			t.Errorf("%s: %+v, %v", header, j, err)
		}
	}
	begun := frame([]byte(`{"format":"mayfly state journal","version":1,"lineage":"l","serial":7}`))
	if j, err := ParseJournal(append(slices.Clone(begun), frame(nil)...), nil); err != nil || !j.Torn {
		t.Errorf("a frame without content is no end that was cut off: %+v, %v", j, err)
	}
	if _, err := ParseJournal(append(slices.Clone(begun), frame([]byte(`[{"folded":{"serial":8,"sha256":"00"}}]`))...), nil); !errors.Is(err, ErrJournalCorrupt) {
		t.Errorf("a checksum that is too short: %v", err)
	}
}

// TestHeldWithoutState asks for the results of a journal where no state is.
func TestHeldWithoutState(t *testing.T) {
	file := &memLog{}
	l, err := NewLog(file, Meta{Lineage: "l", Serial: 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := ObjectChange{Object: at("gone", addr.NoKey)}
	id, err := l.Begin(gone.Object, "delete")
	if err == nil {
		err = l.Commit(id, gone)
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := ParseJournal(file.buf.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, missing, err := j.Held(nil); r != nil || len(missing) > 0 || err != nil {
		t.Errorf("%v, %v, %v", r, missing, err)
	}
}

// TestJournalKeepsUnknownMembers replays an object with a member that a later version has written.
func TestJournalKeepsUnknownMembers(t *testing.T) {
	o, file := at("made", addr.NoKey), &memLog{}
	made := object(t, "first")
	made.extra = fields(`,"later":1`)
	base := &File{Meta: Meta{Lineage: "l", Serial: 7, Version: "1.0.0"}, State: New()}
	l, err := NewLog(file, base.Meta, nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := l.Begin(o, "create")
	if err == nil {
		err = l.Commit(id, ObjectChange{Object: o, Provider: testProvider, New: made})
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := ParseJournal(file.buf.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := j.Replay(base)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.File.State.Object(o); got == nil || string(got.extra) != string(made.extra) {
		t.Errorf("object that comes back: got %+v, want its unknown properties %s", got, made.extra)
	}
}
