//go:build unix

package safefile

import (
	"os"
	"syscall"
)

// block makes reading from f wait for what is written, also where the runtime cannot wait for pipes.
func block(f *os.File) error { return syscall.SetNonblock(int(f.Fd()), false) }
