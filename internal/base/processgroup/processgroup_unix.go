//go:build unix

package processgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Prepare prepares a command, before it is started, so that the end of its context ends the processes that it
// has started too. It gets its own process group, unless there is a terminal: programs that ask for a
// password must stay in the terminal's group, which the interrupt key reaches as a whole.
func Prepare(cmd *exec.Cmd) {
	if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		_ = f.Close() // nothing was written
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	cmd.Cancel = func() error { return kill(cmd) }
}

// Interrupt interrupts a command and its process group.
func Interrupt(cmd *exec.Cmd) {
	if cmd.SysProcAttr != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // there may be none left
		return
	}
	_ = cmd.Process.Signal(os.Interrupt)
}

// kill kills a command and its known descendants.
func kill(cmd *exec.Cmd) error {
	for _, pid := range descendants(cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	if cmd.SysProcAttr != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return cmd.Process.Kill()
}
