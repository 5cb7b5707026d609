package plugin

import "syscall"

// endWithParent makes the kernel kill a plugin when the engine is killed. Otherwise it would continue to
// run with its secrets and connections.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
