//go:build unix

package main

import "syscall"

// goneErrors are those of writing to a pipe without a reader.
var goneErrors = []syscall.Errno{syscall.EPIPE}
