//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"syscall"
	"time"
)

// userTimeout is the number of the option TCP_USER_TIMEOUT of Linux, which package syscall does not name.
const userTimeout = 18

// control limits how long the other host may leave bytes unacknowledged. Probes of an idle connection do not
// cover that.
func control(silence time.Duration) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			// A socket that is none of TCP has no such option, and needs none.
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(silence.Milliseconds()))
		})
	}
}
