//go:build unix

package schemacache

import (
	"io/fs"
	"os"
	"syscall"
)

// plain has the flags that open a file itself, not a link's target, without waiting for the other end of a
// pipe.
const plain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// trusted reports whether a file belongs to the user and no other user can write to it.
func trusted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
