//go:build unix

package measure

import (
	"os/exec"
	"syscall"
)

// together has the command and its children killed as one when its time is over.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
