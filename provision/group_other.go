//go:build !unix

package provision

import (
	"os"
	"os/exec"
)

// grouped prepares a command to be ended: here, it alone is.
func grouped(*exec.Cmd) {}

func interruptGroup(cmd *exec.Cmd) {
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill() // systems without interrupts
	}
}
