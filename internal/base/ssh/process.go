package ssh

import (
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// process is a process on the host. The protocol's own signals do not reach every process: sshd refuses to
// pass them on to processes of root. A process started by announced therefore reports its process number,
// which another session uses to signal it.
type process struct {
	client  *Client
	session *ssh.Session
	command string
	mark    string // of the line with the number; "" if there is none

	number *number
}

// number is a process number that arrives some time after the process has started.
type number struct {
	once sync.Once
	sent chan struct{} // closed when text is set
	text string
}

// numberWait is how long a signal waits for the number: a process that has just started may not have
// printed it yet.
const numberWait = time.Second

// get returns the number, or "" if it does not arrive in time.
func (n *number) get() string {
	select {
	case <-n.sent:
		return n.text
	case <-time.After(numberWait):
		return ""
	}
}

// announced returns a process for a program, given as a word of the shell, that first prints its number to
// standard error. sshd makes it the leader of a process group, and exec, which every login shell has,
// avoids a shell in between.
//
//	exec /bin/sh -c 'echo process-4711:$$ >&2; exec "$0"' '/tmp/terraform_123.sh'
func announced(word string) (process, error) {
	mark, err := fill("process-%RAND%:")
	return process{command: `exec /bin/sh -c 'echo ` + mark + `$$ >&2; exec "$0"' ` + word, mark: mark, number: &number{sent: make(chan struct{})}}, err
}

// filter returns a sink for lines that extracts the one with the number.
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
		p.number.once.Do(func() {
			p.number.text = n
			close(p.number.sent)
		})
	}
}

// signal sends a signal to the process and its children.
func (p *process) signal(sig ssh.Signal) {
	if p.number != nil {
		if n := p.number.get(); n != "" && p.client.signalGroup(n, sig) == nil {
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

// kill kills the process and ends its session.
func (p *process) kill() {
	p.signal(ssh.SIGKILL)
	_ = p.session.Close()
}
