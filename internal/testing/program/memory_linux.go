package program

import (
	"os"
	"syscall"
)

const (
	memory     = "/dev/shm"
	memoryRoom = 2 << 30 // bytes that must be free
	noExec     = 8       // of statfs(2): programs cannot be run there
)

// inMemory returns the directory of the system's disk in memory, or "" if the user has named another place
// for temporary files, or it has too little room.
func inMemory() string {
	var s syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &s) != nil || s.Flags&noExec != 0 || s.Bavail*uint64(s.Bsize) < memoryRoom || syscall.Access(memory, 2) != nil {
		return ""
	}
	return memory
}
