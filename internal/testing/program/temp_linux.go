package program

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

const (
	memory     = "/dev/shm"
	memoryRoom = 2 << 30 // bytes that must be free
	noExec     = 8       // of statfs(2): programs cannot be run there
	mayWrite   = 2       // of access(2)
	passable   = 0o711
)

// temporary makes a directory on the system's disk in memory, or among the temporary files if the user has
// named a place for these, nothing can be run in memory, or there is too little room.
func temporary() (dir string, remove func() error, err error) {
	var s syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &s) != nil || s.Flags&noExec != 0 || s.Bavail*uint64(s.Bsize) < memoryRoom || syscall.Access(memory, mayWrite) != nil {
		return onDisk()
	}
	if dir, err = os.MkdirTemp(memory, pattern); err != nil {
		return "", nil, err
	}
	disk, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	if remove, err = removeAtEnd(dir, disk); err != nil {
		return "", nil, errors.Join(err, os.Remove(dir), os.Remove(disk))
	}
	if syscall.Statfs(disk, &s) == nil && s.Flags&noExec == 0 {
		executables = disk
	}
	// Servers that run as other users may pass, but not list the content.
	if err := errors.Join(os.Chmod(dir, passable), os.Chmod(disk, passable), os.Setenv("TMPDIR", dir)); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// removeAtEnd has a process of its own remove directories once this one has ended, in whatever way: leftovers
// would take memory. The function that it returns has them removed, and waits for that.
func removeAtEnd(dirs ...string) (now func() error, err error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", `cat; exec rm -rf -- "$@"`, "sh"}, dirs...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the tests
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(in.Close(), cmd.Wait()) }, cmd.Start()
}
