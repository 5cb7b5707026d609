//go:build !unix

package provision

import (
	"os"
	"os/exec"
)

// prepareGroup does nothing: on this system, only the command itself can be ended.
func prepareGroup(*exec.Cmd) {}

// interruptGroup interrupts a command, or kills it where that is impossible.
func interruptGroup(cmd *exec.Cmd) {
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill() // the system has no interrupts
	}
}
