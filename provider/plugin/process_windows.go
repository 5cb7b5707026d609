package plugin

import (
	"os"
	"syscall"
)

// apart returns the attributes that keep Ctrl-C in the console from ending a plugin while the engine is
// waiting for it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// kill ends a plugin. Its children, if it has any, are left alone.
func kill(p *os.Process) error { return p.Kill() }
