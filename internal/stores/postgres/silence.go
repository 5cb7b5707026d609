//go:build !mayfly_no_postgres

package postgres

import (
	"net"
	"time"
)

// silences is how many times a server can be silent within a lease. A host that is gone without a word, as
// after a power cut, must not keep a request until the lease has lapsed: another server may have taken over.
const silences = 6

// dialer returns a dialer whose connections end when the network has carried nothing to the other side for a
// part of a lease.
func dialer(lease time.Duration) net.Dialer {
	silence := lease / silences
	return net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: max(silence/4, time.Second), Interval: max(silence/4, time.Second), Count: 3},
		ControlContext:  control(silence),
	}
}
