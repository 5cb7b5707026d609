//go:build !mayfly_no_postgres && !linux

package postgres

import (
	"context"
	"syscall"
	"time"
)

// control returns nil: the system has its own limit for bytes that are not acknowledged.
func control(time.Duration) func(context.Context, string, string, syscall.RawConn) error { return nil }
