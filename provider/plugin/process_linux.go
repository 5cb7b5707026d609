package plugin

import "syscall"

// endWithParent has the system kill a plugin when the engine is killed, which would otherwise go on with its
// secrets and connections.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
