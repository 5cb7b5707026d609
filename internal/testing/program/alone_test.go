//go:build linux || darwin

package program

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestAlone tries to get the lock while it is held.
func TestAlone(t *testing.T) {
	defer alone()()
	f, err := os.Open("../../..")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("another one gets the lock: %v", err)
	}
}
