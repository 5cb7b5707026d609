package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKind(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o600: "a regular file", fs.ModeDir | 0o700: "a directory", fs.ModeNamedPipe: "a named pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device",
		fs.ModeDevice | fs.ModeCharDevice: "a device", fs.ModeIrregular: "no regular file",
	} {
		if got := Kind(mode); got != want {
			t.Errorf("%v: got %s, want %s", mode, got, want)
		}
	}
	if err := unsuitable("name", fs.ModeSocket); !errors.Is(err, ErrUnsuitable) || err.Error() != "read name: it is a socket, not a regular file" {
		t.Error(err)
	}
	f, err := Open(t.TempDir())
	if err != nil {
		t.Fatalf("a directory is not opened: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(string, int64) ([]byte, error){"Read": Read, "ReadStream": ReadStream} {
		if b, err := read(path, 5); err != nil || string(b) != "12345" {
			t.Errorf("%s: got %q, %v, want \"12345\"", name, b, err)
		}
		if _, err := read(path, 4); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s of a file that is too large: %v", name, err)
		}
		if _, err := read(dir, 5); !errors.Is(err, ErrUnsuitable) || !strings.HasSuffix(err.Error(), ": it is a directory") {
			t.Errorf("%s of a directory: %v", name, err)
		}
		if _, err := read(path+"x", 5); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}
