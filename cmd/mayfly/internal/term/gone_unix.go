//go:build unix

package term

import "syscall"

// goneErrors are returned for writing to a pipe without a reader.
var goneErrors = []syscall.Errno{syscall.EPIPE}
