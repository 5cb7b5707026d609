//go:build unix && !linux && !darwin

package harden

import "golang.org/x/sys/unix"

func protect() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
