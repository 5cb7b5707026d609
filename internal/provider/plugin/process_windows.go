package plugin

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// apart returns the attributes that keep Ctrl-C in the console from ending a plugin while the engine is
// waiting for it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// kill ends a plugin. Its children end when the function from enclose is called.
func kill(p *os.Process) error { return p.Kill() }

// enclose puts a plugin that was just started into a job object. All processes in it end when its only handle
// is closed, by the returned function or by the system, when the engine ends in whatever way. Otherwise they
// would continue to run with their secrets and connections. If the system refuses, they do.
func enclose(p *os.Process) (end func()) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return func() {}
	}
	end = func() { _ = windows.CloseHandle(job) }
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		_ = p.WithHandle(func(handle uintptr) { _ = windows.AssignProcessToJobObject(job, windows.Handle(handle)) })
	}
	return end
}
