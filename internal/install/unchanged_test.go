package install

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// exported makes comparisons of selections leave out what the files looked like when they were hashed.
var exported = cmpopts.IgnoreUnexported(Selection{})

// TestVerify changes a package, which is linked from a mirror, after it was selected.
func TestVerify(t *testing.T) {
	const name = "terraform-provider-x"
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name   string
		change func(dir, file string) error
		ok     bool
	}{
		{"unchanged", func(string, string) error { return nil }, true},
		{"touched", func(_, file string) error { return os.Chtimes(file, time.Now(), time.Now()) }, true},
		{"copied", func(_, file string) error {
			return errors.Join(os.Remove(file), os.WriteFile(file, []byte("good"), 0o755))
		}, true},
		{"written with the old time", func(_, file string) error {
			return errors.Join(os.WriteFile(file, []byte("evil"), 0o755), os.Chtimes(file, old, old))
		}, runtime.GOOS == "windows"},
		{"replaced", func(dir, file string) error {
			other := filepath.Join(dir, "other")
			return errors.Join(os.WriteFile(other, []byte("evil!"), 0o755), os.Rename(other, file))
		}, false},
		{"another file", func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o644) }, false},
		{"removed", func(_, file string) error { return os.Remove(file) }, false},
		{"another directory", func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte("evil"), 0o755))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "package")
			file, link := filepath.Join(dir, name), dir+".link"
			err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(file, []byte("good"), 0o755), os.Chtimes(file, old, old), os.Symlink(dir, link))
			if err != nil {
				t.Skip("no symbolic links:", err)
			}
			s := Selection{Dir: link}
			s.traces, err = traces(link)
			if err != nil {
				t.Fatal(err)
			}
			if s.Hash, err = lockfile.HashDir(link); err != nil {
				t.Fatal(err)
			}
			if err := c.change(dir, file); err != nil {
				t.Fatal(err)
			}
			if err := s.Verify(); (err == nil) != c.ok {
				t.Error(err)
			}
		})
	}
	if err := (Selection{Dev: true}).Verify(); err != nil {
		t.Error("a development override:", err)
	}
}

// TestVerifiedIsNotHashedAgain selects a package again: as it was, after it was changed, and for another
// lock.
func TestVerifiedIsNotHashedAgain(t *testing.T) {
	f := newFixture(t)
	f.packed("random", "1.0.0", "linux_amd64", "good")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	sel, lock := f.init(reqs, nil, Options{})
	p := f.provider("random")
	verified, diags := f.inst.Selected(reqs, lock)
	f.ok(diags)
	marked := verified[p]
	marked.Executable = "marked" // which a selection that is made anew is not
	f.inst.Verified = Selections{p: marked}
	again, diags := f.inst.Selected(reqs, lock)
	f.ok(diags)
	if again[p].Executable != "marked" {
		t.Error("an unchanged package is hashed again")
	}
	other := lockfile.New()
	other.Set(lockfile.Entry{Provider: p, Version: marked.Version, Hashes: []lockfile.Hash{"h1:other="}})
	_, diags = f.inst.Selected(reqs, other)
	f.wantError(diags, "does not match any of the checksums")
	f.write(sel[p].Executable, "evil", 0o755)
	_, diags = f.inst.Selected(reqs, lock)
	f.wantError(diags, "does not match any of the checksums")
}
