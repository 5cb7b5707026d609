package plugin

import (
	"os"
	"syscall"
)

// apart returns what keeps Ctrl-C in our console from a plugin, which must not end while the engine is still
// waiting for it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func kill(p *os.Process) error { return p.Kill() }
