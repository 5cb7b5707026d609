//go:build unix

package provision

import (
	"os"
	"os/exec"
	"syscall"
)

// grouped prepares a command to be ended together with what it starts. It gets a process group of its own,
// unless there is a terminal: programs that ask for a password there must stay in the terminal's group, which
// the interrupt key reaches as a whole.
func grouped(cmd *exec.Cmd) {
	if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		_ = f.Close() // nothing was written
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	cmd.Cancel = func() error { return endGroup(cmd) }
}

// interruptGroup asks a command, and what shares its group, to end.
func interruptGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // none left is what was wanted
		return
	}
	_ = cmd.Process.Signal(os.Interrupt)
}

// endGroup kills a command and what it has started, as far as that is known.
func endGroup(cmd *exec.Cmd) error {
	for _, pid := range descendants(cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // one that has ended is what was wanted
	}
	if cmd.SysProcAttr != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return cmd.Process.Kill()
}
