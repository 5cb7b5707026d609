//go:build unix

package schemacache

import (
	"io/fs"
	"os"
	"syscall"
)

// plain are the flags that open a file itself, not what a link names, and without waiting for the other end
// of a pipe.
const plain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// trusted says that a file is the user's own and that nobody else can write to it.
func trusted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
