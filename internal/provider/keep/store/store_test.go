package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

const canary = "canary-7f3a-value"

func newStore(t *testing.T, o Options) *Store {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "keep.age")
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustCreate(t *testing.T, s *Store, name, value string) {
	t.Helper()
	if _, err := s.CreateSecret(t.Context(), name, nil, []byte(value)); err != nil {
		t.Fatal(err)
	}
}

func reveal(t *testing.T, s *Store, name string) string {
	t.Helper()
	_, value, err := s.Reveal(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(value)
}

func TestSecretLife(t *testing.T) {
	ctx, s := t.Context(), newStore(t, Options{})
	words := "for the database"

	if _, err := s.Secret(ctx, "db"); !errors.Is(err, ErrNoStore) || !errors.Is(err, ErrNotFound) {
		t.Fatalf("look-up without a file: %v", err)
	}
	if err := s.DeleteSecret(ctx, "db"); err != nil || s.exists() {
		t.Fatalf("deleting nothing: %v, file made: %t", err, s.exists())
	}
	made, err := s.CreateSecret(ctx, "db", &words, []byte(canary))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Secret{Name: "db", Version: 1, Description: &words}, made); diff != "" {
		t.Error(diff)
	}
	if _, err := s.CreateSecret(ctx, "db", nil, []byte("x")); !errors.Is(err, ErrExists) {
		t.Errorf("second create: %v", err)
	}
	if got, err := s.UpdateSecret(ctx, "db", nil, nil); err != nil || got.Version != 1 || got.Description != nil {
		t.Errorf("update of the description: got %+v, %v, want version 1 without description", got, err)
	}
	if got := reveal(t, s, "db"); got != canary {
		t.Errorf("value after that: got %q, want %q", got, canary)
	}
	if got, err := s.UpdateSecret(ctx, "db", nil, []byte{}); err != nil || got.Version != 2 {
		t.Errorf("update of the value: got %+v, %v, want version 2", got, err)
	}
	if got := reveal(t, s, "db"); got != "" {
		t.Errorf("empty value: got %q, want it empty", got)
	}
	mustCreate(t, s, "dc", "1")
	mustCreate(t, s, "a/b", "1")
	names, err := s.SecretNames(ctx, "d")
	if diff := cmp.Diff([]string{"db", "dc"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := s.DeleteSecret(ctx, "db"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Reveal(ctx, "db"); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoStore) {
		t.Errorf("after deletion: %v", err)
	}
	if _, err := s.UpdateSecret(ctx, "db", nil, []byte("x")); !errors.Is(err, ErrNotFound) {
		t.Errorf("update after deletion: %v", err)
	}
}

func TestNoteLife(t *testing.T) {
	ctx, s := t.Context(), newStore(t, Options{})
	if err := s.CreateNote(ctx, Note{"n", "one"}); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateNote(ctx, Note{"n", "two"}); !errors.Is(err, ErrExists) {
		t.Errorf("second create: %v", err)
	}
	if err := s.UpdateNote(ctx, Note{"n", "two"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Note(ctx, "n"); err != nil || got.Text != "two" {
		t.Errorf("Note: got %+v, %v, want the text \"two\"", got, err)
	}
	for range 2 {
		if err := s.DeleteNote(ctx, "n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Note(ctx, "n"); !errors.Is(err, ErrNotFound) {
		t.Errorf("after deletion: %v", err)
	}
	if err := s.UpdateNote(ctx, Note{"n", "x"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("update after deletion: %v", err)
	}
}

func TestFilesAreEncryptedAndPrivate(t *testing.T) {
	s := newStore(t, Options{Path: filepath.Join(t.TempDir(), "sub", "keep.age")})
	mustCreate(t, s, "db", canary)
	for _, path := range []string{s.path, s.keyFile, s.path + ".lock"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(canary)) || bytes.Contains(data, []byte("secrets")) {
			t.Errorf("%s holds plaintext", path)
		}
		if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s: got %v, want -rw-------", path, info.Mode())
		}
	}
	left, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil || len(left) != 3 {
		t.Errorf("files left: got %v, %v, want 3", left, err)
	}
}

// operations are all that a store can be asked to do.
var operations = map[string]func(context.Context, *Store) error{
	"check":         func(ctx context.Context, s *Store) error { return s.Check(ctx) },
	"secret":        func(ctx context.Context, s *Store) error { _, err := s.Secret(ctx, "db"); return err },
	"reveal":        func(ctx context.Context, s *Store) error { _, _, err := s.Reveal(ctx, "db"); return err },
	"names":         func(ctx context.Context, s *Store) error { _, err := s.SecretNames(ctx, ""); return err },
	"create secret": func(ctx context.Context, s *Store) error { _, err := s.CreateSecret(ctx, "x", nil, nil); return err },
	"update secret": func(ctx context.Context, s *Store) error { _, err := s.UpdateSecret(ctx, "db", nil, nil); return err },
	"delete secret": func(ctx context.Context, s *Store) error { return s.DeleteSecret(ctx, "db") },
	"note":          func(ctx context.Context, s *Store) error { _, err := s.Note(ctx, "n"); return err },
	"create note":   func(ctx context.Context, s *Store) error { return s.CreateNote(ctx, Note{"x", "y"}) },
	"update note":   func(ctx context.Context, s *Store) error { return s.UpdateNote(ctx, Note{"n", "y"}) },
	"delete note":   func(ctx context.Context, s *Store) error { return s.DeleteNote(ctx, "n") },
	"grant":         func(ctx context.Context, s *Store) error { _, _, err := s.Grant(ctx, time.Minute, ""); return err },
	"renew":         func(ctx context.Context, s *Store) error { _, err := s.Renew(ctx, "x"); return err },
	"revoke":        func(ctx context.Context, s *Store) error { return s.Revoke(ctx, "x") },
	"leases":        func(ctx context.Context, s *Store) error { _, err := s.Leases(ctx); return err },
}

// refusesAll checks that every operation fails with kind, names the file, gives nothing away and changes no
// file.
func refusesAll(t *testing.T, s *Store, kind error) {
	t.Helper()
	before := folder(t, filepath.Dir(s.path))
	for name, op := range operations {
		err := op(t.Context(), s)
		if !errors.Is(err, kind) {
			t.Errorf("%s: %v, want %v", name, err, kind)
			continue
		}
		if text := err.Error(); !strings.Contains(text, s.path) || strings.Contains(text, canary) || strings.Contains(text, "AGE-SECRET") {
			t.Errorf("%s: message %q", name, text)
		}
	}
	delete(before, filepath.Base(s.path)+".lock")
	after := folder(t, filepath.Dir(s.path))
	delete(after, filepath.Base(s.path)+".lock")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("files changed: %s", diff)
	}
}

func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		content[e.Name()] = string(data)
	}
	return content
}

func TestWrongKeyIsRefused(t *testing.T) {
	s := newStore(t, Options{})
	mustCreate(t, s, "db", canary)
	other := newStore(t, Options{})
	mustCreate(t, other, "db", "x")

	refusesAll(t, newStore(t, Options{Path: s.path, KeyFile: other.keyFile}), ErrWrongKey)
	refusesAll(t, newStore(t, Options{Path: s.path, Passphrase: canary}), ErrWrongKey)
	if got := reveal(t, s, "db"); got != canary {
		t.Errorf("afterwards the value: got %q, want %q", got, canary)
	}
}

func TestPassphrase(t *testing.T) {
	s := newStore(t, Options{Passphrase: canary})
	mustCreate(t, s, "db", "v")
	if _, err := os.Stat(s.keyFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key file was made: %v", err)
	}
	text, err := os.ReadFile(s.path)
	if err != nil || !regexp.MustCompile(`\n-> scrypt \S+ 15\n`).Match(text) {
		t.Errorf("the key was not derived with a work factor of 15: %v", err)
	}
	if got := reveal(t, newStore(t, Options{Path: s.path, Passphrase: canary}), "db"); got != "v" {
		t.Errorf("got %q, want %q", got, "v")
	}
	_, err = newStore(t, Options{Path: s.path, Passphrase: canary + "x"}).Secret(t.Context(), "db")
	if !errors.Is(err, ErrWrongKey) || strings.Contains(err.Error(), canary) {
		t.Errorf("wrong passphrase: %v", err)
	}
	// What the handle remembers of its own file must not open one that someone else wrote.
	again := newStore(t, Options{Path: s.path, Passphrase: canary})
	if _, err := again.UpdateSecret(t.Context(), "db", nil, []byte("w")); err != nil {
		t.Fatal(err)
	}
	if got := reveal(t, s, "db"); got != "w" {
		t.Errorf("after another handle's change: got %q, want %q", got, "w")
	}
	wrong := newStore(t, Options{Passphrase: canary + "x"})
	mustCreate(t, wrong, "db", "x")
	if err := os.Rename(wrong.path, again.path); err != nil {
		t.Fatal(err)
	}
	if err := second(again.Secret(t.Context(), "db")); !errors.Is(err, ErrWrongKey) {
		t.Errorf("file of another passphrase: %v", err)
	}
	if err := os.Rename(again.path, wrong.path); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "db", "v")

	key := newStore(t, Options{})
	mustCreate(t, key, "db", "x")
	_, err = newStore(t, Options{Path: s.path, KeyFile: key.keyFile}).Secret(t.Context(), "db")
	if !errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), "passphrase") {
		t.Errorf("key file for a store with a passphrase: %v", err)
	}
}

func TestMissingKeyIsRefused(t *testing.T) {
	s := newStore(t, Options{})
	mustCreate(t, s, "db", canary)
	if err := os.Rename(s.keyFile, filepath.Join(t.TempDir(), "away")); err != nil {
		t.Fatal(err)
	}
	refusesAll(t, s, ErrKeyMissing)
}

func TestUnusableKeyIsRefused(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "text": canary + "\n", "two keys": twoKeys(t), "cut": "AGE-SECRET-KEY-1QQ\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, Options{})
			filetest.Write(t, s.keyFile, content)
			_, err := s.CreateSecret(t.Context(), "db", nil, []byte("x"))
			if !errors.Is(err, ErrKeyUnusable) || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), s.keyFile) {
				t.Errorf("got %v", err)
			}
			if s.exists() {
				t.Error("a store was made all the same")
			}
		})
	}
}

func twoKeys(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for range 2 {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(id.String() + "\n")
	}
	return text.String()
}

func TestHybridKeyWorks(t *testing.T) {
	id, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t, Options{})
	filetest.Write(t, s.keyFile, "# mine\n"+id.String()+"\n")
	mustCreate(t, s, "db", canary)
	if got := reveal(t, s, "db"); got != canary {
		t.Errorf("got %q, want %q", got, canary)
	}
}

func TestDamagedFileIsRefused(t *testing.T) {
	s := newStore(t, Options{})
	mustCreate(t, s, "db", canary)
	whole, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-20] ^= 1
	for name, content := range map[string][]byte{
		"empty": {}, "one byte": whole[:1], "half the header": whole[:60], "half": whole[:len(whole)*2/3], "all but one byte": whole[:len(whole)-1],
		"longer": append(bytes.Clone(whole), 0), "altered": flipped, "not age": []byte(canary),
		"no document": seal(t, s, "[]"), "other format": seal(t, s, `{"format":"x","version":1}`),
		"unknown member": seal(t, s, `{"format":"mayfly-keep","version":1,"secrets":{},"notes":{},"leases":{},"more":"`+canary+`"}`),
		"null record":    seal(t, s, `{"format":"mayfly-keep","version":1,"secrets":{"db":null},"notes":{},"leases":{}}`),
		"null map":       seal(t, s, `{"format":"mayfly-keep","version":1,"secrets":{},"notes":null,"leases":{}}`),
		"wrong type":     seal(t, s, `{"format":"mayfly-keep","version":1,"secrets":{"db":{"value":"`+canary+`","version":1}},"notes":{},"leases":{}}`),
		"trailing text":  seal(t, s, `{"format":"mayfly-keep","version":1,"secrets":{},"notes":{},"leases":{}} {}`),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(s.path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			refusesAll(t, s, ErrDamaged)
		})
	}
	t.Run("newer", func(t *testing.T) {
		if err := os.WriteFile(s.path, seal(t, s, `{"format":"mayfly-keep","version":2,"else":"`+canary+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		refusesAll(t, s, ErrTooNew)
	})
	if err := os.WriteFile(s.path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := reveal(t, s, "db"); got != canary {
		t.Errorf("restored: got %q, want %q", got, canary)
	}
}

func seal(t *testing.T, s *Store, plain string) []byte {
	t.Helper()
	k, err := loadKeys(s.keyFile, "")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := k.seal([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestLimits(t *testing.T) {
	ctx, s := t.Context(), newStore(t, Options{})
	large := make([]byte, maxValue+1)
	text := string(large)
	for name, err := range map[string]error{
		"value":       second(s.CreateSecret(ctx, "a", nil, large)),
		"description": second(s.CreateSecret(ctx, "a", &text, nil)),
		"text":        s.CreateNote(ctx, Note{"a", text}),
	} {
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.CreateSecret(ctx, "a", nil, large[1:]); err != nil {
		t.Errorf("just small enough: %v", err)
	}
	for _, name := range []string{"", "a:b", " a", "/a", "a\nb", strings.Repeat("a", 256), "ä"} {
		if err := second(s.CreateSecret(ctx, name, nil, nil)); !errors.Is(err, ErrInvalid) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if err := CheckName("Team-1/db.main_user@host"); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestUnwritableFolder(t *testing.T) {
	blocker := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, Options{Path: filepath.Join(blocker, "keep.age")})
	if err := second(s.CreateSecret(t.Context(), "a", nil, nil)); !errors.Is(err, ErrIO) {
		t.Errorf("got %v", err)
	}
}

func TestInterrupt(t *testing.T) {
	s := newStore(t, Options{})
	mustCreate(t, s, "db", "one")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := second(s.UpdateSecret(over, "db", nil, []byte("two"))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}

	held := flock.New(s.path + ".lock")
	if err := held.Lock(); err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	soon, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := second(s.UpdateSecret(soon, "db", nil, []byte("two"))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked: %v", err)
	}
	if got := reveal(t, s, "db"); got != "one" {
		t.Errorf("the value: got %q, want %q", got, "one")
	}
}

func TestOptions(t *testing.T) {
	if _, err := Open(Options{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("no path: %v", err)
	}
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t, Options{Path: "a.age"})
	if want := filepath.Join(here, "a.age"); s.Path() != want || s.keyFile != want+".key" {
		t.Errorf("got store %s, key %s, want %s, %s.key", s.Path(), s.keyFile, want, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":"mayfly-keep","version":1,"secrets":{"a":{"value":"eA==","version":1}},"notes":{"n":{"text":"t"}},"leases":{}}`))
	f.Add([]byte(`{"format":"mayfly-keep","version":1,"secrets":null}`))
	f.Fuzz(func(t *testing.T, plain []byte) {
		doc, err := parse(plain)
		if err != nil {
			return
		}
		again, err := json.Marshal(doc)
		if err != nil {
			t.Fatalf("accepted a document that can't be written: %v", err)
		}
		second, err := parse(again)
		if err != nil {
			t.Fatalf("wrote a document that can't be read: %v", err)
		}
		if diff := cmp.Diff(doc, second, cmp.AllowUnexported(document{})); diff != "" {
			t.Error(diff)
		}
	})
}
