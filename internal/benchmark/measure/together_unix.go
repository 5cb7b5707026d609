//go:build unix

package measure

import (
	"os/exec"
	"syscall"
)

// together has the command and what it starts killed as one when its time is over.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
