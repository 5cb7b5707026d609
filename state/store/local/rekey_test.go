package local

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// newKey encrypts, and also reads what is not encrypted.
type newKey struct{ xor }

func (k newKey) DecryptState(b []byte) ([]byte, *state.Meta, error) {
	if bytes.HasPrefix(b, []byte("{")) {
		return b, nil, nil
	}
	return k.xor.DecryptState(b)
}

// TestRekey encrypts a state and its backups, with and without the lock.
func TestRekey(t *testing.T) {
	for _, locked := range []bool{true, false} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		plain := encoded(t, storetest.File(t, "l", 1, 1))
		for _, name := range []string{DefaultPath, "terraform.tfstate.123.backup", "linked/backup", "other.tfstate.backup", "terraform.tfstate.dir.backup/file"} {
			filetest.Write(t, at(name), plain)
		}
		filetest.Write(t, at("terraform.tfstate.0.backup"), "")
		err := errors.Join(os.Symlink(at("linked/backup"), at("terraform.tfstate.link.backup")), os.Chmod(at("linked/backup"), 0o640), os.Chmod(at(DefaultPath), 0o640))
		if err != nil {
			t.Skip(err)
		}
		filetest.Write(t, at("named"), plain)
		m := open(t, Options{Dir: dir, Cipher: newKey{}, Backup: "named"})
		if locked {
			defer mustLock(t, m)()
		}
		done, err := m.Rekey(t.Context())
		var paths []string
		for _, d := range done {
			if d.Err != nil {
				t.Error(d.Err)
			}
			paths = append(paths, d.Path)
		}
		want := []string{at(DefaultPath), at("terraform.tfstate.123.backup"), at("terraform.tfstate.link.backup"), at("named")}
		if err != nil || !slices.Equal(paths, want) {
			t.Errorf("locked %v: got %q, %v, want %q", locked, paths, err, want)
		}
		for _, path := range append(slices.Clone(want), at("linked/backup")) {
			if text := content(t, path); text == plain || len(text) != len(plain) {
				t.Errorf("locked %v: got %q in %s, want %d other bytes", locked, text, path, len(plain))
			}
		}
		for _, name := range []string{"other.tfstate.backup", "terraform.tfstate.dir.backup/file"} {
			if content(t, at(name)) != plain {
				t.Errorf("locked %v: got %q in %s, want it unchanged", locked, content(t, at(name)), name)
			}
		}
		for _, name := range []string{DefaultPath, "linked/backup"} {
			if info, err := os.Lstat(at(name)); err != nil || info.Mode() != 0o640 {
				t.Errorf("locked %v: got %v, %v for %s, want -rw-r-----", locked, info.Mode(), err, name)
			}
		}
		if info, err := os.Lstat(at("terraform.tfstate.link.backup")); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("locked %v: the link is none any more", locked)
		}
		if err := m.Write(t.Context(), storetest.File(t, "l", 2, 2)); err != nil {
			t.Errorf("locked %v: writing afterwards: %v", locked, err)
		}
	}
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, DefaultPath), encoded(t, storetest.File(t, "l", 1, 1)))
	filetest.Write(t, filepath.Join(dir, DefaultPath+backupSuffix), encoded(t, storetest.File(t, "l", 1, 1)))
	if done, err := open(t, Options{Dir: dir, Cipher: newKey{}}).Rekey(t.Context()); err != nil || len(done) != 2 {
		t.Errorf("Rekey: got %v, %v, want two: a state and its backup", done, err)
	}
	dir = t.TempDir()
	if done, err := open(t, Options{Dir: dir, Cipher: newKey{}}).Rekey(t.Context()); err != nil || len(done) > 0 || len(names(t, dir)) > 0 {
		t.Errorf("without a state: %v, %v, and there are %q", done, err, names(t, dir))
	}
}

// TestRekeyOfALostLock leaves a state alone that was replaced while it was locked.
func TestRekeyOfALostLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, DefaultPath)
	plain := encoded(t, storetest.File(t, "l", 1, 1))
	filetest.Write(t, path, plain)
	m := open(t, Options{Dir: dir, Cipher: newKey{}})
	defer mustLock(t, m)()
	filetest.Write(t, path+".new", plain)
	if err := os.Rename(path+".new", path); err != nil {
		t.Skip(err)
	}
	if _, err := m.Rekey(t.Context()); !errors.Is(err, store.ErrLockLost) || content(t, path) != plain {
		t.Errorf("Rekey: got %v and %q in the file, want %v and the file unchanged", err, content(t, path), store.ErrLockLost)
	}
}
