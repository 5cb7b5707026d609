package harden

import "golang.org/x/sys/unix"

// coreLimit is the greatest size of core dumps, in bytes. The kernel ignores a limit of 0 when dumps are
// piped to a program such as systemd-coredump, but not a limit of 1. No dump fits in either.
const coreLimit = 1

func protect() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: coreLimit, Max: coreLimit})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
