//go:build !linux || !(amd64 || arm64)

package sysfault

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// Run returns an error: this system has nothing like it.
func Run(*exec.Cmd, func(Call) syscall.Errno) error {
	return fmt.Errorf("system calls on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

// RunReads returns an error, as Run does.
func RunReads(cmd *exec.Cmd, decide func(Call) syscall.Errno) error { return Run(cmd, decide) }

// Main returns.
func Main() {}
