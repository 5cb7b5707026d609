//go:build unix

package safefile

import (
	"os"
	"syscall"
)

// block makes reads from f block, also where the runtime cannot poll pipes.
func block(f *os.File) error { return syscall.SetNonblock(int(f.Fd()), false) }
