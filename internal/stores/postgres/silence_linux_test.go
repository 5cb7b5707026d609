//go:build !mayfly_no_postgres

package postgres_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
)

// TestSilence limits how long a connection waits for a host that is gone to a part of the lease, whether
// something was sent or not.
func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const lease = 2 * time.Minute
	d := postgres.Dialer(lease)
	conn, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	option := func(name int) (value int) {
		if cerr := raw.Control(func(fd uintptr) { value, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, name) }); cerr != nil || err != nil {
			t.Fatal(cerr, err)
		}
		return value
	}
	if got := time.Duration(option(postgres.UserTimeout)) * time.Millisecond; got != lease/6 {
		t.Errorf("got %v until what was sent counts as lost, want %v", got, lease/6)
	}
	if got := time.Duration(option(syscall.TCP_KEEPIDLE)+option(syscall.TCP_KEEPINTVL)*option(syscall.TCP_KEEPCNT)) * time.Second; got > lease/4 {
		t.Errorf("got %v until an idle connection counts as lost, want at most %v", got, lease/4)
	}
}
