//go:build unix

package term

import "syscall"

// goneErrors are those of writing to a pipe without a reader.
var goneErrors = []syscall.Errno{syscall.EPIPE}
