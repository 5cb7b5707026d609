package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

var leased = addr.Provider{Hostname: "example.com", Namespace: "a", Type: "b"}

// opening records that an instance is about to be opened.
func opening(t *testing.T, o *Openings, name string) uint64 {
	t.Helper()
	in, err := addr.ParseInstance("ephemeral.t." + name)
	if err != nil {
		t.Fatal(err)
	}
	id, err := o.Opening(in, leased, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// kill ends the record as the process does when it is killed.
func kill(t *testing.T, o *Openings) {
	t.Helper()
	if err := locks.close(o.file.f); err != nil {
		t.Fatal(err)
	}
}

// left returns what another process finds.
func left(t *testing.T, dir string) (names []string, err error) {
	t.Helper()
	o := NewOpenings(dir)
	open, err := o.Left()
	if closing := o.Close(); closing != nil {
		t.Error(closing)
	}
	for _, x := range open {
		names = append(names, strings.TrimPrefix(x.Instance, "ephemeral.t."))
	}
	slices.Sort(names)
	return names, err
}

func TestOpeningsLeft(t *testing.T) {
	dir := t.TempDir()
	killed, another, alive := NewOpenings(dir), NewOpenings(dir), NewOpenings(dir)
	first := opening(t, killed, "first")
	opening(t, killed, "second")
	opening(t, another, "third")
	opening(t, alive, "fourth")
	if err := killed.Closed(first); err != nil {
		t.Fatal(err)
	}
	kill(t, killed)
	kill(t, another)
	info, err := os.Stat(killed.file.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if names, err := left(t, dir); err != nil || !slices.Equal(names, []string{"second", "third"}) {
		t.Errorf("openings left: got %q, %v, want second and third", names, err)
	}
	if names, err := left(t, dir); err != nil || names != nil {
		t.Errorf("a second time: %q, %v", names, err)
	}
	if err := alive.Close(); err != nil {
		t.Error(err)
	}
	if err := alive.Closed(1); err == nil {
		t.Error("recorded after the end")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
}

// TestOpeningsForget forgets what is open, and nothing that is opened later.
func TestOpeningsForget(t *testing.T) {
	dir := t.TempDir()
	o := NewOpenings(dir)
	o.Forget()
	closed := opening(t, o, "closed")
	opening(t, o, "told")
	if err := o.Closed(closed); err != nil {
		t.Fatal(err)
	}
	o.Forget()
	if len(o.open) > 0 {
		t.Errorf("%d openings are still known, want none", len(o.open))
	}
	opening(t, o, "later")
	kill(t, o)
	if names, err := left(t, dir); err != nil || !slices.Equal(names, []string{"later"}) {
		t.Errorf("openings left: got %q, %v, want later alone", names, err)
	}
}

// TestOpeningsDamaged reads files that were cut off, that say nothing yet, and that are damaged.
func TestOpeningsDamaged(t *testing.T) {
	dir := t.TempDir()
	whole := NewOpenings(dir)
	opening(t, whole, "one")
	opening(t, whole, "two")
	kill(t, whole)
	text, err := os.ReadFile(whole.file.path)
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name, content string
		names         []string
		err           string
		stays         bool
	}{
		{name: "torn", content: string(text[:len(text)-5]), names: []string{"one"}},
		{name: "no record", content: string(text[:20])},
		{name: "empty", stays: true},
		{name: "damaged", content: strings.Replace(string(text), "one", "eno", 1), err: "damaged"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "mayfly-x.openings")
			if err := os.WriteFile(path, []byte(row.content), 0o600); err != nil {
				t.Fatal(err)
			}
			names, err := left(t, dir)
			if !slices.Equal(names, row.names) || (err != nil) != (row.err != "") || err != nil && (!strings.Contains(err.Error(), row.err) || !strings.Contains(err.Error(), path)) {
				t.Errorf("openings left: got %q, %v, want %q and an error with %q and the path (none if empty)", names, err, row.names, row.err)
			}
			if exists(path) != row.stays {
				t.Errorf("it stays: got %t, want %t", exists(path), row.stays)
			}
		})
	}
}

func TestOpeningsDirectory(t *testing.T) {
	base := t.TempDir()
	o := NewOpenings(filepath.Join(base, "a", "b"))
	opening(t, o, "one")
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(base); err != nil || len(files) > 0 {
		t.Error(files, err)
	}

	unusable := filepath.Join(base, "file")
	if err := os.WriteFile(unusable, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o = NewOpenings(filepath.Join(unusable, "b"))
	if id := opening(t, o, "one"); id != 0 || o.Closed(id) != nil {
		t.Error("recorded in a file")
	}
	if err := o.Close(); err == nil {
		t.Error("it is not reported that nothing is recorded")
	}
}
