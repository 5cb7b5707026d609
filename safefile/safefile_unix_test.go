//go:build unix

package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEndlessDevice(t *testing.T) {
	for name, read := range map[string]func(string, int64) ([]byte, error){"Read": Read, "ReadStream": ReadStream} {
		if _, err := read("/dev/zero", 100); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s of /dev/zero: %v", name, err)
		}
		if b, err := read(os.DevNull, 100); err != nil || len(b) != 0 {
			t.Errorf("%s of the null device: %q, %v", name, b, err)
		}
	}
}

func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 100); !errors.Is(err, ErrUnsuitable) {
		t.Errorf("Read of a pipe: %v", err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("piped"), 0) }()
	b, err := ReadStream(path, 100)
	if err := errors.Join(err, <-written); err != nil || string(b) != "piped" {
		t.Errorf("ReadStream of a pipe: %q, %v", b, err)
	}
}
