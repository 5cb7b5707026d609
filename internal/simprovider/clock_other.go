//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package simprovider

import "time"

// machineClock is the wall clock where the standard libraries offer no monotonic one that processes share.
func machineClock() int64 { return time.Now().UnixNano() }
