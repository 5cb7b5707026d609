//go:build unix && !linux

package plugin

import "syscall"

// endWithParent does nothing: the system has no such setting. If the engine is killed, plugins continue to
// run.
func endWithParent(*syscall.SysProcAttr) {}
