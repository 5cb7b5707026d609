// Package tunnel forwards connections to a port of this machine, through an SSH server, to an address that
// the server reaches.
//
// It may import bug and ssh. It must not know providers, nor who connects to the port.
package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/ssh"
)

// Tunnel is an open tunnel. Its methods may be called concurrently.
type Tunnel struct {
	server   *ssh.Connection
	remote   string // address with port
	listener net.Listener
	life     context.Context // ends with Close
	end      context.CancelFunc
	tasks    sync.WaitGroup

	dialing sync.Mutex // held while connecting, so that one connection is made for all who wait
	mu      sync.Mutex
	client  *ssh.Client
}

// Open connects to the server, makes sure that the remote address can be reached from there, and listens on
// a port of the loopback interface: any free one if port is 0. The caller must close the tunnel.
func Open(ctx context.Context, server *ssh.Connection, remote string, port int) (*Tunnel, error) {
	t := &Tunnel{server: server, remote: remote}
	t.life, t.end = context.WithCancel(context.WithoutCancel(ctx))
	probe, err := t.dial(ctx)
	if err != nil {
		t.Close()
		return nil, err
	}
	_ = probe.Close()
	if t.listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
		t.Close()
		return nil, listenError{err}
	}
	t.run(t.accept)
	return t, nil
}

// listenError is the failure to listen on the port of this machine.
type listenError struct{ error }

// Unwrap returns the cause.
func (e listenError) Unwrap() error { return e.error }

// Reason returns the text of an error of this package without the addresses, users and files that it may
// name.
func Reason(err error) string {
	var listen listenError
	if !errors.As(err, &listen) {
		return ssh.Public(err)
	}
	text := "this machine's port of the tunnel cannot be listened on"
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		text += ": " + number.Error()
	}
	return text
}

// Port returns the port that the tunnel listens on.
func (t *Tunnel) Port() int { return t.listener.Addr().(*net.TCPAddr).Port }

// Check reports whether the tunnel works, and connects to the server again if the connection was lost.
func (t *Tunnel) Check(ctx context.Context) error {
	_, err := t.connected(ctx)
	return err
}

// Close ends the tunnel and all connections through it. It may be called again.
func (t *Tunnel) Close() {
	t.end()
	if t.listener != nil {
		_ = t.listener.Close()
	}
	t.mu.Lock()
	if t.client != nil {
		t.client.Close()
	}
	t.mu.Unlock()
	t.tasks.Wait()
}

// run calls f on a goroutine that Close waits for.
func (t *Tunnel) run(f func()) {
	t.tasks.Go(func() { _ = bug.Call(f) }) // a connection that fails is closed
}

func (t *Tunnel) accept() {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			return // Close has closed it
		}
		t.run(func() { t.forward(conn) })
	}
}

// forward copies between the two ends of a connection, until both have ended.
func (t *Tunnel) forward(near net.Conn) {
	defer func() { _ = near.Close() }()
	far, err := t.dial(t.life)
	if err != nil {
		return // the client sees that the connection was closed
	}
	end := func() { _, _ = near.Close(), far.Close() }
	defer end()
	defer context.AfterFunc(t.life, end)()
	var back sync.WaitGroup
	back.Go(func() { _ = bug.Call(func() { pass(near, far) }) })
	pass(far, near)
	back.Wait()
}

// pass copies one direction to its end, and passes on that it has ended.
func pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	half, ok := to.(interface{ CloseWrite() error })
	if err == nil && ok {
		err = half.CloseWrite()
	}
	if err != nil || !ok {
		_, _ = to.Close(), from.Close()
	}
}

// dial connects to the remote address from the server.
func (t *Tunnel) dial(ctx context.Context) (net.Conn, error) {
	client, err := t.connected(ctx)
	if err != nil {
		return nil, err
	}
	return client.Dial(ctx, t.remote)
}

var errClosed = errors.New("the tunnel is closed")

// connected returns a connection to the server, which may be a new one.
func (t *Tunnel) connected(ctx context.Context) (*ssh.Client, error) {
	t.dialing.Lock()
	defer t.dialing.Unlock()
	t.mu.Lock()
	client := t.client
	t.mu.Unlock()
	switch {
	case t.life.Err() != nil: // a client that was just closed may count as alive
		return nil, errClosed
	case client != nil && client.Alive():
		return client, nil
	}
	client, err := ssh.Dial(ctx, t.server, nil)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.life.Err() != nil {
		client.Close()
		return nil, errClosed
	}
	if t.client != nil {
		t.client.Close()
	}
	t.client = client
	return client, nil
}
