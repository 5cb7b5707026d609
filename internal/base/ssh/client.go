package ssh

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/lines"
)

// Times of a connection. An interrupted command gets a grace period to end by itself; a host that does not
// react at all is abandoned.
const (
	keepAlive    = 15 * time.Second // between keep-alive requests
	silenceLimit = 45 * time.Second // without a reply, the connection is given up
	grace        = 5 * time.Second  // for an interrupted command to end by itself
	abandon      = 2 * time.Second  // for a host to confirm a request, before the connection is cut
)

// Client is a connection to a host. Its methods must be called one at a time, except Dial, Alive and Close,
// which may be called at any time.
type Client struct {
	ssh     *ssh.Client
	bastion *ssh.Client // that the connection goes through; nil for none
	keyring *keyring
	set     *Connection
	closing sync.Once
	closed  chan struct{}
	lost    atomic.Bool // the connection has ended
}

// newClient takes over a connection that has logged in. It begins to send keep-alive requests.
func newClient(c *ssh.Client, set *Connection, k *keyring) *Client {
	out := &Client{ssh: c, set: set, keyring: k, closed: make(chan struct{})}
	if k != nil {
		// The host may use the agent while commands run, as with other engines. This fails only if it was
		// done before.
		_ = agent.ForwardToAgent(c, k)
	}
	go keepAlives(out.closed, c, keepAlive, silenceLimit)
	go func() {
		_ = c.Wait()
		out.lost.Store(true)
	}()
	return out
}

// Alive reports whether the connection has not ended, as far as this end knows.
func (c *Client) Alive() bool { return !c.lost.Load() }

// Dial connects to a TCP address from the host.
func (c *Client) Dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := c.ssh.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, &Error{public: "the host could not reach the address", detail: address, err: err}
	}
	return conn, nil
}

// Close ends the connection and everything that uses it.
func (c *Client) Close() {
	c.closing.Do(func() {
		close(c.closed)
		_ = c.ssh.Close()
		if c.bastion != nil {
			_ = c.bastion.Close()
		}
		c.keyring.close()
	})
}

// keepAlives sends keep-alive requests until done, and closes a connection whose other end has stopped
// replying.
func keepAlives(done <-chan struct{}, c *ssh.Client, every, limit time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		overdue := time.AfterFunc(limit, func() { _ = c.Close() })
		_, _, err := c.SendRequest("keepalive@openssh.com", true, nil)
		overdue.Stop()
		if err != nil {
			return
		}
	}
}

// watch calls end when ctx ends, and cuts the connection if that has no effect. The caller calls the
// returned function when end has had its effect or is no longer needed.
func (c *Client) watch(ctx context.Context, end func()) func() {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		cut := time.AfterFunc(abandon, func() { _ = c.ssh.Close() })
		defer cut.Stop()
		end()
		<-done
	})
	return func() {
		stop()
		close(done)
	}
}

// Run runs a command with the host's login shell and calls line for each line of its output, both streams
// together, one call at a time. When soft ends, the command is interrupted and has a grace period; when ctx
// ends, it is killed. A host may refuse to pass signals on, as sshd does for root; the command then only
// loses its output. A failed command returns an ExitError.
func (c *Client) Run(ctx, soft context.Context, command string, line func(string)) error {
	return c.run(ctx, soft, process{command: command}, line)
}

// run runs a process. Its output ends with the session, so that everything has been passed on when it
// returns.
func (c *Client) run(ctx, soft context.Context, p process, line func(string)) error {
	s, err := c.ssh.NewSession()
	if err != nil {
		return &Error{public: "the host did not open a session", err: err}
	}
	defer func() { _ = s.Close() }()
	p.client, p.session = c, s
	late, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.watch(late, p.kill)()
	out, err1 := s.StdoutPipe()
	errs, err2 := s.StderrPipe()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if c.keyring != nil {
		_ = agent.RequestAgentForwarding(s) // a host that forbids it still runs commands
	}
	if err := s.Start(p.command); err != nil {
		return &Error{public: "the host did not start the command", err: err}
	}
	over := make(chan struct{})
	defer close(over)
	defer context.AfterFunc(soft, func() {
		timer := time.AfterFunc(grace, cancel)
		defer timer.Stop()
		p.signal(ssh.SIGINT)
		<-over
	})()
	pass(p.filter(line), out, errs)
	return ending(ctx, soft, s.Wait())
}

// ending converts the result of a session to the result of a command.
func ending(ctx, soft context.Context, err error) error {
	var exit *ssh.ExitError
	if errors.As(err, &exit) {
		err = &ExitError{Status: exit.ExitStatus(), Signal: exit.Signal()}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || soft.Err() != nil:
		return &Error{public: "interrupted", err: err}
	case exit != nil:
		return err
	}
	return &Error{public: "the connection ended before the command did", detail: "(if the command restarts the host, make it do so in the background and exit before that)", err: err}
}

// pass reads the streams to their ends.
func pass(line func(string), streams ...io.Reader) {
	var one sync.Mutex
	var all sync.WaitGroup
	for _, r := range streams {
		all.Go(func() {
			_ = bug.Call(func() {
				lines.Read(r, func(text string, _ bool) {
					one.Lock()
					defer one.Unlock()
					line(text)
				})
			})
		})
	}
	all.Wait()
}
