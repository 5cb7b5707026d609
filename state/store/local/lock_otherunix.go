//go:build unix && !linux

package local

import "golang.org/x/sys/unix"

// setLock requests a lock that belongs to the process and is released when any descriptor of the file is
// closed; see held.
const setLock = unix.F_SETLK
