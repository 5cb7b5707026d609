//go:build unix && !linux

package plugin

import "syscall"

// endWithParent does nothing: the system has no such setting. A plugin whose engine was killed goes on until
// it is ended.
func endWithParent(*syscall.SysProcAttr) {}
