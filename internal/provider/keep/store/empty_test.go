package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestEmptyStore removes a store with the last thing in it, so that the next one may have another passphrase.
func TestEmptyStore(t *testing.T) {
	ctx := t.Context()
	for name, o := range map[string]Options{"passphrase": {Passphrase: canary}, "key file": {}} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, o)
			mustCreate(t, s, "db", "v")
			if err := s.CreateNote(ctx, Note{Name: "n", Text: "t"}); err != nil {
				t.Fatal(err)
			}
			lease, _, err := s.Grant(ctx, time.Minute, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, remove := range []func() error{
				func() error { return s.DeleteSecret(ctx, "db") },
				func() error { return s.Revoke(ctx, lease.ID) },
				func() error { return s.DeleteNote(ctx, "n") },
			} {
				if !s.exists() {
					t.Fatal("the store is gone before it is empty")
				}
				if err := remove(); err != nil {
					t.Fatal(err)
				}
			}
			if s.exists() {
				t.Fatal("the empty store is still there")
			}
			if err := s.DeleteNote(ctx, "n"); err != nil || s.exists() {
				t.Errorf("deleting nothing: %v, file made: %t", err, s.exists())
			}
			next := newStore(t, Options{Path: s.path, KeyFile: o.KeyFile})
			if o.Passphrase != "" {
				next = newStore(t, Options{Path: s.path, Passphrase: canary + "x"})
			}
			mustCreate(t, next, "db", "w")
			if got := reveal(t, next, "db"); got != "w" {
				t.Errorf("got %q, want %q", got, "w")
			}
		})
	}
}

// TestEmptyStoreStays cannot remove the store, and says so.
func TestEmptyStoreStays(t *testing.T) {
	s := newStore(t, Options{})
	filetest.Write(t, filepath.Join(s.path, "file"), "what keeps a directory from being removed")
	err := s.remove(t.Context(), newDocument())
	if p, ok := errors.AsType[*Problem](err); !ok || p.Summary != "Cannot remove the empty store" {
		t.Errorf("got %v, want: Cannot remove the empty store", err)
	}
}

// TestExpiredLeaseAlone leaves no store behind that holds only a lease that has expired.
func TestExpiredLeaseAlone(t *testing.T) {
	now := time.Now()
	s := newStore(t, Options{Now: func() time.Time { return now }})
	if _, _, err := s.Grant(t.Context(), time.Second, ""); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "db", "v")
	now = now.Add(time.Hour)
	if err := s.DeleteSecret(t.Context(), "db"); err != nil || s.exists() {
		t.Errorf("%v, the store is there: %t", err, s.exists())
	}
}

func TestSymbolicLinkStays(t *testing.T) {
	target := newStore(t, Options{})
	mustCreate(t, target, "db", "one")
	link := filepath.Join(t.TempDir(), "link.age")
	if err := os.Symlink(target.path, link); err != nil {
		t.Skip("no symbolic links here")
	}
	s := newStore(t, Options{Path: link, KeyFile: target.keyFile})
	if _, err := s.UpdateSecret(t.Context(), "db", nil, []byte("two")); err != nil {
		t.Fatal(err)
	}
	if got := reveal(t, target, "db"); got != "two" {
		t.Errorf("the target holds: got %q, want %q", got, "two")
	}
	if err := s.DeleteSecret(t.Context(), "db"); err != nil || target.exists() {
		t.Fatalf("%v, the target is there: %t", err, target.exists())
	}
	mustCreate(t, newStore(t, Options{Path: link, KeyFile: target.keyFile}), "db", "three")
	if got := reveal(t, target, "db"); got != "three" {
		t.Errorf("the target holds: got %q, want %q", got, "three")
	}
}
