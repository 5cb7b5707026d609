//go:build unix

package postgres

import (
	"os"
	"os/exec"
	"syscall"
)

// unprivileged is the number of the user without rights that runs the server for root.
const unprivileged = 65534

// hand gives a directory to the user that runs the server.
func hand(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return os.Chown(dir, unprivileged, unprivileged)
}

// asOther lets a command of root run as that user.
func asOther(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	}
}
