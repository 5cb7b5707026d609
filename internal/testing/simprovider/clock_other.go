//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package simprovider

import "time"

// machineClock is the wall clock, because the standard library offers no monotonic clock that processes
// share here.
func machineClock() int64 { return time.Now().UnixNano() }
