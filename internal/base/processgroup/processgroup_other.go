//go:build !unix

package processgroup

import (
	"os"
	"os/exec"
)

// Prepare does nothing: on this system, only the command itself can be ended.
func Prepare(*exec.Cmd) {}

// Interrupt interrupts a command, or kills it where that is impossible.
func Interrupt(cmd *exec.Cmd) {
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill() // the system has no interrupts
	}
}
