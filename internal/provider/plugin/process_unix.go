//go:build unix

package plugin

import (
	"os"
	"syscall"
)

// apart returns the attributes that give a plugin a session of its own. Signals to the engine's process
// group, which Ctrl-C, a closed terminal, timeout(1) and CI runners send, must not end operations that the
// engine is still waiting for. Without a terminal, a plugin that reads from it gets an error; in a separate
// group of the same session it would be stopped instead.
func apart() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	endWithParent(attr)
	return attr
}

// enclose does nothing: the session of its own keeps a plugin and its children together.
func enclose(*os.Process) (end func()) { return func() {} }

// kill ends a plugin with its process group.
func kill(p *os.Process) error {
	if err := p.Signal(syscall.Signal(0)); err != nil {
		return err // the process has been waited for: its group may be reused by now
	}
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // Kill below ends it in any case
	return p.Kill()
}
