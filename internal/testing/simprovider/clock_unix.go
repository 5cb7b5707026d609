//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package simprovider

import (
	"time"

	"golang.org/x/sys/unix"
)

// machineClock is monotonic and the same for all processes of the machine.
func machineClock() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}
