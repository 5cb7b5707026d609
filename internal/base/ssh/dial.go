package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// The times of Dial. An attempt is bounded so that a host that drops packets while it boots does not use up
// all of the time.
const (
	defaultTimeout = 5 * time.Minute
	attemptLimit   = 30 * time.Second
	firstPause     = time.Second
	longestPause   = 15 * time.Second
)

// Dial connects to the target and logs in. A host that does not answer or refuses the login may still be
// starting, so Dial retries until the connection's timeout, with growing pauses. After each failure it
// calls notify, unless nil, with a reason that contains no settings. Failures that waiting cannot change
// end it at once: unusable keys, and a host with the wrong key. Dial also ends when ctx does. The caller
// must close the client.
func Dial(ctx context.Context, c *Connection, notify func(reason string)) (*Client, error) {
	d, err := newDialer(c)
	if err != nil {
		return nil, err
	}
	timeout := cmp.Or(c.Timeout, defaultTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	deadline, _ := limited.Deadline()
	var last error
	for pause := firstPause; ; pause = min(pause*3/2, longestPause) {
		client, err := d.attempt(limited)
		if err == nil {
			return client, nil
		}
		// The reason of an earlier attempt says more than that this one was cut off. The clock is asked
		// because a connection may notice the deadline a moment before the context does.
		if last == nil || time.Now().Before(deadline) {
			last = err
		}
		if isFinal(err) {
			break
		}
		if notify != nil && limited.Err() == nil {
			notify(Public(err))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			continue
		case <-limited.Done():
			timer.Stop()
		}
		break
	}
	d.keyring.close()
	switch {
	case ctx.Err() != nil:
		return nil, &Error{public: "interrupted before a connection was made", err: ctx.Err(), final: true}
	case isFinal(last):
		return nil, last
	}
	return nil, &Error{public: "no connection was made in time", detail: fmt.Sprintf("(%s)", timeout), err: last}
}

// dialer is a connection with its keys parsed.
type dialer struct {
	*Connection
	target, bastion *login
	keyring         *keyring
}

// login is a host with its keys parsed.
type login struct {
	*Host
	own     []ssh.Signer
	trust   trust
	keyring *keyring
}

// newDialer parses the keys and connects to the agent, so that no attempt has to.
func newDialer(c *Connection) (*dialer, error) {
	if problems := c.Check(); len(problems) > 0 {
		return nil, finalError("%s: %s", problems[0].Argument, problems[0].Text)
	}
	k, err := c.openAgent()
	if err != nil {
		return nil, err
	}
	d := &dialer{Connection: c, keyring: k}
	if d.target, err = newLogin(&c.Target, k); err == nil && c.Bastion != nil {
		d.bastion, err = newLogin(c.Bastion, k)
	}
	if err != nil {
		k.close()
		return nil, err
	}
	return d, nil
}

// newLogin returns the login for a host that has been checked.
func newLogin(h *Host, k *keyring) (*login, error) {
	l := &login{Host: h, keyring: k}
	l.own, _ = h.signers()
	var err error
	l.trust, err = h.trusted()
	return l, err
}

// attempt makes one connection.
func (d *dialer) attempt(ctx context.Context) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	first := cmp.Or(d.bastion, d.target)
	conn, err := d.tcp(ctx, first.address())
	if err != nil {
		return nil, err
	}
	client, err := first.handshake(ctx, conn)
	if err != nil || d.bastion == nil {
		return d.ready(client), err
	}
	through, err := client.DialContext(ctx, "tcp", d.target.address())
	if err != nil {
		_ = client.Close()
		return nil, &Error{public: "the bastion host could not reach the target", detail: d.target.address(), err: err}
	}
	inner, err := d.target.handshake(ctx, through)
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	out := d.ready(inner)
	out.bastion = client
	return out, nil
}

// ready returns the client for a connection that has logged in; nil for none.
func (d *dialer) ready(c *ssh.Client) *Client {
	if c == nil {
		return nil
	}
	return newClient(c, d.Connection, d.keyring)
}

// tcp connects to the first host, through the proxy if there is one.
func (d *dialer) tcp(ctx context.Context, address string) (net.Conn, error) {
	if d.Proxy != nil {
		return d.Proxy.dial(ctx, address)
	}
	nd := net.Dialer{KeepAlive: keepAlive}
	conn, err := nd.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, &Error{public: "the host could not be reached", err: err}
	}
	return conn, nil
}

// handshaken is the outcome of a handshake.
type handshaken struct {
	client   *ssh.Client
	believed bool // the host showed an accepted key
	err      error
}

// handshake logs in over conn, and closes it on failure. When ctx ends it returns at once, even if an agent
// is still waiting for its user.
func (l *login) handshake(ctx context.Context, conn net.Conn) (*ssh.Client, error) {
	done := make(chan handshaken, 1)
	go func() {
		var h handshaken
		if err := bug.Call(func() { h = l.shake(conn) }); err != nil {
			h.err = err
		}
		done <- h
	}()
	var h handshaken
	select {
	case h = <-done:
	case <-ctx.Done():
		_ = conn.Close()
		go func() {
			if late := <-done; late.client != nil {
				_ = late.client.Close()
			}
		}()
	}
	if h.client != nil {
		return h.client, nil
	}
	_ = conn.Close()
	return nil, l.refused(ctx, h)
}

// shake makes the handshake, as long as it takes. It notes whether the host was verified, which decides the
// meaning of a failure.
func (l *login) shake(conn net.Conn) (h handshaken) {
	config := &ssh.ClientConfig{
		User: l.Login(), Auth: l.methods(), HostKeyAlgorithms: l.trust.algorithms,
		HostKeyCallback: func(address string, from net.Addr, key ssh.PublicKey) error {
			err := l.trust.check(address, from, key)
			h.believed = err == nil
			return err
		},
	}
	c, channels, requests, err := ssh.NewClientConn(conn, l.address(), config)
	if h.err = err; err == nil {
		h.client = ssh.NewClient(c, channels, requests)
	}
	return h
}

// refused returns an error that says at which stage the handshake failed.
func (l *login) refused(ctx context.Context, h handshaken) error {
	err := h.err
	var own *Error
	var kind *ssh.AlgorithmNegotiationError
	where := "(" + l.Login() + " at " + l.address() + ")"
	switch {
	case ctx.Err() != nil:
		return &Error{public: "the host did not finish the login", detail: where, err: ctx.Err()}
	case errors.As(err, &own):
		return &Error{public: "the host could not be verified", detail: where, err: own, final: own.final}
	case !h.believed && !l.trust.anyone && errors.As(err, &kind):
		return &Error{public: "the host could not be verified; it may not have a key of the kind that the connection requires", detail: where, err: err, final: true}
	case !h.believed:
		return &Error{public: "the host did not speak SSH as expected", detail: where, err: err}
	}
	return &Error{public: "the host did not accept the login, which was tried " + methods(l.words()), detail: where, err: err}
}

// words returns the ways to log in, in words.
func (l *login) words() []string {
	var words []string
	if len(l.own) > 1 {
		words = append(words, "the certificate")
	}
	if len(l.own) > 0 {
		words = append(words, "the private key")
	}
	if l.keyring != nil {
		words = append(words, "the keys of the agent")
	}
	if l.Password.Given() {
		words = append(words, "the password")
	}
	return words
}

// methods returns the login methods in the order in which they are tried: keys of the connection, keys of
// the agent, the password. A server allows only a few attempts and an agent may have many keys, so the
// password comes before the keys of an agent that was not requested.
func (l *login) methods() []ssh.AuthMethod {
	var keys, password []ssh.AuthMethod
	if len(l.own) > 0 || l.keyring != nil {
		// A failed method is not tried again, so one method must offer all keys.
		keys = append(keys, ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
			if l.keyring == nil {
				return l.own, nil
			}
			more, err := l.keyring.signers()
			if len(l.own) > 0 {
				err = nil
			}
			return slices.Concat(l.own, more), err
		}))
	}
	if l.Password.Given() {
		password = append(password, ssh.Password(l.Password.reveal()), ssh.KeyboardInteractive(l.answer))
	}
	if len(l.own) == 0 && l.keyring != nil && !l.keyring.wanted {
		return append(password, keys...)
	}
	return append(keys, password...)
}

// answer gives the password as the answer to each question with hidden input.
func (l *login) answer(_, _ string, questions []string, shown []bool) ([]string, error) {
	answers := make([]string, len(questions))
	for i := range questions {
		if !shown[i] {
			answers[i] = l.Password.reveal()
		}
	}
	return answers, nil
}
