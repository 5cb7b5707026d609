package state

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

var salts = []fingerprint.Salt{{ID: "9e0c7f2a", Scheme: "argon2id-16m-2", Bytes: []byte("0123456789abcdef")}, {ID: "b", Scheme: "a newer one", Bytes: []byte("other")}}

// TestSaltsAreStored writes salts, reads them again, and compares states with and without them.
func TestSaltsAreStored(t *testing.T) {
	f := &File{Meta: Meta{Lineage: "l", Serial: 7, Version: "1.0.0"}, State: New()}
	plain := mustWrite(t, f)
	if strings.Contains(plain, "salts") {
		t.Errorf("got a member for salts that there are none of:\n%s", plain)
	}
	f.State.AddSalts(salts...)
	f.State.AddSalts(salts[0])
	text := mustWrite(t, f)
	got := mustRead(t, []byte(text))
	if !reflect.DeepEqual(got.State.Salts, salts) {
		t.Errorf("got %v, want %v, from\n%s", got.State.Salts, salts, text)
	}
	// A member that is not known takes another way.
	other := mustRead(t, []byte(strings.Replace(text, `"version": 4,`, `"version": 4, "other": [],`, 1)))
	if !reflect.DeepEqual(other.State.Salts, salts) {
		t.Errorf("got %v beside another member, want %v", other.State.Salts, salts)
	}
	without := mustRead(t, []byte(plain))
	if Unchanged(without, f) || Unchanged(f, without) || !Unchanged(f, got) {
		t.Error("states with other salts count as equal, or the same as different")
	}
	c := f.State.Copy()
	c.Salts[0].ID = "changed"
	if f.State.Salts[0].ID != salts[0].ID {
		t.Error("a copy shares the list of salts")
	}
}

// TestSaltsInJournal replays the salts that came with results, and looks for them where nothing is encrypted.
func TestSaltsInJournal(t *testing.T) {
	made, gone := at("made", addr.NoKey), at("gone", addr.NoKey)
	base := &File{Meta: Meta{Lineage: "l", Serial: 7, Version: "1.0.0"}, State: New()}
	base.State.SetObject(gone, object(t, "x"), testProvider)
	file := &memLog{}
	l, err := NewLog(file, base.Meta, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []ObjectChange{{Object: made, Provider: testProvider, New: object(t, "first"), Salts: salts[:1]}, {Object: gone, Salts: salts}} {
		id, err := l.Begin(c.Object, "do")
		if err == nil {
			err = l.Commit(id, c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	header, _, _ := bytes.Cut(file.buf.Bytes(), []byte("\n"))
	if bytes.Contains(header, []byte("salt")) {
		t.Errorf("the header, which is never encrypted, has a salt: %s", header)
	}
	j, err := ParseJournal(file.buf.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := j.Replay(base)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.File.State.Salts; !reflect.DeepEqual(got, salts) {
		t.Errorf("got %v, want %v", got, salts)
	}
}
