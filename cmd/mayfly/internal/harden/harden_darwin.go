package harden

import "golang.org/x/sys/unix"

func protect() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.PtraceDenyAttach()
}
