package term

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// goneErrors are returned for writing to a pipe without a reader, or to a closed console.
var goneErrors = []syscall.Errno{syscall.EPIPE, windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA}
