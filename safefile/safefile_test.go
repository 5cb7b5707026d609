package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(string, int64) ([]byte, error){"Read": Read, "ReadStream": ReadStream} {
		if b, err := read(path, 5); err != nil || string(b) != "12345" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if _, err := read(path, 4); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s of a file that is too large: %v", name, err)
		}
		if _, err := read(dir, 5); !errors.Is(err, ErrUnsuitable) || !strings.Contains(err.Error(), "it is a directory") {
			t.Errorf("%s of a directory: %v", name, err)
		}
		if _, err := read(path+"x", 5); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}
