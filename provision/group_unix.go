//go:build unix

package provision

import (
	"os"
	"os/exec"
	"syscall"
)

// prepareGroup prepares a command so that it can be ended together with what it starts. It gets its own
// process group, unless there is a terminal: programs that ask for a password must stay in the terminal's
// group, which the interrupt key reaches as a whole.
func prepareGroup(cmd *exec.Cmd) {
	if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		_ = f.Close() // nothing was written
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	cmd.Cancel = func() error { return endGroup(cmd) }
}

// interruptGroup interrupts a command and its process group.
func interruptGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // there may be none left
		return
	}
	_ = cmd.Process.Signal(os.Interrupt)
}

// endGroup kills a command and its known descendants.
func endGroup(cmd *exec.Cmd) error {
	for _, pid := range descendants(cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	if cmd.SysProcAttr != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return cmd.Process.Kill()
}
