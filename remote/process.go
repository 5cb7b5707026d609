package remote

import (
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
)

// process is something that runs on the host. The protocol's own signals do not reach every process: sshd
// refuses to pass them on to those of root. So a process that was started with announced says its number, by
// which another session can signal it.
type process struct {
	client  *Client
	session *ssh.Session
	command string
	mark    string // of the line that tells the number; "" if there is none

	number *number
}

type number struct {
	mu   sync.Mutex
	text string
}

// announced returns a process for a program, given as a word of the shell, that begins by telling its number
// on standard error. sshd makes it the leader of a process group, and no shell stands between: whatever the
// user's login shell is, it knows exec.
func announced(word string) (process, error) {
	mark, err := fill("process-%RAND%:")
	return process{command: `exec /bin/sh -c 'echo ` + mark + `$$ >&2; exec "$0"' ` + word, mark: mark, number: &number{}}, err
}

// filter returns a sink for lines that keeps the one with the number to itself.
func (p *process) filter(line func(string)) func(string) {
	if p.mark == "" {
		return line
	}
	return func(text string) {
		n, ok := strings.CutPrefix(text, p.mark)
		if !ok || strings.Trim(n, "0123456789") != "" {
			line(text)
			return
		}
		p.number.mu.Lock()
		defer p.number.mu.Unlock()
		p.number.text = n
	}
}

// signal sends a signal to the process and its children.
func (p *process) signal(sig ssh.Signal) {
	if p.number != nil {
		p.number.mu.Lock()
		n := p.number.text
		p.number.mu.Unlock()
		if n != "" && p.client.signalGroup(n, sig) == nil {
			return
		}
	}
	_ = p.session.Signal(sig)
}

// signalGroup sends a signal to a process group.
func (c *Client) signalGroup(group string, sig ssh.Signal) error {
	s, err := c.ssh.NewSession()
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return s.Run("exec /bin/sh -c 'kill -s " + string(sig) + " -- -" + group + "'")
}

func (p *process) kill() {
	p.signal(ssh.SIGKILL)
	_ = p.session.Close()
}
