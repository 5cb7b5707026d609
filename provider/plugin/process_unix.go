//go:build unix

package plugin

import (
	"os"
	"syscall"
)

// apart returns what gives a plugin a session of its own. Signals to our process group, which Ctrl-C, a
// closed terminal, timeout(1) and CI runners send, must not end what the engine is still waiting for. Without
// a terminal, a plugin that asks there gets an error; in another group of ours it would be stopped instead.
func apart() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	endWithParent(attr)
	return attr
}

// kill ends a plugin with its process group, which is its own.
func kill(p *os.Process) error {
	if err := p.Signal(syscall.Signal(0)); err != nil {
		return err // it has been waited for: the group may be another's by now
	}
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it ends below in any case
	return p.Kill()
}
