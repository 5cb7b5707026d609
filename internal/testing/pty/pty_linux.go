package pty

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Open returns the two ends of a pseudo-terminal: programs get the slave, and the test reads and types at the
// master. It skips the test if there are none.
func Open(t testing.TB) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %s", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// An interrupted prompt still reads the slave, so that is left to the end of the process; its reading
	// ends with the master.
	t.Cleanup(func() { _ = master.Close() })
	return master, slave
}

// Echoes reports whether a terminal shows typed text.
func Echoes(t testing.TB, terminal *os.File) bool {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return mode.Lflag&unix.ECHO != 0
}

// Screen is a buffer that may be written to and looked at by different goroutines.
type Screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

// String returns the output so far.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// Watch collects the output on a terminal, and its echo, until the master is closed.
func Watch(master io.Reader) *Screen {
	var seen Screen
	go func() {
		chunk := make([]byte, 1024)
		for {
			n, err := master.Read(chunk)
			_, _ = seen.Write(chunk[:n])
			if err != nil {
				return
			}
		}
	}()
	return &seen
}
