package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func TestReplaceAFile(t *testing.T) {
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "t.html")
	alone := func(want string) {
		t.Helper()
		got, err := os.ReadFile(name)
		if err != nil || string(got) != want {
			t.Errorf("content of the file: got %q, %v, want %q", got, err, want)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("directory: got %v, %v, want the file alone", entries, err)
		}
		if info, err := os.Stat(name); err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode: got %o, want 600", info.Mode().Perm())
		}
	}
	for _, content := range []string{"first", "second"} {
		target, err := Replaceable(name)
		if err != nil || target != name {
			t.Fatalf("Replaceable: got %q, %v, want %q", target, err, name)
		}
		if err := ReplaceBy(target, text(content)); err != nil {
			t.Fatal(err)
		}
		alone(content)
	}
	errFull := errors.New("no space left")
	if err := ReplaceBy(name, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return errFull
	}); !errors.Is(err, errFull) {
		t.Errorf("the error is %v", err)
	}
	alone("second")
}

func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "there")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("there", link); err != nil {
		t.Skip(err)
	}
	if target, err := Replaceable(link); err != nil || filepath.Base(target) != "there" {
		t.Errorf("Replaceable of a link: got %q, %v, want it to lead to \"there\"", target, err)
	}
	for bad, want := range map[string]error{dir: ErrUnsuitable, filepath.Join(dir, "none", "t"): fs.ErrNotExist, filepath.Join(name, "t"): syscall.ENOTDIR} {
		if target, err := Replaceable(bad); !errors.Is(err, want) {
			t.Errorf("%s is writable as %s: %v", bad, target, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	target, err := Replaceable(os.DevNull)
	if err == nil {
		err = ReplaceBy(target, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
	}
	if info, _ := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("a device was replaced: %v", err)
	}
}
